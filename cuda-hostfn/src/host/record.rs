//! The record of one call: what the driver is given the address of.
//!
//! It has up to two owners, who share it by a count of references:
//!
//! * the **driver**, from the moment it is given the address. After the call, its reference goes through the
//!   [reclaim](super::reclaim) queue to an ordinary thread. After a device fault the driver never calls, and may keep
//!   the address for ever: what the record owns is taken out then, and the rest, a few hundred bytes at most, stays.
//! * the **handle**: of the thread that enqueues, and then of the task.
//!
//! [`State`] says who may touch the job and the outcome.

use std::cell::UnsafeCell;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::task::Waker;

use parking_lot::Mutex;

use super::counters::{self, LOST};
use super::job::Job;
use super::lane::Links;
use super::panics::{Panic, contained, guarded, report};
use super::stack::Node;
use super::state::State;
use super::{reclaim, thread};
use crate::Context;

/// What the record of every job begins with.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Header {
    node: Node,
    table: &'static Table,
    /// Keeps the context and its lane. It belongs to the driver's reference.
    context: UnsafeCell<Option<Context>>,
    pub(super) links: Links,
    references: AtomicU32,
    pub(super) state: State,
    /// The driver has accepted the call. Before, nobody but the enqueuing thread may cancel it.
    is_accepted: AtomicBool,
    /// Who waits for the task.
    waker: Mutex<Option<Waker>>,
}

/// What depends on the job's type.
#[derive(Debug)]
struct Table {
    /// Runs the job and keeps the outcome. The winner of `start` calls it.
    run: unsafe fn(*const Header),
    /// Drops the job. The winner of `release` or `cancel` calls it.
    drop_job: unsafe fn(*const Header),
    /// Drops the outcome and frees the record. The last owner calls it.
    free: unsafe fn(*mut Header),
    is_task: bool,
}

#[repr(C)]
struct Record<J: Job> {
    header: Header,
    outcome: UnsafeCell<Option<Result<J::Output, Panic>>>,
    /// `None` once it is dropped or taken out.
    job: UnsafeCell<Option<J>>,
}

impl<J: Job> Record<J> {
    const TABLE: Table = Table { run: Self::run, drop_job: Self::drop_job, free: Self::free, is_task: J::IS_TASK };

    unsafe fn run(header: *const Header) {
        // SAFETY: the header of such a record.
        let record = unsafe { &*header.cast::<Self>() };
        // SAFETY: the winner of `start` has the job to itself.
        let job = unsafe { &mut *record.job.get() };
        let Some(job) = job else { return };
        let outcome = guarded(|| job.run());
        if let (false, Err(panic)) = (J::IS_TASK, &outcome) {
            report(panic);
        }
        // SAFETY: and the outcome.
        unsafe { *record.outcome.get() = Some(outcome) };
    }

    unsafe fn drop_job(header: *const Header) {
        // SAFETY: the header of such a record.
        let record = unsafe { &*header.cast::<Self>() };
        // SAFETY: the winner has the job to itself.
        let job = unsafe { &mut *record.job.get() }.take();
        reclaim::dispose(job);
    }

    unsafe fn free(header: *mut Header) {
        // SAFETY: the header of such a record, which was boxed; the last owner frees it.
        let mut record = unsafe { Box::from_raw(header.cast::<Self>()) };
        if let (true, Some(Err(panic))) = (J::IS_TASK, &*record.outcome.get_mut()) {
            report(panic);
        }
        reclaim::dispose(record);
    }
}

/// Frees what the driver no longer needs.
unsafe fn reclaim_record(node: *mut Node) {
    let header = node.cast::<Header>();
    // SAFETY: the node is the header's first field, and the driver's reference came with it.
    let record = unsafe { &*header };
    // SAFETY: the context belongs to the driver's reference.
    let context = unsafe { (*record.context.get()).take() };
    if let Some(context) = &context {
        // SAFETY: the record entered the lane of its context.
        unsafe { context.lane().remove(record) };
    }
    if record.state.release() {
        // SAFETY: `release` was won.
        unsafe { (record.table.drop_job)(header) };
    }
    // SAFETY: the driver's reference.
    unsafe { give_back(header) };
    drop(context);
}

