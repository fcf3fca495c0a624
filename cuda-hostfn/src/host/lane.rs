//! The records of one context: slots for new ones, and all that are in its streams, found here when it is lost.
//!
//! Only ordinary threads take the lock, each for a few instructions; the driver's thread never does.

use std::ptr::NonNull;
use std::sync::OnceLock;

use parking_lot::Mutex;

use super::block::Block;
use super::marks::{Marks, indices};
use super::record::Header;
use crate::{Context, Error};

#[derive(Debug)]
pub(crate) struct Lane {
    slots: Apart<Mutex<Slots>>,
    /// Why the context is lost.
    fault: OnceLock<Error>,
}

/// On cache lines of its own: every thread that enqueues writes it.
#[derive(Debug)]
#[repr(align(128))]
struct Apart<T>(T);

#[derive(Debug)]
struct Slots {
    blocks: Vec<Entry>,
    /// Where slots are taken from.
    current: usize,
    in_use: usize,
    /// Keeps the context, and with it this, while slots are in use.
    context: Option<Context>,
}

/// A block, and which of its slots are free or lost. The others are in use.
#[derive(Debug)]
struct Entry {
    block: NonNull<Block>,
    free: u64,
    /// The driver may have kept the address: never used again.
    lost: u64,
}

// SAFETY: blocks are made for several threads, and freed by the last owner.
unsafe impl Send for Entry {}

impl Lane {
    pub(crate) const fn new() -> Self {
        let slots = Slots { blocks: Vec::new(), current: 0, in_use: 0, context: None };
        Self { slots: Apart(Mutex::new(slots)), fault: OnceLock::new() }
    }

    /// A slot of the context that nobody uses.
    pub(super) fn take(context: &Context) -> NonNull<Header> {
        let lane = context.lane();
        let mut slots = lane.slots.0.lock();
        if slots.in_use == 0 {
            slots.context = Some(context.clone());
        }
        slots.in_use += 1;
        slots.take()
    }

    /// Takes back the slots that nobody uses any more.
    pub(super) fn collect(&self) {
        let mut slots = self.slots.0.lock();
        slots.collect();
        let context = slots.context_if_idle();
        drop(slots);
        drop(context);
    }

    pub(crate) fn outstanding(&self) -> u64 {
        let slots = self.slots.0.lock();
        let records = slots.in_use();
        // SAFETY: slots live as long as the lane.
        records.filter(|(_, record)| unsafe { record.as_ref() }.state.is_outstanding()).count() as u64
    }

    /// Why the context was given up; the first reason.
    pub(super) fn fault(&self) -> Option<&Error> {
        self.fault.get()
    }

    /// Cancels every record that has not started. The driver may keep the addresses.
    pub(super) fn give_up(&self, why: Error) -> Vec<NonNull<Header>> {
        let _ = self.fault.set(why);
        let mut slots = self.slots.0.lock();
        // SAFETY: slots live as long as the lane.
        let is_lost = |record: &NonNull<Header>| unsafe { record.as_ref() }.cancel_if_accepted();
        let lost: Vec<_> = slots.in_use().filter(|(_, record)| is_lost(record)).collect();
        lost.iter().for_each(|&(entry, record)| slots.lose(entry, record));
        let context = slots.context_if_idle();
        drop(slots);
        drop(context);
        lost.into_iter().map(|(_, record)| record).collect()
    }

    /// The driver may keep the address of this record, which is cancelled.
    pub(super) fn lose(&self, record: NonNull<Header>) {
        let mut slots = self.slots.0.lock();
        let entry = slots.in_use().find(|&(_, other)| other == record);
        if let Some((entry, _)) = entry {
            slots.lose(entry, record);
        }
        let context = slots.context_if_idle();
        drop(slots);
        drop(context);
    }
}

impl Slots {
    fn take(&mut self) -> NonNull<Header> {
        if self.blocks.get(self.current).is_none_or(|entry| entry.free == 0) {
            self.current = self.find_free();
        }
        let Entry { block, free, .. } = &mut self.blocks[self.current];
        let index = indices(*free).next().expect("some are free");
        *free &= *free - 1;
        // SAFETY: blocks live as long as the lane.
        unsafe { Block::slot(*block, index) }
    }

    /// A block with free slots. There are so many blocks that taking slots back, which costs some cache lines, gives many
    /// at once.
    fn find_free(&mut self) -> usize {
        if self.free() == 0 {
            self.collect();
            if self.free() * 2 <= self.blocks.len() * Marks::COUNT {
                self.blocks.push(Entry { block: Block::new(), free: u64::MAX, lost: 0 });
                return self.blocks.len() - 1;
            }
        }
        let number = self.blocks.len();
        let next = (self.current + 1..self.current + 1 + number).map(|index| index % number);
        next.into_iter().find(|&index| self.blocks[index].free != 0).expect("one is free")
    }

    fn free(&self) -> usize {
        self.blocks.iter().map(|entry| entry.free.count_ones() as usize).sum()
    }

    fn collect(&mut self) {
        for Entry { block, free, .. } in &mut self.blocks {
            // SAFETY: blocks live as long as the lane.
            let over = unsafe { Block::take_over(*block) };
            *free |= over;
            self.in_use -= over.count_ones() as usize;
        }
    }

    /// The slots in use, each with its entry.
    fn in_use(&self) -> impl Iterator<Item = (usize, NonNull<Header>)> {
        self.blocks.iter().enumerate().flat_map(|(number, entry)| {
            // SAFETY: blocks live as long as the lane.
            indices(!(entry.free | entry.lost)).map(move |index| (number, unsafe { Block::slot(entry.block, index) }))
        })
    }

    fn lose(&mut self, entry: usize, record: NonNull<Header>) {
        // SAFETY: slots live as long as the lane.
        self.blocks[entry].lost |= 1 << unsafe { record.as_ref() }.index;
        self.in_use -= 1;
    }

    /// Drop it without the lock: this may be the last there is of the context.
    fn context_if_idle(&mut self) -> Option<Context> {
        if self.in_use == 0 { self.context.take() } else { None }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if self.lost == 0 {
            // SAFETY: the context is gone, which slots in use would keep.
            unsafe { Block::free(self.block) };
        } else {
            super::record::bury(self.block.cast());
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::Context;
    use crate::host::handle::Handle;
    use crate::host::job::Launch;
    use crate::host::trampoline;

    #[test]
    fn a_block_is_enough_for_what_is_given_back() {
        let context = Context::fake();
        for _ in 0..1000 {
            let handle = Handle::new(&context, Launch(|| ()));
            // SAFETY: the record's address, as the driver is given it.
            unsafe { trampoline::call(handle.record().as_ptr().cast()) };
        }
        assert_eq!(context.lane().slots.0.lock().blocks.len(), 1);
    }
}
