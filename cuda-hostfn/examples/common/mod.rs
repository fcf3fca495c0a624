//! What several examples need: a kernel, and memory that it and the host see.

use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_hostfn::sys::{CUresult, cuMemAllocHost, cuMemFreeHost};
use cuda_hostfn::{Context, Device, Kernel, Module};

pub type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// `fill(address, length, value)`: one thread for each 32-bit word.
pub fn fill(context: &Context) -> cuda_hostfn::Result<Kernel<(u64, u32, u32)>> {
    Module::from_ptx(context, include_str!("../../tests/fill.ptx"))?.kernel("fill")
}

/// The first device's context.
pub fn context() -> cuda_hostfn::Result<Context> {
    Context::primary(Device::get(0)?)
}

/// Words in pinned memory (`cuMemAllocHost`), at one address for the host and the device. They are atomic, since a
/// kernel may write them while the host reads.
#[derive(Debug)]
pub struct Pinned {
    first: *mut AtomicU32,
    length: u32,
    context: Context,
}

// SAFETY: the words are atomic, and any thread may free pinned memory.
unsafe impl Send for Pinned {}
// SAFETY: as above.
unsafe impl Sync for Pinned {}

impl Pinned {
    pub fn new(context: &Context, length: u32) -> Result<Self> {
        let mut address = std::ptr::null_mut();
        // SAFETY: the pointer is valid for a write.
        let code = context.with_current(|| unsafe { cuMemAllocHost(&raw mut address, 4 * length as usize) })?;
        if code != CUresult::CUDA_SUCCESS {
            return Err(format!("cuMemAllocHost: {code:?}").into());
        }
        // SAFETY: just allocated, of that size.
        unsafe { address.write_bytes(0, 4 * length as usize) };
        Ok(Self { first: address.cast(), length, context: context.clone() })
    }

    /// For a kernel.
    pub fn address(&self) -> u64 {
        self.first.expose_provenance() as u64
    }

    pub fn words(&self) -> Vec<u32> {
        // SAFETY: allocated with that length, and zero is a number.
        let words = unsafe { std::slice::from_raw_parts(self.first, self.length as usize) };
        words.iter().map(|word| word.load(Ordering::Relaxed)).collect()
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: allocated by `new`; whoever lets go of it has waited for the kernels that use it.
        let _ = self.context.with_current(|| unsafe { cuMemFreeHost(self.first.cast()) });
    }
}
