//! Memory of strands: the process's own, which the device is told of.
//!
//! Not the driver's: that is gone when the context is destroyed or reset, and workers would look at it all the same.

use std::ptr::NonNull;

use super::strand::Strand;
use crate::error::call;
use crate::host::reclaim::Relaxed;
use crate::host::record::bury;
use crate::sys::CUdeviceptr;
use crate::{Context, Result};

/// Strands side by side in whole pages, which the device is told of.
#[derive(Debug)]
#[repr(C, align(4096))]
struct Pages([Strand; Chunk::STRANDS]);

/// `CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP`.
const MAPPED: u32 = 3;

/// Strands that the device can reach.
#[derive(Debug)]
pub(super) struct Chunk {
    pages: NonNull<Pages>,
    /// Where the first strand is for the device.
    device: u64,
    /// `None`: the memory stays for ever.
    context: Option<Context>,
}

// SAFETY: strands are made for several threads, and the chunk owns them.
unsafe impl Send for Chunk {}
// SAFETY: as above.
unsafe impl Sync for Chunk {}

impl Chunk {
    /// How many there are in a chunk.
    pub(super) const STRANDS: usize = 128;

    pub(super) fn new(context: &Context) -> Result<Self> {
        let mut pages = Box::new(Pages(std::array::from_fn(|_| Strand::new())));
        let memory = (&raw mut *pages).cast();
        let _entered = context.enter()?;
        // Registering memory is forbidden while other threads capture; it disturbs no capture.
        let _relaxed = Relaxed::new();
        // SAFETY: whole pages, which are unregistered before they are freed.
        unsafe { call!(cuMemHostRegister(memory, size_of::<Pages>(), MAPPED)) }?;
        let pages = NonNull::from(Box::leak(pages));
        let mut chunk = Self { pages, device: 0, context: Some(context.clone()) };
        let mut device: CUdeviceptr = 0;
        // SAFETY: the pointer is valid for a write; the memory was registered.
        unsafe { call!(cuMemHostGetDevicePointer(&raw mut device, memory, 0)) }?;
        chunk.device = device;
        Ok(chunk)
    }

    /// Something may still be written to the memory.
    pub(super) fn leak(mut self) {
        self.context = None;
        bury(self.pages.cast());
    }

    pub(super) fn strand(&self, index: usize) -> &Strand {
        // SAFETY: the chunk's own; the device changes atomics alone.
        &unsafe { self.pages.as_ref() }.0[index]
    }

    /// Where the device finds it.
    pub(super) fn device_address(&self, index: usize) -> u64 {
        self.device + (index * size_of::<Strand>()) as u64
    }
}

impl Drop for Chunk {
    /// Everything was answered. A stream may be about to read that: the driver lets go of memory only when nothing is
    /// pending on the device.
    fn drop(&mut self) {
        let Some(context) = &self.context else { return };
        let _entered = context.enter();
        let _relaxed = Relaxed::new();
        // SAFETY: registered by `new`.
        let unregistered = unsafe { call!(cuMemHostUnregister(self.pages.as_ptr().cast())) };
        if unregistered.is_err() {
            return bury(self.pages.cast());
        }
        // SAFETY: from a box, and nobody looks at it any more.
        drop(unsafe { Box::from_raw(self.pages.as_ptr()) });
    }
}

const _: () = assert!(size_of::<Pages>() == Chunk::STRANDS * size_of::<Strand>(), "whole pages");
