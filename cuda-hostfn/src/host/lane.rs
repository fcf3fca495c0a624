//! What is in the streams of one context: found here when the context is lost.
//!
//! Only ordinary threads take the lock, each for a few instructions; the driver's thread never does.

use std::cell::Cell;
use std::ptr;
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

#[derive(Debug)]
struct Records {
    first: *const Header,
    /// How many ever were here.
    entered: u64,
}

// SAFETY: records are used by several threads by their own rules; the pointers are used under the lock.
unsafe impl Send for Records {}

/// A record's neighbours. They belong to the lane's lock.
#[derive(Debug)]
pub(super) struct Links {
    previous: Cell<*const Header>,
    next: Cell<*const Header>,
}

impl Links {
    pub(super) const fn new() -> Self {
        Self { previous: Cell::new(ptr::null()), next: Cell::new(ptr::null()) }
    }
}

impl Lane {
    pub(crate) const fn new() -> Self {
        let records = Records { first: ptr::null(), entered: 0 };
        Self { records: Mutex::new(records), over: Apart(AtomicU64::new(0)), fault: OnceLock::new() }
    }

    /// # Safety
    ///
    /// The record is in no lane, and lives until [`Lane::remove`] or [`Lane::give_up`] takes it out.
    pub(super) unsafe fn insert(&self, record: &Header) {
        let mut records = self.records.lock();
        record.links.next.set(records.first);
        // SAFETY: what is in the list lives.
        if let Some(first) = unsafe { records.first.as_ref() } {
            first.links.previous.set(record);
        }
        records.first = record;
        records.entered += 1;
    }

    /// # Safety
    ///
    /// The record is in this lane.
    pub(super) unsafe fn remove(&self, record: &Header) {
        // SAFETY: the caller's promise.
        unsafe { self.records.lock().remove(record) };
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
        let mut next = records.first;
        // SAFETY: what is in the list lives.
        while let Some(record) = unsafe { next.as_ref() } {
            next = record.links.next.get();
            if record.cancel_if_accepted() {
                // SAFETY: the record was found in this list.
                unsafe { records.remove(record) };
                cancelled.push(ptr::from_ref(record));
            }
        }
        cancelled
    }
}

impl Records {
    /// # Safety
    ///
    /// The record is in this list.
    unsafe fn remove(&mut self, record: &Header) {
        let (previous, next) = (record.links.previous.get(), record.links.next.get());
        // SAFETY: a neighbour in the list lives.
        match unsafe { previous.as_ref() } {
            Some(previous) => previous.links.next.set(next),
            None => self.first = next,
        }
        // SAFETY: as above.
        if let Some(next) = unsafe { next.as_ref() } {
            next.links.previous.set(previous);
        }
    }
}
