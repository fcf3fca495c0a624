//! Which stream has which strand.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::chunk::Chunk;
use super::strand::Strand;
use crate::{Context, Error, Result};

const MOST_CHUNKS: usize = 512;

/// Strands of the first chunk stay with their stream for ever.
const DEDICATED: usize = Chunk::STRANDS;

#[derive(Debug)]
pub(super) struct Strands {
    chunks: Box<[OnceLock<Chunk>]>,
    /// How many were ever given out: the workers look at these.
    used: AtomicUsize,
    /// Some are never used again, but might be rung.
    has_retired: AtomicBool,
    table: Mutex<Table>,
}

/// Locked for a few instructions, and never during a call into the driver.
#[derive(Debug)]
struct Table {
    /// By the streams' ids: handles are used again when streams are gone.
    of: HashMap<u64, usize, BuildHasherDefault<Scattered>>,
    /// Where a strand that a stream is done with is looked for next.
    next: usize,
    retired: Vec<usize>,
}

/// Of ids, which count up.
#[derive(Debug, Default)]
struct Scattered(u64);

impl Hasher for Scattered {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(self.0 ^ u64::from(byte)));
    }

    fn write_u64(&mut self, id: u64) {
        // An odd number near 2⁶⁴ divided by the golden ratio.
        self.0 = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        // The table takes its index from the lower end.
        self.0.rotate_left(32)
    }
}

/// Where the device finds a strand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) device: u64,
    /// It may be given to another stream.
    pub(super) is_shared: bool,
}

impl Strands {
    pub(super) fn new(context: &Context) -> Result<Self> {
        let chunks = (0..MOST_CHUNKS).map(|_| OnceLock::new()).collect();
        let table = Table {
            of: HashMap::with_capacity_and_hasher(DEDICATED, BuildHasherDefault::default()),
            next: 0,
            retired: Vec::new(),
        };
        let (used, has_retired) = (AtomicUsize::new(0), AtomicBool::new(false));
        let strands = Self { chunks, used, has_retired, table: Mutex::new(table) };
        strands.add(context)?;
        Ok(strands)
    }

    /// The strand of a stream (its id, and the address of its handle), with one more call in flight: see [`Strand::begin`].
    pub(super) fn begin(&self, context: &Context, stream: (u64, usize)) -> Result<(usize, (u64, bool))> {
        loop {
            let mut table = self.table.lock();
            let index = match table.of.get(&stream.0) {
                Some(&index) => Some(index),
                None => self.give(&mut table, stream),
            };
            if let Some(index) = index {
                return Ok((index, self.strand(index).begin()));
            }
            drop(table);
            self.add(context)?;
        }
    }

    /// A strand that no stream has, or is done with, if there is one.
    fn give(&self, table: &mut Table, stream: (u64, usize)) -> Option<usize> {
        let used = self.used.load(Ordering::Relaxed);
        let is_free = |&index: &usize| self.strand(index).is_idle() && !table.retired.contains(&index);
        let next = table.next.clamp(DEDICATED.min(used), used);
        let index = (next..used).chain(DEDICATED..next).find(is_free).unwrap_or(used);
        if index < used {
            table.next = index + 1;
            table.of.remove(&self.strand(index).stream().0);
        } else {
            self.chunks.get(used / Chunk::STRANDS)?.get()?;
            self.used.store(used + 1, Ordering::Release);
        }
        self.strand(index).give_to(stream);
        table.of.insert(stream.0, index);
        Some(index)
    }

    /// Another chunk.
    fn add(&self, context: &Context) -> Result<()> {
        // Of several threads that are here, each adds one.
        let full = Err(Chunk::new(context)?);
        let added = self.chunks.iter().fold(full, |chunk, place| chunk.or_else(|chunk| place.set(chunk)));
        added.map_err(|chunk| {
            // To take it back would wait for the device.
            chunk.leak();
            Error::invalid("stream", "closures are in flight in too many streams")
        })
    }

    /// Nobody gets the strand any more: the driver may have kept a call that it was not to keep, or may do one again. It
    /// might be rung for ever.
    pub(super) fn retire(&self, index: usize) {
        let mut table = self.table.lock();
        if !table.retired.contains(&index) {
            table.retired.push(index);
            table.of.remove(&self.strand(index).stream().0);
            self.has_retired.store(true, Ordering::SeqCst);
        }
    }

    pub(super) fn has_retired(&self) -> bool {
        self.has_retired.load(Ordering::SeqCst)
    }

    /// Those that were ever given out, from a place on that differs from worker to worker.
    pub(super) fn all(&self, start: usize) -> impl Iterator<Item = &Strand> {
        let used = self.used.load(Ordering::Acquire);
        let start = start.min(used);
        (start..used).chain(0..start).map(|index| self.strand(index))
    }

    pub(super) fn strand(&self, index: usize) -> &Strand {
        self.chunk(index).strand(index % Chunk::STRANDS)
    }

    /// Where the device finds it.
    pub(super) fn place(&self, index: usize) -> Place {
        let device = self.chunk(index).device_address(index % Chunk::STRANDS);
        Place { device, is_shared: index >= DEDICATED }
    }

    fn chunk(&self, index: usize) -> &Chunk {
        self.chunks[index / Chunk::STRANDS].get().expect("it was given out")
    }

    /// The memory stays for ever: something may still be written there.
    pub(super) fn leak(&mut self) {
        self.chunks.iter_mut().filter_map(OnceLock::take).for_each(Chunk::leak);
    }
}