/// # Safety
///
/// The caller owns a reference, and does not use it any more.
unsafe fn give_back(header: *mut Header) {
    // SAFETY: the caller's reference keeps the record.
    let record = unsafe { &*header };
    if record.references.fetch_sub(1, Ordering::Release) == 1 {
        fence(Ordering::Acquire);
        // SAFETY: that was the last one.
        unsafe { (record.table.free)(header) };
    }
}

impl Header {
    /// The host function: the driver's thread calls it once.
    ///
    /// # Safety
    ///
    /// `header` is the address that the driver was given.
    pub(super) unsafe fn call(header: *mut Self) {
        // SAFETY: the driver's reference keeps the record.
        let record = unsafe { &*header };
        if !record.state.start() {
            return;
        }
        // SAFETY: `start` was won.
        thread::host_function(|| unsafe { (record.table.run)(header) });
        // SAFETY: the context belongs to the driver's reference.
        if let Some(context) = unsafe { &*record.context.get() } {
            context.lane().one_is_over();
        }
        record.state.finish();
        let waker = if record.table.is_task { record.waker.lock().take() } else { None };
        // SAFETY: the record is in no stack, and the driver is done with it.
        unsafe { reclaim::push(header.cast()) };
        if let Some(waker) = waker {
            thread::host_function(|| contained(|| waker.wake()));
        }
    }

    pub(super) fn cancel_if_accepted(&self) -> bool {
        self.is_accepted.load(Ordering::SeqCst) && self.state.cancel()
    }

    /// Takes out what a lost record owns; the driver keeps the rest.
    ///
    /// # Safety
    ///
    /// The caller has cancelled the record and taken it out of its lane.
    pub(super) unsafe fn lose(header: *const Self) {
        // SAFETY: the driver's reference is never given back.
        let record = unsafe { &*header };
        // SAFETY: with `cancel`, the driver's part came to the caller.
        let context = unsafe { (*record.context.get()).take() };
        if let Some(context) = &context {
            context.lane().one_is_over();
        }
        counters::add(&LOST, 1);
        bury(header);
        // SAFETY: `cancel` was won.
        unsafe { (record.table.drop_job)(header) };
        let waker = record.waker.lock().take();
        if let Some(waker) = waker {
            contained(|| waker.wake());
        }
        drop(context);
    }
}

/// Keeps the addresses of what is never freed, for leak checkers to find.
fn bury(header: *const Header) {
    struct Graves(Vec<*const Header>);
    // SAFETY: nobody follows the pointers.
    unsafe impl Send for Graves {}
    static GRAVES: Mutex<Graves> = Mutex::new(Graves(Vec::new()));
    GRAVES.lock().0.push(header);
}

/// An owner of a record other than the driver.
#[derive(Debug)]
pub(super) struct Handle(NonNull<Header>);

// SAFETY: jobs and outcomes are `Send`, and the rest of a record is made for several threads.
unsafe impl Send for Handle {}
// SAFETY: as above; a shared handle only looks at the state and sets the waker.
unsafe impl Sync for Handle {}

impl Handle {
    /// A record in the lane of its context, for the driver.
    pub(super) fn new<J: Job>(context: &Context, job: J) -> Self {
        let record = Box::into_raw(Box::new(Record {
            header: Header {
                node: Node::new(reclaim_record),
                table: &Record::<J>::TABLE,
                context: UnsafeCell::new(Some(context.clone())),
                links: Links::new(),
                references: AtomicU32::new(2),
                state: State::new(),
                is_accepted: AtomicBool::new(false),
                waker: Mutex::new(None),
            },
            outcome: UnsafeCell::new(None),
            job: UnsafeCell::new(Some(job)),
        }));
        // SAFETY: not null; the header is the first field.
        let handle = Self(unsafe { NonNull::new_unchecked(record.cast()) });
        // SAFETY: the record is new, and taken out before the driver's reference goes.
        unsafe { context.lane().insert(handle.header()) };
        handle
    }

