//! Words of memory, freed when they are dropped.

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_hostfn::sys::{self, CUresult};
use cuda_hostfn::{Context, Error};
use libtest_mimic::Failed;

use crate::check;

/// Device memory for 32-bit words.
#[derive(Debug)]
pub struct Words {
    /// As kernels take it.
    pub address: u64,
    /// How many they are.
    pub length: u32,
    context: Context,
}

impl Words {
    pub(crate) fn new(context: &Context, length: u32) -> Result<Self, Failed> {
        let mut address = 0;
        // SAFETY: the pointer is valid for a write.
        let code = context.with_current(|| unsafe { sys::cuMemAlloc(&raw mut address, 4 * length as usize) })?;
        succeeded("cuMemAlloc", code)?;
        Ok(Self { address, length, context: context.clone() })
    }

    /// Copies them to the host.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn read(&self) -> Result<Vec<u32>, Failed> {
        let mut words = vec![0_u32; self.length as usize];
        let bytes = 4 * words.len();
        // SAFETY: both sides have that many bytes.
        let copy = || unsafe { sys::cuMemcpyDtoH(words.as_mut_ptr().cast(), self.address, bytes) };
        succeeded("cuMemcpyDtoH", self.context.with_current(copy)?)?;
        Ok(words)
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        // SAFETY: allocated by `new`; the trial has synchronised.
        let _ = self.context.with_current(|| unsafe { sys::cuMemFree(self.address) });
    }
}

/// Pinned words. Freeing them is a call into CUDA, so they are also what a destructor that calls CUDA looks like.
#[derive(Debug)]
pub struct Pinned {
    address: *mut AtomicU32,
    length: usize,
    context: Context,
}

// SAFETY: the words are atomic, and memory may be freed by any thread.
unsafe impl Send for Pinned {}
// SAFETY: as above.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// So many; all 0.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn new(context: &Context, length: usize) -> Result<Self, Failed> {
        let mut address = ptr::null_mut();
        // SAFETY: the pointer is valid for a write.
        let code = context.with_current(|| unsafe { sys::cuMemAllocHost(&raw mut address, 4 * length) })?;
        succeeded("cuMemAllocHost", code)?;
        let pinned = Self { address: address.cast(), length, context: context.clone() };
        pinned.words().iter().for_each(|word| word.store(0, Ordering::Relaxed));
        Ok(pinned)
    }

    /// As the host sees them.
    #[must_use]
    pub fn words(&self) -> &[AtomicU32] {
        // SAFETY: allocated with that length; zero is a valid atomic.
        unsafe { std::slice::from_raw_parts(self.address, self.length) }
    }

    /// As kernels take it.
    #[must_use]
    pub fn device_address(&self) -> u64 {
        self.address.expose_provenance() as u64
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: allocated by `new`; nothing uses it any more.
        let code = self.context.with_current(|| unsafe { sys::cuMemFreeHost(self.address.cast()) });
        // After a fault there is nothing that could be freed.
        assert!(
            !matches!(code, Ok(CUresult::CUDA_ERROR_NOT_PERMITTED) | Err(Error::CalledFromHostFunction)),
            "{code:?}"
        );
    }
}

fn succeeded(function: &str, code: CUresult) -> Result<(), Failed> {
    check(code == CUresult::CUDA_SUCCESS, || format!("{function}: {code:?}"))
}
