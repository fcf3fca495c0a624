//! Devices, and the context that is current on this thread.

use std::ffi::{CStr, c_char, c_int};
use std::marker::PhantomData;
use std::ptr;

use cuda_sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUresult, cuCtxGetStreamPriorityRange, cuCtxSetCurrent,
    cuCtxSynchronize, cuDeviceGet, cuDeviceGetAttribute, cuDeviceGetCount, cuDeviceGetName, cuDevicePrimaryCtxRelease,
    cuDevicePrimaryCtxRetain, cuDriverGetVersion, cuInit, cuMemAlloc, cuMemFree,
};

use super::status::{Failed, Status, check};

pub(crate) fn initialise() -> Result<(), Failed> {
    // SAFETY: no flags are defined, so 0.
    check("cuInit", unsafe { cuInit(0) })
}

/// What to do about a refused [`initialise`].
pub(crate) fn hint(status: Status) -> &'static str {
    match status.code() {
        CUresult::CUDA_ERROR_NO_DEVICE => {
            ": there is a driver, and no GPU that it can use (in a container, start it with GPU access; \
             CUDA_VISIBLE_DEVICES may hide all)"
        }
        CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => ": libcuda and the kernel module are of different versions",
        _ => "",
    }
}

/// Such as 13000.
pub(crate) fn driver_version() -> Result<c_int, Failed> {
    let mut version = 0;
    // SAFETY: the pointer is valid for the call.
    check("cuDriverGetVersion", unsafe { cuDriverGetVersion(&raw mut version) })?;
    Ok(version)
}

pub(crate) fn device_count() -> Result<u32, Failed> {
    let mut count = 0;
    // SAFETY: the pointer is valid for the call.
    check("cuDeviceGetCount", unsafe { cuDeviceGetCount(&raw mut count) })?;
    Ok(u32::try_from(count).unwrap_or(0))
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Device(CUdevice);

impl Device {
    /// The device of an ordinal below [`device_count`].
    pub(crate) fn get(ordinal: u32) -> Result<Self, Failed> {
        let mut device = 0;
        let ordinal = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
        // SAFETY: the pointer is valid for the call.
        check("cuDeviceGet", unsafe { cuDeviceGet(&raw mut device, ordinal) })?;
        Ok(Self(device))
    }

    pub(crate) fn name(self) -> Result<String, Failed> {
        let mut name = [0; 256];
        let room = c_int::try_from(name.len()).unwrap_or(c_int::MAX);
        // SAFETY: the buffer has `room` bytes.
        check("cuDeviceGetName", unsafe { cuDeviceGetName(name.as_mut_ptr(), room, self.0) })?;
        let bytes = name.map(|character: c_char| character.to_ne_bytes()[0]);
        let name = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
        Ok(name.to_string_lossy().into_owned())
    }

    /// By the attribute's number, which may be newer than the header. A driver that does not know it refuses.
    pub(crate) fn attribute(self, attribute: u32) -> Result<c_int, Failed> {
        let mut value = 0;
        // SAFETY: the pointer is valid for the call.
        let result = unsafe { cuDeviceGetAttribute(&raw mut value, CUdevice_attribute(attribute), self.0) };
        check("cuDeviceGetAttribute", result)?;
        Ok(value)
    }
}

/// The device's primary context, current on the thread that made this, which therefore stays there.
#[derive(Debug)]
pub(crate) struct Context {
    device: CUdevice,
    not_send: PhantomData<*mut ()>,
}

impl Context {
    pub(crate) fn primary(device: Device) -> Result<Self, Failed> {
        let mut context: CUcontext = ptr::null_mut();
        // SAFETY: the pointer is valid for the call.
        check("cuDevicePrimaryCtxRetain", unsafe { cuDevicePrimaryCtxRetain(&raw mut context, device.0) })?;
        let retained = Self { device: device.0, not_send: PhantomData };
        // SAFETY: the context was retained above.
        check("cuCtxSetCurrent", unsafe { cuCtxSetCurrent(context) })?;
        Ok(retained)
    }

    /// Waits for all that was given to it: the way to learn whether it is still usable.
    pub(crate) fn synchronise(&self) -> Result<(), Failed> {
        // SAFETY: no arguments; the context is current.
        check("cuCtxSynchronize", unsafe { cuCtxSynchronize() })
    }

    /// The least and the greatest priority. The greatest is the smaller number.
    pub(crate) fn priorities(&self) -> Result<(i32, i32), Failed> {
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: both pointers are valid for the call.
        let result = unsafe { cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest) };
        check("cuCtxGetStreamPriorityRange", result)?;
        Ok((least, greatest))
    }

    pub(crate) fn allocate(&self, bytes: usize) -> Result<Memory<'_>, Failed> {
        let mut address = 0;
        // SAFETY: the pointer is valid for the call.
        check("cuMemAlloc", unsafe { cuMemAlloc(&raw mut address, bytes) })?;
        Ok(Memory { address, context: PhantomData })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained once by `primary`. The lifetimes of what was made in it ended before.
        let _: Status = unsafe { cuDevicePrimaryCtxRelease(self.device) }.into();
    }
}

/// Device memory.
#[derive(Debug)]
pub(crate) struct Memory<'context> {
    address: CUdeviceptr,
    context: PhantomData<&'context Context>,
}

impl Memory<'_> {
    pub(crate) fn address(&self) -> u64 {
        self.address
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        // SAFETY: allocated by `allocate`, freed only here.
        let _: Status = unsafe { cuMemFree(self.address) }.into();
    }
}
