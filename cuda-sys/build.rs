//! Headers → bindings → how the driver is reached. One file in `build/` for each.

use std::path::{Path, PathBuf};
use std::{env, fs};

#[cfg(feature = "generate")]
#[path = "build/bindings.rs"]
mod bindings;
#[cfg(feature = "generate")]
#[path = "build/clang.rs"]
mod clang;
#[cfg(feature = "generate")]
#[path = "build/comments.rs"]
mod comments;
#[cfg(feature = "generate")]
#[path = "build/entry_points.rs"]
mod entry_points;
#[cfg(feature = "generate")]
#[path = "build/enums.rs"]
mod enums;
#[cfg(feature = "generate")]
#[path = "build/find.rs"]
mod find;
#[cfg(feature = "generate")]
#[path = "build/libclang.rs"]
mod libclang;
#[path = "build/link.rs"]
mod link;
#[cfg(feature = "generate")]
#[path = "build/macros.rs"]
mod macros;

/// The stated mode: `prebuilt` takes the checked-in bindings, and so does a build without the feature `generate`.
const BINDINGS: &str = "CUDA_SYS_BINDINGS";

/// Where the bindings came from.
struct Source {
    name: &'static str,
    include: Option<PathBuf>,
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    #[cfg(feature = "generate")]
    for name in find::VARIABLES.into_iter().chain([libclang::LIBCLANG_PATH]) {
        println!("cargo::rerun-if-env-changed={name}");
    }
    for name in [BINDINGS, link::LIBRARY_DIR, "DOCS_RS"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    if let Err(error) = run() {
        error.lines().for_each(|line| println!("cargo::error={line}"));
    }
}

fn run() -> Result<(), String> {
    let out = PathBuf::from(variable("OUT_DIR")?).join("bindings.rs");
    let manifest = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let source = if prebuilt()? {
        copy_prebuilt(&manifest.join("prebuilt/bindings.rs"), &out)?
    } else {
        generate(&out, &manifest.parent().unwrap_or(&manifest).join(".cuda"))?
    };
    let version = defined_version(&out).ok_or("the bindings have no CUDA_VERSION")?;
    println!("cargo::metadata=VERSION={version}");
    println!("cargo::metadata=BINDINGS={}", out.display());
    println!("cargo::metadata=SOURCE={}", source.name);
    if let Some(include) = &source.include {
        println!("cargo::metadata=INCLUDE={}", include.display());
    }
    if env::var_os("CARGO_FEATURE_LINK").is_some() {
        link::emit(source.include.as_deref())?;
    }
    Ok(())
}

fn prebuilt() -> Result<bool, String> {
    match env::var_os(BINDINGS).filter(|value| !value.is_empty()) {
        Some(value) if value == "prebuilt" => Ok(true),
        Some(value) => {
            Err(format!("{BINDINGS}={}: the only value is `prebuilt`; unset it to read cuda.h", value.display()))
        }
        None => Ok(env::var_os("DOCS_RS").is_some() || !cfg!(feature = "generate")),
    }
}

fn copy_prebuilt(bindings: &Path, out: &Path) -> Result<Source, String> {
    println!("cargo::rerun-if-changed={}", bindings.display());
    fs::copy(bindings, out).map_err(|error| format!("{}: {error}", bindings.display()))?;
    Ok(Source { name: "prebuilt", include: None })
}

#[cfg(not(feature = "generate"))]
fn generate(_: &Path, _: &Path) -> Result<Source, String> {
    unreachable!("without the feature, bindings are prebuilt")
}

#[cfg(feature = "generate")]
fn generate(out: &Path, provisioned: &Path) -> Result<Source, String> {
    // A hint for whoever has neither headers nor libclang; a wrong variable is to be corrected.
    let without = |error| {
        format!("{error}\nWithout headers, {BINDINGS}=prebuilt builds with the bindings that this crate carries.")
    };
    let find::Headers { include, source, .. } = read_headers(out, provisioned).map_err(without)?;
    Ok(Source { name: source, include: Some(include) })
}

#[cfg(feature = "generate")]
fn read_headers(out: &Path, provisioned: &Path) -> Result<find::Headers, String> {
    let target = variable("TARGET")?;
    let at = find::Surroundings { var: &|name| env::var_os(name), target: &target, root: Path::new("/"), provisioned };
    let headers = find::find(&at).map_err(|error| error.to_string())?;
    let header = headers.include.join("cuda.h");
    // Lines to cargo, and file names to clang, are text.
    let printable = header.to_str().filter(|path| !path.contains('\n'));
    let header =
        printable.ok_or_else(|| format!("{}: the path is not UTF-8, or has a line break in it", header.display()))?;
    println!("cargo::rerun-if-changed={header}");
    if headers.source == find::PROVISIONED {
        // The newest one counts: one more may be it.
        println!("cargo::rerun-if-changed={}", provisioned.join("headers").display());
    }
    // SAFETY: a build script has one thread.
    unsafe { libclang::load(&provisioned.join("libclang")) }.map_err(|error| error.to_string())?;
    let bindings = bindings::generate(&headers.include, &clang::builtin_headers(&target), true)
        .map_err(|error| format!("{header} (from {}): {error}", headers.source))?;
    fs::write(out, bindings).map_err(|error| format!("{}: {error}", out.display()))?;
    Ok(headers)
}

/// `CUDA_VERSION` as the bindings have it, so that all that is told about the header comes from one place.
fn defined_version(bindings: &Path) -> Option<u32> {
    let text = fs::read_to_string(bindings).ok()?;
    let value = text.split("const CUDA_VERSION").nth(1)?.split(['=', ';']).nth(1)?;
    value.trim().trim_end_matches("u32").parse().ok()
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|error| format!("{name}, which cargo sets: {error}"))
}
