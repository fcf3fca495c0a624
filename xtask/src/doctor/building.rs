//! What builds need: headers, libclang, a C compiler; and the programs that fetch what is not there.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::page::Page;
use super::system::first_line;
use crate::find::{self, Candidate, Headers, NotFound, PROVISIONED, Rejected, Surroundings};
use crate::libclang;

/// What a build would take.
#[derive(Debug)]
pub(super) struct Building {
    pub(super) headers: Option<Headers>,
    pub(super) libclang: Option<PathBuf>,
    pub(super) debian: bool,
    /// A variable that is set is wrong: nothing is searched or provisioned before it is corrected.
    pub(super) is_misled: bool,
}

pub(super) fn tell(page: &mut Page) -> Building {
    let provisioned = crate::workspace().join(".cuda");
    let headers = headers(page, &provisioned);
    page.gap();
    // Loading one changes the variable.
    let is_named = std::env::var_os(libclang::LIBCLANG_PATH).is_some_and(|path| !path.is_empty());
    let libclang = libclang(page, &provisioned);
    let is_misled = headers.as_ref().is_err_and(|error| error.variable.is_some()) || (is_named && libclang.is_none());
    compiler(page);
    let pip = program(page, "pip", Command::new(python()).args(["-m", "pip", "--version"]));
    let debian = ["apt-get", "dpkg-deb"].iter().all(|name| first_line(Command::new(name).arg("--version")).is_some());
    for (name, argument) in [("rustfmt", "--version"), ("cargo-clippy", "--version"), ("strip", "--version")] {
        program(page, name, Command::new(name).arg(argument));
    }
    if headers.is_err() && !pip {
        page.missing("pip: `cargo xtask setup` fetches headers with it (Debian and Ubuntu: python3-pip)");
    }
    Building { headers: headers.ok(), libclang, debian, is_misled }
}

fn headers(page: &mut Page, provisioned: &Path) -> Result<Headers, NotFound> {
    let target = format!("{}-unknown-{}", std::env::consts::ARCH, std::env::consts::OS);
    let at = Surroundings { var: &|name| std::env::var_os(name), target: &target, root: Path::new("/"), provisioned };
    let chosen = find::find(&at);
    match &chosen {
        Ok(Headers { include, version, source }) => {
            page.row(
                "headers",
                format!("CUDA {version}: {} (by {source}, the first that is usable)", include.display()),
            );
        }
        Err(error) => {
            let why = if error.variable.is_some() { "none, since a variable that is set decides" } else { "none" };
            page.row("headers", why);
            // Where it looked stands above.
            let text = error.to_string();
            let remedies = text.find("Any one").filter(|_| error.variable.is_none());
            page.missing(format!("headers. {}", &text[remedies.unwrap_or(0)..]));
        }
    }
    others(page, &find::survey(&at), chosen.as_ref().ok().map(|headers| &*headers.include));
    chosen
}

/// Every other folder that discovery knows, in its order.
fn others(page: &mut Page, survey: &[Candidate], chosen: Option<&Path>) {
    let (mut provisioned, mut without) = (Vec::new(), Vec::new());
    for Candidate { source, include, usable } in survey {
        let place = format!("{} ({source})", include.display());
        match usable {
            _ if chosen == Some(include) => {}
            Ok(version) if *source == PROVISIONED => provisioned.push(version.to_string()),
            Ok(version) => page.row("  also", format!("CUDA {version}: {place}")),
            Err(Rejected::NoFile) => without.push(place),
            Err(why) => page.row("  not", format!("{place}: {why}")),
        }
    }
    if !provisioned.is_empty() {
        page.row("  also", format!("CUDA {} ({PROVISIONED})", provisioned.join(" ")));
    }
    page.row("  no cuda.h", without.join("\n"));
}

fn libclang(page: &mut Page, provisioned: &Path) -> Option<PathBuf> {
    // SAFETY: this program has one thread as yet.
    match unsafe { libclang::load(&provisioned.join("libclang")) } {
        Ok(library) => {
            page.row("libclang", format!("{} ({})", library.display(), clang_version()));
            Some(library)
        }
        Err(error) => {
            page.row("libclang", "none");
            page.missing(format!("libclang. {error}"));
            None
        }
    }
}

/// What the libclang that is loaded says of itself.
fn clang_version() -> String {
    // SAFETY: a libclang is loaded on this thread.
    let version = unsafe { clang_sys::clang_getClangVersion() };
    // SAFETY: the string is libclang's, and is disposed of below.
    let text = unsafe { clang_sys::clang_getCString(version) };
    let text = if text.is_null() {
        String::new()
    } else {
        // SAFETY: a C string.
        unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
    };
    // SAFETY: used no more.
    unsafe { clang_sys::clang_disposeString(version) };
    text
}

fn compiler(page: &mut Page) {
    let name = std::env::var("CC").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "cc".to_owned());
    if !program(page, "C compiler", Command::new(&name).arg("--version")) {
        page.missing(format!(
            "C compiler: `{name}` does not run; a libclang without builtin headers needs one, and so does the layout \
             oracle (Debian and Ubuntu: gcc)"
        ));
    }
}

fn program(page: &mut Page, title: &str, command: &mut Command) -> bool {
    let line = first_line(command);
    page.row(title, line.as_deref().unwrap_or("not found"));
    line.is_some()
}

fn python() -> &'static str {
    if cfg!(windows) { "python" } else { "python3" }
}
