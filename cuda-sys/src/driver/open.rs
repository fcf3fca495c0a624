//! Which of some libraries is a driver. This needs no bindings: `cargo xtask doctor` includes the file and asks the same.

use std::ffi::{CStr, OsStr, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::ptr::NonNull;

use super::error::{Attempt, LoadError, Refusal};
use super::os::{self, Library};

/// Names the library to load, and no other is tried: `CUDA_SYS_DRIVER=/path/to/libcuda.so.1`.
pub const OVERRIDE: &str = "CUDA_SYS_DRIVER";

/// `CUDA_ERROR_STUB_LIBRARY`.
pub(super) const STUB_LIBRARY: c_uint = 34;

/// The function that every driver has, and that answers at any time.
pub(super) const VERSION: &CStr = c"cuDriverGetVersion";

/// The driver that the environment names, else the first of the places where drivers are installed.
pub(super) fn installed() -> Result<Library, LoadError> {
    match std::env::var_os(OVERRIDE).filter(|value| !value.is_empty()) {
        Some(file) => first(&[&file]),
        None => first(&os::CANDIDATES.map(OsStr::new)),
    }
}

/// The first of the candidates that is a driver.
pub(super) fn first(candidates: &[&OsStr]) -> Result<Library, LoadError> {
    let mut attempts = Vec::new();
    for candidate in candidates {
        match Library::open(candidate).map_err(Refusal::NotLoaded).and_then(driver) {
            Ok(library) => return Ok(library),
            Err(why) => attempts.push(Attempt { library: PathBuf::from(candidate), why }),
        }
    }
    Err(LoadError::new(attempts))
}

/// Makes sure that a library is a driver.
pub(super) fn driver(library: Library) -> Result<Library, Refusal> {
    let address = library.symbol(VERSION).ok_or(Refusal::NotADriver)?;
    // SAFETY: `cuDriverGetVersion` has had this signature in every driver and in the stub.
    let get_version =
        unsafe { std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn(*mut c_int) -> c_uint>(address) };
    let mut version = 0;
    // SAFETY: the pointer is valid; the function may be called at any time, also before `cuInit`.
    match unsafe { get_version(&raw mut version) } {
        STUB_LIBRARY => Err(Refusal::Stub(path_of(&library))),
        _ => Ok(library),
    }
}

/// The file that a driver came from.
pub(super) fn path_of(library: &Library) -> Option<PathBuf> {
    os::file_of(library.symbol(VERSION)?)
}
