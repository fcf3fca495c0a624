//! CUDA versions, as the driver and the header number them.

use std::ffi::c_int;
use std::fmt;

use crate::Result;
use crate::error::call;

/// A CUDA version such as 13.0: of a driver (the newest CUDA that it supports) or of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CudaVersion {
    /// 13 of 13.0.
    pub major: u32,
    /// 0 of 13.0.
    pub minor: u32,
}

impl CudaVersion {
    /// The version `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// From CUDA's number, 1000 × major + 10 × minor, such as [`sys::CUDA_VERSION`](crate::sys::CUDA_VERSION).
    pub const fn from_number(number: u32) -> Self {
        Self { major: number / 1000, minor: number % 1000 / 10 }
    }
}

impl fmt::Display for CudaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The newest CUDA version that the driver supports (`cuDriverGetVersion`). May be called from any thread, at any time.
///
/// # Errors
///
/// [`Error::NoDriver`](crate::Error::NoDriver) if none could be loaded.
pub fn driver_version() -> Result<CudaVersion> {
    let mut number: c_int = 0;
    // SAFETY: the pointer is valid for a write.
    unsafe { call!(cuDriverGetVersion(&raw mut number)) }?;
    Ok(CudaVersion::from_number(number.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::CudaVersion;

    #[test]
    fn numbers_and_text() {
        assert_eq!(CudaVersion::from_number(13050), CudaVersion::new(13, 5));
        assert_eq!(CudaVersion::from_number(12010).to_string(), "12.1");
        assert!(CudaVersion::new(12, 9) < CudaVersion::new(13, 0));
    }
}
