//! What a call came to.

use std::ffi::{CStr, c_char};
use std::fmt;
use std::ptr;

use cuda_sys::{CUresult, cuGetErrorName};

/// A driver's status, known to this program or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status(CUresult);

impl Status {
    pub(crate) fn is_success(self) -> bool {
        self.0 == CUresult::CUDA_SUCCESS
    }

    pub(super) fn code(self) -> CUresult {
        self.0
    }

    pub(super) fn failed(self, call: &'static str) -> Result<(), Failed> {
        if self.is_success() { Ok(()) } else { Err(Failed { call, status: self }) }
    }
}

impl From<CUresult> for Status {
    fn from(result: CUresult) -> Self {
        Self(result)
    }
}

/// The driver's own name for it, which may be newer than the header of this program.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name: *const c_char = ptr::null();
        // SAFETY: the pointer is valid for the call, which may be made at any time.
        let known = unsafe { cuGetErrorName(self.0, &raw mut name) };
        if known != CUresult::CUDA_SUCCESS || name.is_null() {
            return write!(f, "{:?}", self.0);
        }
        // SAFETY: on success the driver gives a string that ends with NUL and lives as long as the driver.
        let name = unsafe { CStr::from_ptr(name) };
        f.write_str(&name.to_string_lossy())
    }
}

/// A call that has to succeed before anything can be asked, and did not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed {
    call: &'static str,
    pub(crate) status: Status,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} gives {}", self.call, self.status)
    }
}

impl std::error::Error for Failed {}

pub(super) fn check(call: &'static str, result: CUresult) -> Result<(), Failed> {
    Status(result).failed(call)
}