    pub(super) fn header(&self) -> &Header {
        // SAFETY: the handle's reference keeps the record.
        unsafe { self.0.as_ref() }
    }

    pub(super) fn as_ptr(&self) -> *mut Header {
        self.0.as_ptr()
    }

    /// The driver has accepted the call.
    pub(super) fn accepted(&self) {
        self.header().is_accepted.store(true, Ordering::SeqCst);
    }

    /// The driver has refused the call: takes the job out, unless it has run for all that. If the driver may have kept
    /// the address nevertheless, the record stays.
    ///
    /// # Safety
    ///
    /// The handle was made from a `J`, was not [accepted](Self::accepted), and its record is in the lane of `context`.
    pub(super) unsafe fn refused<J: Job>(self, context: &Context, is_certain: bool) -> Result<J, Self> {
        let record = self.header();
        if !record.state.cancel() {
            return Err(self);
        }
        // SAFETY: the caller's promise.
        unsafe { context.lane().remove(record) };
        context.lane().one_is_over();
        // SAFETY: the record of such a job, says the caller.
        let typed = unsafe { &*self.0.as_ptr().cast::<Record<J>>() };
        // SAFETY: `cancel` was won.
        let job = unsafe { &mut *typed.job.get() }.take();
        // SAFETY: with `cancel`, the driver's part came to this thread.
        drop(unsafe { (*record.context.get()).take() });
        if is_certain {
            // SAFETY: the driver's reference, which it did not take.
            unsafe { give_back(self.0.as_ptr()) };
        } else {
            bury(self.0.as_ptr());
        }
        job.ok_or(self)
    }

    /// The driver may call any number of times, at any time: the record stays.
    pub(super) fn keep_for_ever(&self) {
        self.header().references.fetch_add(1, Ordering::Relaxed);
        bury(self.0.as_ptr());
    }

    /// Whether there is nothing to wait for.
    pub(super) fn is_over(&self) -> bool {
        self.header().state.has_run() || self.header().state.is_cancelled()
    }

    /// Wakes `waker` when the record is over; another that was set before is forgotten.
    pub(super) fn wake(&self, waker: Option<&Waker>) {
        let waker = waker.cloned();
        let before = std::mem::replace(&mut *self.header().waker.lock(), waker);
        drop(before);
    }

    /// Takes the outcome, and drops the job at once.
    ///
    /// # Safety
    ///
    /// The handle was made from a `J`, which [has run](State::has_run), and no other thread uses it.
    pub(super) unsafe fn take_outcome<J: Job>(&self) -> Option<Result<J::Output, Panic>> {
        let record = self.header();
        if record.state.release() {
            // SAFETY: `release` was won.
            unsafe { (record.table.drop_job)(self.0.as_ptr()) };
        }
        // SAFETY: the record of such a job, says the caller.
        let typed = unsafe { &*self.0.as_ptr().cast::<Record<J>>() };
        // SAFETY: the outcome belongs to the handle now.
        unsafe { &mut *typed.outcome.get() }.take()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let header = self.0;
        if super::in_host_function() {
            let later = Self(header);
            return reclaim::defer(move || drop(later));
        }
        // SAFETY: the handle's reference.
        unsafe { give_back(header.as_ptr()) };
    }
}

/// A record may stay behind for ever: larger jobs and results are boxed.
pub(super) const fn is_small<J: Job>() -> bool {
    size_of::<Record<J>>() <= 256
}

const _: () = assert!(ptr::null::<Header>().is_null() && size_of::<Header>() <= 128);
