//! libclang: loaded here and not by bindgen, which panics when there is none.

use std::fmt;
use std::path::{Path, PathBuf};

/// clang-sys's variable: a libclang, or the folder of one. Set but wrong is an error.
pub const LIBCLANG_PATH: &str = "LIBCLANG_PATH";

/// No libclang; its text says what was tried and what to do.
#[derive(Debug)]
pub struct NoLibclang {
    why: String,
    /// A variable says where it should be.
    is_named: bool,
}

/// Loads a libclang for this thread: the one that `LIBCLANG_PATH` names, else an installed one, else the one that
/// `cargo xtask setup` put into the folder `provisioned`.
///
/// # Safety
///
/// No other thread may read or write the environment meanwhile: `LIBCLANG_PATH` is how clang-sys is told.
pub unsafe fn load(provisioned: &Path) -> Result<PathBuf, NoLibclang> {
    let named = named()?;
    let first = match &named {
        // SAFETY: the caller keeps other threads away from the environment.
        Some(path) => unsafe { load_from(Some(path)) },
        // SAFETY: as above.
        None => unsafe { load_from(None) },
    };
    match first {
        // SAFETY: as above.
        Err(_) if named.is_none() && provisioned.is_dir() => unsafe { load_from(Some(provisioned)) },
        first => first,
    }
    .map_err(|why| NoLibclang { why, is_named: named.is_some() })
}

/// What `LIBCLANG_PATH` names, if anything. clang-sys would panic on some paths and search on for others.
pub fn named() -> Result<Option<PathBuf>, NoLibclang> {
    match std::env::var_os(LIBCLANG_PATH).filter(|value| !value.is_empty()) {
        None => Ok(None),
        Some(path) => std::fs::canonicalize(&path).map(Some).map_err(|error| NoLibclang {
            why: format!("{LIBCLANG_PATH} is {}: {error}", path.display()),
            is_named: true,
        }),
    }
}

/// # Safety
///
/// As [`load`].
unsafe fn load_from(path: Option<&Path>) -> Result<PathBuf, String> {
    match path {
        // SAFETY: the caller keeps other threads away from the environment.
        Some(path) => unsafe { std::env::set_var(LIBCLANG_PATH, path) },
        // SAFETY: as above.
        None => unsafe { std::env::remove_var(LIBCLANG_PATH) },
    }
    clang_sys::load()?;
    clang_sys::get_library().map(|library| library.path().to_owned()).ok_or_else(String::new)
}

impl fmt::Display for NoLibclang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "libclang, which reads cuda.h, could not be loaded: {}", self.why)?;
        writeln!(f, "Any one of these mends it:")?;
        if self.is_named {
            writeln!(f, "  - correct {LIBCLANG_PATH};")?;
            return write!(
                f,
                "  - unset it, and have an installed one searched, or one that `cargo xtask setup` provisioned."
            );
        }
        writeln!(
            f,
            "  - install it (Debian and Ubuntu: `apt-get install libclang-dev`, Fedora: `dnf install clang-devel`);"
        )?;
        writeln!(f, "  - `pip install libclang`, and set {LIBCLANG_PATH} to its folder `clang/native`;")?;
        write!(f, "  - in a clone of this workspace, run `cargo xtask setup`.")
    }
}
