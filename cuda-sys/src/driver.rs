//! The driver's library: loaded at first use, or linked with the feature `link`.
//!
//! Nothing here has to be called: the driver's functions load it themselves, and answer
//! [`CUDA_ERROR_SHARED_OBJECT_INIT_FAILED`](crate::CUresult) when there is none and
//! [`CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND`](crate::CUresult) when the driver is too old to have that one function.
//! This module tells *why* in words, and lets a program choose the library.
//!
//! With the feature `link`, the library is the one that the program was linked with: [`OVERRIDE`] has no effect, a
//! program without a driver does not start, and [`load`] only tells whether what was found is a driver.
//!
//! The library is never unloaded. Every function here may be called from any thread.

mod error;
mod open;
#[cfg_attr(unix, path = "driver/unix.rs")]
#[cfg_attr(windows, path = "driver/windows.rs")]
mod os;
mod symbol;

use std::ffi::{CStr, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Mutex, OnceLock, PoisonError};

pub use crate::entry_points::Function;
use crate::{CUresult, bindings};
pub use error::{Attempt, LoadError, Refusal};
pub use open::OVERRIDE;
use open::path_of;
pub use symbol::Symbol;

/// Whether the documented names of functions are those of the per-thread default stream: the feature
/// `per-thread-default-stream`.
pub const PER_THREAD_DEFAULT_STREAM: bool = cfg!(feature = "per-thread-default-stream");

/// Every function of the header that this crate was built from. A driver may lack some: ask [`symbol`].
pub const FUNCTIONS: &[Function] = bindings::FUNCTIONS;

const _: () = assert!(CUresult::CUDA_ERROR_STUB_LIBRARY.0 as c_uint == open::STUB_LIBRARY);

static LIBRARY: OnceLock<os::Library> = OnceLock::new();

/// Loads the driver now, unless it is loaded already: from the file that [`OVERRIDE`] names, else from the places where
/// drivers are installed.
///
/// # Errors
///
/// [`LoadError`] says what was tried and why each was refused. A later call tries again.
pub fn load() -> Result<(), LoadError> {
    library().map(drop)
}

/// Loads the driver from `file`, before the first call into it.
///
/// # Errors
///
/// [`LoadError`] if the file is not a driver, or if another driver is in use already: a process has one.
pub fn load_from(file: impl AsRef<Path>) -> Result<(), LoadError> {
    let file = file.as_ref();
    let library = load_once(|| open::first(&[file.as_os_str()]))?;
    // One file gives one address, by whatever name it is opened, and opening it again costs nothing.
    let given = os::Library::open(file.as_os_str()).map_err(|why| LoadError::one(file, Refusal::NotLoaded(why)))?;
    if given.symbol(open::VERSION) == library.symbol(open::VERSION) {
        return Ok(());
    }
    Err(LoadError::one(file, Refusal::AnotherIsInUse(path_of(library).unwrap_or_default())))
}

/// The file of the driver in use; `None` while none is loaded.
pub fn path() -> Option<PathBuf> {
    if cfg!(feature = "link") { path_of(&os::Library::process()) } else { path_of(LIBRARY.get()?) }
}

/// Whether there is a driver, which this loads if need be. It may be there without any device.
pub fn is_available() -> bool {
    load().is_ok()
}

/// The address of a function that the driver exports, such as `c"cuStreamGetCaptureInfo_v2"`; `None` if it does not, or
/// if there is no driver. Reaches functions that are newer or older than the header.
pub fn symbol(name: &CStr) -> Option<NonNull<c_void>> {
    library().ok()?.symbol(name)
}

fn library() -> Result<&'static os::Library, LoadError> {
    if let Some(library) = LIBRARY.get() {
        return Ok(library);
    }
    load_once(open::installed)
}

/// What `open` gives; where the program is linked with a driver, that.
fn load_once(open: impl FnOnce() -> Result<os::Library, LoadError>) -> Result<&'static os::Library, LoadError> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(library) = LIBRARY.get() {
        return Ok(library);
    }
    if cfg!(feature = "link") {
        let linked = path().unwrap_or_else(|| PathBuf::from(os::CANDIDATES[0]));
        let library = open::driver(os::Library::process()).map_err(|why| LoadError::one(&linked, why))?;
        return Ok(LIBRARY.get_or_init(|| library));
    }
    let library = open()?;
    Ok(LIBRARY.get_or_init(|| library))
}
