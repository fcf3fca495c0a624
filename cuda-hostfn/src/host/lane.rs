//! What is in the streams of one context: found here when the context is lost.
//!
//! Only ordinary threads take the lock, each for a few instructions; the driver's thread never does.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::record::Header;
use crate::Error;

/// The records of a context that the driver has been given and that were not reclaimed.
#[derive(Debug)]
pub(crate) struct Lane {
    records: Mutex<Records>,
    /// How many of all that ever were here are over.
    over: Apart<AtomicU64>,
    /// Why the context is lost.
    fault: OnceLock<Error>,
}

/// On cache lines of its own: the driver's thread writes it all the time, and others what is beside it.
#[derive(Debug)]
#[repr(align(128))]
struct Apart<T>(T);

/// A list beside the records, not through them: the next one in line is in use by the driver's thread.
#[derive(Debug)]
struct Records {
    slots: Vec<Slot>,
    /// The first of a chain of free slots, if below the number of slots.
    free: usize,
    /// How many ever were here.
    entered: u64,
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    Record(*const Header),
    Free { next: usize },
}

// SAFETY: records are used by several threads by their own rules; the pointers are used under the lock.
unsafe impl Send for Records {}

/// A record's slot. It belongs to the lane's lock.
#[derive(Debug)]
pub(super) struct Place(Cell<usize>);

impl Place {
    pub(super) const fn new() -> Self {
        Self(Cell::new(usize::MAX))
    }
}

impl Lane {
    pub(crate) const fn new() -> Self {
        let records = Records { slots: Vec::new(), free: 0, entered: 0 };
        Self { records: Mutex::new(records), over: Apart(AtomicU64::new(0)), fault: OnceLock::new() }
    }

    /// # Safety
    ///
    /// The record is in no lane, and lives until [`Lane::remove`] or [`Lane::give_up`] takes it out.
    pub(super) unsafe fn insert(&self, record: &Header) {
        let mut records = self.records.lock();
        record.place.0.set(records.free);
        records.entered += 1;
        let (place, taken) = (records.free, Slot::Record(record));
        match records.slots.get_mut(place) {
            Some(slot) => {
                if let Slot::Free { next } = std::mem::replace(slot, taken) {
                    records.free = next;
                }
            }
            None => {
                records.slots.push(taken);
                records.free = records.slots.len();
            }
        }
    }

    /// # Safety
    ///
    /// The record is in this lane.
    pub(super) unsafe fn remove(&self, record: &Header) {
        self.records.lock().remove(record.place.0.get());
    }

    /// Called before anybody can see that the record is over, so that who waited for it finds it not counted.
    pub(super) fn one_is_over(&self) {
        self.over.0.fetch_add(1, Ordering::Release);
    }

    pub(crate) fn outstanding(&self) -> u64 {
        let over = self.over.0.load(Ordering::Acquire);
        self.records.lock().entered.saturating_sub(over)
    }

    /// Why the context was given up; the first reason.
    pub(super) fn fault(&self) -> Option<&Error> {
        self.fault.get()
    }

    /// Cancels every record that has not started and takes it out.
    pub(super) fn give_up(&self, why: Error) -> Vec<*const Header> {
        let _ = self.fault.set(why);
        let mut records = self.records.lock();
        let mut cancelled = Vec::new();
        for place in 0..records.slots.len() {
            let Slot::Record(record) = records.slots[place] else { continue };
            // SAFETY: what is in the list lives.
            if unsafe { &*record }.cancel_if_accepted() {
                records.remove(place);
                cancelled.push(record);
            }
        }
        cancelled
    }
}

impl Records {
    fn remove(&mut self, place: usize) {
        self.slots[place] = Slot::Free { next: self.free };
        self.free = place;
    }
}
