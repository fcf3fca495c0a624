//! Memory of strands: the process's own, which the device is told of.
//!
//! Not the driver's: that is gone when the context is destroyed or reset, and workers would look at it all the same.

use std::ptr::NonNull;

use super::strand::Strand;
use crate::error::call;
use crate::host::reclaim::Relaxed;
use crate::sys::CUdeviceptr;
use crate::{Context, Result};

/// What the device is told of is pages.
#[derive(Debug)]
#[repr(C, align(4096))]
struct Page([Strand; PER_PAGE]);

const PER_PAGE: usize = 4096 / size_of::<Strand>();

/// `CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP`.
const MAPPED: u32 = 3;

/// Strands side by side, that the device can reach.
#[derive(Debug)]
pub(super) struct Chunk {
    pages: NonNull<[Page]>,
    /// Where the first strand is for the device.
    device: u64,
    context: Context,
}

// SAFETY: strands are made for several threads, and the chunk owns them.
unsafe impl Send for Chunk {}
// SAFETY: as above.
unsafe impl Sync for Chunk {}

impl Chunk {
    /// So many strands at least.
    pub(super) fn new(context: &Context, number: usize) -> Result<Self> {
        let page = || Page(std::array::from_fn(|_| Strand::new()));
        let mut pages: Box<[Page]> = (0..number.div_ceil(PER_PAGE)).map(|_| page()).collect();
        let (memory, length): (*mut Page, _) = (pages.as_mut_ptr(), size_of_val(&*pages));
        let _entered = context.enter()?;
        // Registering memory is forbidden while other threads capture; it disturbs no capture.
        let _relaxed = Relaxed::new();
        // SAFETY: whole pages, which are unregistered before they are freed.
        unsafe { call!(cuMemHostRegister(memory.cast(), length, MAPPED)) }?;
        // SAFETY: from a box, which is given up.
        let pages = unsafe { NonNull::new_unchecked(Box::into_raw(pages)) };
        let mut chunk = Self { pages, device: 0, context: context.clone() };
        let mut device: CUdeviceptr = 0;
        // SAFETY: the pointer is valid for a write; the memory was registered.
        unsafe { call!(cuMemHostGetDevicePointer(&raw mut device, memory.cast(), 0)) }?;
        chunk.device = device;
        Ok(chunk)
    }

    pub(super) fn strand(&self, index: usize) -> &Strand {
        &self.pages()[index / PER_PAGE].0[index % PER_PAGE]
    }

    /// Where the device finds it.
    pub(super) fn device_address(&self, index: usize) -> u64 {
        self.device + (index * size_of::<Strand>()) as u64
    }

    fn pages(&self) -> &[Page] {
        // SAFETY: the chunk's own; the device changes atomics alone.
        unsafe { self.pages.as_ref() }
    }
}

impl Drop for Chunk {
    /// No stream has to go on any more.
    fn drop(&mut self) {
        let _entered = self.context.enter();
        let _relaxed = Relaxed::new();
        // SAFETY: registered by `new`.
        let unregistered = unsafe { call!(cuMemHostUnregister(self.pages.as_ptr().cast())) };
        // Memory that the driver did not let go of stays where it is.
        if unregistered.is_ok() {
            // SAFETY: from a box, and nobody looks at it any more.
            drop(unsafe { Box::from_raw(self.pages.as_ptr()) });
        }
    }
}

const _: () = assert!(size_of::<Page>() == PER_PAGE * size_of::<Strand>(), "strands are side by side");
