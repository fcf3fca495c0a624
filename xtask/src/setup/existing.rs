//! What the machine has already: the same search for headers that cuda-sys makes, and a libclang that loads.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

use crate::find::{self, Headers};
use crate::libclang;

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
    let is_named = libclang::named().map_err(|error| anyhow!("{error}"))?.is_some();
    // SAFETY: this program starts its threads later, when it knows what to provision.
    match unsafe { libclang::load(Path::new("")) } {
        Ok(library) => Ok(Some(library)),
        Err(_) if !is_named => Ok(None),
        Err(error) => Err(anyhow!("{error}")),
    }
}
