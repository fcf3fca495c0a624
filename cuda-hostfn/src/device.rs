//! GPUs.
//!
//! ```no_run
//! use cuda_hostfn::Device;
//!
//! for device in Device::all()? {
//!     let (major, minor) = device.compute_capability()?;
//!     println!("{}: compute capability {major}.{minor}", device.name()?);
//! }
//! # Ok::<(), cuda_hostfn::Error>(())
//! ```

use std::ffi::{CStr, c_char, c_int};

use crate::error::call;
use crate::sys::{CUdevice, CUdevice_attribute};
use crate::{Context, Error, Result};

/// A GPU, by its ordinal among those that the process sees. A plain number: usable from any thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Device {
    raw: CUdevice,
}

impl Device {
    /// The device of an ordinal (`cuDeviceGet`); initialises the driver (`cuInit`).
    ///
    /// # Errors
    ///
    /// [`Error::NoDriver`] without a driver; `CUDA_ERROR_NO_DEVICE` if it has no device; `CUDA_ERROR_INVALID_DEVICE` if
    /// there is none of that ordinal.
    pub fn get(ordinal: u32) -> Result<Self> {
        init()?;
        let ordinal =
            c_int::try_from(ordinal).map_err(|_| Error::invalid("ordinal", format!("{ordinal} is too large")))?;
        let mut raw = 0;
        // SAFETY: the pointer is valid for a write.
        unsafe { call!(cuDeviceGet(&raw mut raw, ordinal)) }?;
        Ok(Self { raw })
    }

    /// How many devices the process sees (`cuDeviceGetCount`); initialises the driver.
    ///
    /// # Errors
    ///
    /// As [`Device::get`].
    pub fn count() -> Result<u32> {
        init()?;
        let mut count: c_int = 0;
        // SAFETY: the pointer is valid for a write.
        unsafe { call!(cuDeviceGetCount(&raw mut count)) }?;
        Ok(count.unsigned_abs())
    }

    /// Every device that the process sees.
    ///
    /// # Errors
    ///
    /// As [`Device::get`].
    pub fn all() -> Result<Vec<Self>> {
        (0..Self::count()?).map(Self::get).collect()
    }

    /// CUDA's handle, which is the ordinal.
    pub fn as_raw(self) -> CUdevice {
        self.raw
    }

    /// The device of CUDA's handle. A handle of no device gives a value whose every use is an error.
    pub const fn from_raw(raw: CUdevice) -> Self {
        Self { raw }
    }

    /// The marketing name (`cuDeviceGetName`), such as `NVIDIA H200`.
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn name(self) -> Result<String> {
        init()?;
        let mut name: [c_char; 256] = [0; 256];
        // SAFETY: the buffer has the length that is given; 256 fits.
        unsafe { call!(cuDeviceGetName(name.as_mut_ptr(), 256, self.raw)) }?;
        // SAFETY: the driver ends the name with NUL inside the buffer.
        Ok(unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// A property of the device (`cuDeviceGetAttribute`), by CUDA's enum, which also takes numbers newer than the
    /// header.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_VALUE` for a property that the driver does not know.
    pub fn property(self, property: CUdevice_attribute) -> Result<i32> {
        init()?;
        let mut value: c_int = 0;
        // SAFETY: the pointer is valid for a write.
        unsafe { call!(cuDeviceGetAttribute(&raw mut value, property, self.raw)) }?;
        Ok(value)
    }

    /// The compute capability, such as `(9, 0)`.
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn compute_capability(self) -> Result<(u32, u32)> {
        let major = self.property(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = self.property(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok((major.unsigned_abs(), minor.unsigned_abs()))
    }

    /// The primary context, which the CUDA runtime and most libraries use: the same as [`Context::primary`].
    ///
    /// # Errors
    ///
    /// As [`Context::primary`].
    pub fn primary_context(self) -> Result<Context> {
        Context::primary(self)
    }
}

/// Every use of a device may be the first, since [`Device::from_raw`] can fail at nothing.
pub(crate) fn init() -> Result<()> {
    // SAFETY: may be called at any time, repeatedly, from any thread; the flags must be 0.
    unsafe { call!(cuInit(0)) }
}

#[cfg(test)]
mod tests {
    use super::Device;

    #[test]
    fn the_handle_is_kept() {
        assert_eq!([0, 1, 7].map(|raw| Device::from_raw(raw).as_raw()), [0, 1, 7]);
    }
}
