//! What the machine has already: the same search for headers that cuda-sys makes, and a libclang that loads.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};

use crate::find::{self, Headers};

/// Headers for building cuda-sys; `None` if there are none and nothing says where they should be.
///
/// # Errors
///
/// A variable names a place, and there are none.
pub(super) fn headers(provisioned: &Path) -> Result<Option<Headers>> {
    let target = format!("{}-unknown-{}", std::env::consts::ARCH, std::env::consts::OS);
    let at =
        find::Surroundings { var: &|name| std::env::var_os(name), target: &target, root: Path::new("/"), provisioned };
    match find::find(&at) {
        Ok(headers) => Ok(Some(headers)),
        Err(error) if error.variable.is_some() => Err(anyhow!("{error}")),
        Err(_) => Ok(None),
    }
}

/// The libclang that programs here would load; `None` if there is none.
///
/// # Errors
///
/// `LIBCLANG_PATH` is set, and no libclang loads from there.
pub(super) fn libclang() -> Result<Option<PathBuf>> {
    match (clang_sys::load(), std::env::var_os("LIBCLANG_PATH")) {
        (Ok(()), _) => Ok(clang_sys::get_library().map(|library| library.path().to_owned())),
        (Err(_), None) => Ok(None),
        (Err(why), Some(path)) => {
            bail!(
                "LIBCLANG_PATH is {}, but no libclang loads from there: {why}. Correct it, or unset it to have one \
                 searched or provisioned.",
                path.display()
            )
        }
    }
}
