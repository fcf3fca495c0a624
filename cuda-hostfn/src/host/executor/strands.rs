//! Which stream has which strand.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::chunk::Chunk;
use super::strand::Strand;
use crate::{Context, Error, Result};

/// How many strands the first chunk has; each other one has twice as many as the one before.
const FIRST: usize = 64;
const MOST_CHUNKS: usize = 16;

#[derive(Debug)]
pub(super) struct Strands {
    chunks: [OnceLock<Chunk>; MOST_CHUNKS],
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
    of: HashMap<u64, usize>,
    /// Where an idle strand is looked for next.
    next: usize,
    retired: Vec<usize>,
}

/// Where a strand is.
fn place(index: usize) -> (usize, usize) {
    let chunk = (index / FIRST + 1).ilog2() as usize;
    (chunk, index - FIRST * ((1 << chunk) - 1))
}

impl Strands {
    pub(super) fn new(context: &Context) -> Result<Self> {
        let chunks = [const { OnceLock::new() }; MOST_CHUNKS];
        let table = Table { of: HashMap::with_capacity(FIRST), next: 0, retired: Vec::new() };
        let (used, has_retired) = (AtomicUsize::new(0), AtomicBool::new(false));
        let strands = Self { chunks, used, has_retired, table: Mutex::new(table) };
        strands.add(context, 0)?;
        Ok(strands)
    }

    /// The strand of the stream with that id, with one more call in flight, and whether that is the only one.
    pub(super) fn begin(&self, context: &Context, id: u64) -> Result<(usize, bool)> {
        loop {
            let mut table = self.table.lock();
            let index = match table.of.get(&id) {
                Some(&index) => Some(index),
                None => self.give(&mut table, id),
            };
            if let Some(index) = index {
                return Ok((index, self.strand(index).begin()));
            }
            drop(table);
            let chunk = place(self.used.load(Ordering::Relaxed)).0;
            self.add(context, chunk)?;
        }
    }

    /// A strand of which nothing is in flight, if there is one or a new one has a place.
    fn give(&self, table: &mut Table, id: u64) -> Option<usize> {
        let used = self.used.load(Ordering::Relaxed);
        let has_place = |index| self.chunks.get(place(index).0).is_some_and(|chunk| chunk.get().is_some());
        let index = if used < FIRST {
            used
        } else {
            let idle = |&index: &usize| self.strand(index).is_idle() && !table.retired.contains(&index);
            let idle = (table.next..used).chain(0..table.next).find(idle);
            idle.or_else(|| has_place(used).then_some(used))?
        };
        if index == used {
            self.used.store(used + 1, Ordering::Release);
        } else {
            table.next = (index + 1) % used;
            table.of.remove(&self.strand(index).id());
        }
        self.strand(index).give_to(id);
        table.of.insert(id, index);
        Some(index)
    }

    /// Makes the chunk, if nobody has.
    fn add(&self, context: &Context, chunk: usize) -> Result<()> {
        let place = self.chunks.get(chunk);
        let place = place.ok_or_else(|| Error::invalid("stream", "closures are in flight in millions of streams"))?;
        if place.get().is_none() {
            // Who comes too late has another one, which goes.
            let _ = place.set(Chunk::new(context, FIRST << chunk)?);
        }
        Ok(())
    }

    /// Nobody gets the strand any more: the driver may have kept a call that it was not to keep, or may do one again. It
    /// might be rung for ever.
    pub(super) fn retire(&self, index: usize) {
        let mut table = self.table.lock();
        if !table.retired.contains(&index) {
            table.retired.push(index);
            table.of.remove(&self.strand(index).id());
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
        let (chunk, index) = place(index);
        self.chunks[chunk].get().expect("given out").strand(index)
    }

    /// The memory stays for ever: something may still be written there.
    pub(super) fn leak(&mut self) {
        self.chunks.iter_mut().filter_map(OnceLock::take).for_each(std::mem::forget);
    }

    /// Where the device finds it.
    pub(super) fn device_address(&self, index: usize) -> u64 {
        let (chunk, index) = place(index);
        self.chunks[chunk].get().expect("given out").device_address(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_has_its_place() {
        let mut next = 0;
        for chunk in 0..4 {
            for index in 0..FIRST << chunk {
                assert_eq!(place(next), (chunk, index));
                next += 1;
            }
        }
    }
}
