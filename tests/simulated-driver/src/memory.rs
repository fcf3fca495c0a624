//! Memory: the host's, which the device shares.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use cuda_sys::CUresult;

use crate::abi::{Handle, Result};
use crate::device;

#[derive(Debug)]
pub(crate) struct Memory {
    allocations: BTreeMap<u64, Allocation>,
}

#[derive(Debug)]
struct Allocation {
    context: Handle,
    kind: Kind,
    length: usize,
    /// The memory itself, unless it is the program's.
    _blocks: Vec<Block>,
}

/// As aligned as the driver's allocations are.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(256))]
struct Block([u8; 256]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Device,
    PinnedHost,
    RegisteredHost,
}

/// What came of the device's touching memory.
pub(crate) type Access = std::result::Result<(), CUresult>;

/// Bytes to be copied.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    pub(crate) to: u64,
    pub(crate) from: Source,
    pub(crate) length: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Source {
    Memory(u64),
    /// Taken when the copy was enqueued, from memory that is not pinned.
    Bytes(Arc<[u8]>),
}

/// Memory to be filled with a pattern.
#[derive(Clone, Debug)]
pub(crate) struct Fill {
    pub(crate) to: u64,
    pub(crate) pattern: Box<[u8]>,
    pub(crate) count: usize,
}

impl Memory {
    pub(crate) const NEW: Self = Self { allocations: BTreeMap::new() };

    pub(crate) fn allocate(&mut self, context: Handle, kind: Kind, length: usize) -> Result<u64> {
        if length == 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        if self.used().saturating_add(length) > device::MEMORY {
            return Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        }
        let mut blocks = vec![Block([0; 256]); length.div_ceil(size_of::<Block>())];
        let address = blocks.as_mut_ptr().expose_provenance() as u64;
        self.allocations.insert(address, Allocation { context, kind, length, _blocks: blocks });
        Ok(address)
    }

    /// Makes memory of the program's known to the device.
    pub(crate) fn register(&mut self, context: Handle, address: u64, length: usize) -> Result {
        if length == 0 || address == 0 || self.find(address).is_some() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let allocation = Allocation { context, kind: Kind::RegisteredHost, length, _blocks: Vec::new() };
        self.allocations.insert(address, allocation);
        Ok(())
    }

    pub(crate) fn free(&mut self, kind: Kind, address: u64) -> Result {
        match self.allocations.get(&address) {
            Some(allocation) if allocation.kind == kind => {
                self.allocations.remove(&address);
                Ok(())
            }
            _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        }
    }

    pub(crate) fn free_all(&mut self, context: Handle) {
        self.allocations.retain(|_, allocation| allocation.context != context);
    }

    pub(crate) fn used(&self) -> usize {
        self.allocations.values().map(|allocation| allocation.length).sum()
    }

    pub(crate) fn count(&self, kind: Kind) -> usize {
        self.allocations.values().filter(|allocation| allocation.kind == kind).count()
    }

    fn find(&self, address: u64) -> Option<(u64, &Allocation)> {
        let (start, allocation) = self.allocations.range(..=address).next_back()?;
        (address - start < allocation.length as u64).then_some((*start, allocation))
    }

    /// Whether the device can reach all of it.
    pub(crate) fn is_known(&self, address: u64, length: usize) -> bool {
        let end = address.saturating_add(length as u64);
        self.find(address).is_some_and(|(start, allocation)| end <= start + allocation.length as u64)
    }

    /// Whether it was allocated or registered as host memory.
    pub(crate) fn is_host(&self, address: u64) -> bool {
        self.find(address).is_some_and(|(_, allocation)| allocation.kind != Kind::Device)
    }

    /// Copies as the device does; where it is told to go, it goes.
    #[expect(clippy::unused_self, reason = "who copies holds the lock")]
    pub(crate) fn copy(&self, copy: &Copy) {
        let to = pointer(copy.to);
        let from = match &copy.from {
            Source::Memory(address) => pointer(*address).cast_const(),
            Source::Bytes(bytes) => bytes.as_ptr(),
        };
        // SAFETY: the program vouched for both ends when it enqueued the copy, and keeps them until it is done.
        unsafe { ptr::copy(from, to, copy.length) };
    }

    pub(crate) fn fill(&self, fill: &Fill) -> Access {
        if !self.is_known(fill.to, fill.pattern.len() * fill.count) {
            return Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        }
        for index in 0..fill.count {
            let to = pointer(fill.to + (index * fill.pattern.len()) as u64);
            // SAFETY: within an allocation, by the check above.
            unsafe { ptr::copy_nonoverlapping(fill.pattern.as_ptr(), to, fill.pattern.len()) };
        }
        Ok(())
    }

    pub(crate) fn read_u32(&self, address: u64) -> Result<u32> {
        self.u32_at(address).map(|word| word.load(Ordering::Acquire))
    }

    pub(crate) fn read_u64(&self, address: u64) -> Result<u64> {
        self.u64_at(address).map(|word| word.load(Ordering::Acquire))
    }

    pub(crate) fn write_u32(&self, address: u64, value: u32) -> Access {
        self.u32_at(address).map(|word| word.store(value, Ordering::Release))
    }

    pub(crate) fn write_u64(&self, address: u64, value: u64) -> Access {
        self.u64_at(address).map(|word| word.store(value, Ordering::Release))
    }

    pub(crate) fn add_u32(&self, address: u64, value: u32) -> Access {
        self.u32_at(address).map(|word| _ = word.fetch_add(value, Ordering::AcqRel))
    }

    pub(crate) fn add_u64(&self, address: u64, value: u64) -> Access {
        self.u64_at(address).map(|word| _ = word.fetch_add(value, Ordering::AcqRel))
    }

    fn u32_at(&self, address: u64) -> Result<&AtomicU32> {
        self.check_word(address, 4)?;
        // SAFETY: aligned and within an allocation, which lives as long as `self` is borrowed; the program touches
        // words that the device uses at the same time atomically.
        Ok(unsafe { AtomicU32::from_ptr(pointer(address).cast()) })
    }

    fn u64_at(&self, address: u64) -> Result<&AtomicU64> {
        self.check_word(address, 8)?;
        // SAFETY: as above.
        Ok(unsafe { AtomicU64::from_ptr(pointer(address).cast()) })
    }

    fn check_word(&self, address: u64, size: usize) -> Access {
        let is_aligned = address.is_multiple_of(size as u64);
        if is_aligned && self.is_known(address, size) { Ok(()) } else { Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS) }
    }
}

/// The bytes that a program wants copied, as they are now.
pub(crate) fn snapshot(address: u64, length: usize) -> Source {
    let from = pointer(address).cast_const();
    // SAFETY: the program vouched for the memory in the call that this is part of.
    Source::Bytes(unsafe { std::slice::from_raw_parts(from, length) }.into())
}

fn pointer(address: u64) -> *mut u8 {
    ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or_default())
}
