//! Headers → bindings → how the driver is reached. One file in `build/` for each.

use std::path::{Path, PathBuf};
use std::{env, fs};

#[path = "build/bindings.rs"]
mod bindings;
#[path = "build/clang.rs"]
mod clang;
#[path = "build/comments.rs"]
mod comments;
#[path = "build/entry_points.rs"]
mod entry_points;
#[path = "build/enums.rs"]
mod enums;
#[path = "build/find.rs"]
mod find;
#[path = "build/link.rs"]
mod link;
#[path = "build/macros.rs"]
mod macros;

/// The stated mode: `prebuilt` takes the checked-in bindings.
const BINDINGS: &str = "CUDA_SYS_BINDINGS";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    for name in find::VARIABLES.into_iter().chain([BINDINGS, clang::LIBCLANG_PATH, link::LIBRARY_DIR, "DOCS_RS"]) {
        println!("cargo::rerun-if-env-changed={name}");
    }
    if let Err(error) = run() {
        error.lines().for_each(|line| println!("cargo::error={line}"));
    }
}

fn run() -> Result<(), String> {
    let out = PathBuf::from(variable("OUT_DIR")).join("bindings.rs");
    let manifest = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let target = variable("TARGET");
    let provisioned = manifest.join("../.cuda");
    let at = find::Surroundings {
        var: &|name| env::var_os(name),
        target: &target,
        root: Path::new("/"),
        provisioned: &provisioned,
    };

    let headers = if prebuilt()? {
        let bindings = manifest.join("prebuilt/bindings.rs");
        println!("cargo::rerun-if-changed={}", bindings.display());
        fs::copy(&bindings, &out).map_err(|error| format!("{}: {error}", bindings.display()))?;
        println!("cargo::metadata=SOURCE=prebuilt");
        None
    } else {
        let headers = find::find(&at).map_err(|error| {
            format!("{error}\nWithout headers, {BINDINGS}=prebuilt builds with the bindings that this crate carries.")
        })?;
        fs::write(&out, generate(&headers, &target, &provisioned)?).map_err(|error| error.to_string())?;
        println!("cargo::metadata=SOURCE={}", headers.source);
        println!("cargo::metadata=INCLUDE={}", headers.include.display());
        Some(headers)
    };
    let version = defined_version(&out).ok_or("the bindings have no CUDA_VERSION")?;
    println!("cargo::metadata=VERSION={version}");
    if env::var_os("CARGO_FEATURE_LINK").is_some() {
        link::emit(headers.as_ref().map(|headers| headers.include.as_path()))?;
    }
    Ok(())
}

fn prebuilt() -> Result<bool, String> {
    match env::var(BINDINGS).as_deref() {
        Ok("prebuilt") => Ok(true),
        Ok("") | Err(_) => Ok(env::var_os("DOCS_RS").is_some()),
        Ok(other) => Err(format!("{BINDINGS}={other}: the only value is `prebuilt`; unset it to read cuda.h")),
    }
}

fn generate(headers: &find::Headers, target: &str, provisioned: &Path) -> Result<String, String> {
    let header = headers.include.join("cuda.h");
    println!("cargo::rerun-if-changed={}", header.display());
    // SAFETY: a build script has one thread.
    unsafe { clang::load(&provisioned.join("libclang")) }.map_err(|error| error.to_string())?;
    bindings::generate(&headers.include, &clang::builtin_headers(target), true)
        .map_err(|error| format!("{} (from {}): {error}", header.display(), headers.source))
}

/// `CUDA_VERSION` as the bindings have it, so that all that is told about the header comes from one place.
fn defined_version(bindings: &Path) -> Option<u32> {
    let text = fs::read_to_string(bindings).ok()?;
    let value = text.split("const CUDA_VERSION").nth(1)?.split(['=', ';']).nth(1)?;
    value.trim().trim_end_matches("u32").parse().ok()
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
