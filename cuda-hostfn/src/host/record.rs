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
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::task::Waker;

use parking_lot::Mutex;

use super::counters::{self, LOST};
use super::job::Job;
use super::lane::Place;
use super::panics::{Panic, contained, guarded, report};
use super::stack::Node;
use super::state::State;
use super::{block, reclaim, thread};
use crate::Context;

/// What the record of every job begins with.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Header {
    node: Node,
    pub(super) table: &'static Table,
    /// Keeps the context and its lane. It belongs to the driver's reference.
    pub(super) context: UnsafeCell<Option<Context>>,
    pub(super) place: Place,
    pub(super) references: AtomicU32,
    pub(super) state: State,
    /// The driver has accepted the call. Before, nobody but the enqueuing thread may cancel it.
    pub(super) is_accepted: AtomicBool,
}

/// What depends on the job's type.
#[derive(Debug)]
pub(super) struct Table {
    /// Runs the job and keeps the outcome. The winner of `start` calls it.
    run: unsafe fn(*const Header),
    /// Drops the job. The winner of `release` or `cancel` calls it.
    pub(super) drop_job: unsafe fn(*const Header),
    /// Drops the outcome and frees the record. The last owner calls it.
    free: unsafe fn(*mut Header),
    is_task: bool,
    /// There is something to be dropped when the job has run.
    has_values: bool,
    /// Where in the record [`Record::waker`] is.
    waker_at: usize,
}

/// What the driver's thread needs for every call comes first: a cache line from another processor costs as much as ten
/// instructions of the driver's.
#[repr(C)]
pub(super) struct Record<J: Job> {
    header: Header,
    /// `None` once it is dropped or taken out.
    pub(super) job: UnsafeCell<Option<J>>,
    /// Who waits for the task.
    waker: Mutex<Option<Waker>>,
    /// A task's; nobody wants another's.
    pub(super) outcome: UnsafeCell<Option<Result<J::Output, Panic>>>,
}

impl<J: Job> Record<J> {
    const TABLE: Table = Table {
        run: Self::run,
        drop_job: Self::drop_job,
        free: Self::free,
        is_task: J::IS_TASK,
        has_values: J::IS_TASK || std::mem::needs_drop::<J>(),
        waker_at: std::mem::offset_of!(Record<J>, waker),
    };

    /// With two owners: the driver and a handle.
    pub(super) fn new(context: Context, job: J) -> Self {
        let header = Header {
            node: Node::new(reclaim_record),
            table: &Self::TABLE,
            context: UnsafeCell::new(Some(context)),
            place: Place::new(),
            references: AtomicU32::new(2),
            state: State::new(),
            is_accepted: AtomicBool::new(false),
        };
        let (job, waker, outcome) = (UnsafeCell::new(Some(job)), Mutex::new(None), UnsafeCell::new(None));
        Self { header, job, waker, outcome }
    }

    unsafe fn run(header: *const Header) {
        // SAFETY: the header of such a record.
        let record = unsafe { &*header.cast::<Self>() };
        // SAFETY: the winner of `start` has the job to itself.
        let job = unsafe { &mut *record.job.get() };
        let Some(job) = job else { return };
        let outcome = guarded(|| job.run());
        if J::IS_TASK {
            // SAFETY: and the outcome.
            unsafe { *record.outcome.get() = Some(outcome) };
        } else if let Err(panic) = outcome {
            report(&panic);
            reclaim::defer(move || drop(panic));
        }
    }

    unsafe fn drop_job(header: *const Header) {
        // SAFETY: the header of such a record.
        let record = unsafe { &*header.cast::<Self>() };
        // SAFETY: the winner has the job to itself.
        let job = unsafe { &mut *record.job.get() }.take();
        reclaim::dispose(job);
    }

    unsafe fn free(header: *mut Header) {
        // SAFETY: the header of such a record; the last owner has it to itself.
        let record = unsafe { &mut *header.cast::<Self>() };
        let outcome = record.outcome.get_mut().take();
        // SAFETY: records are made by `block::new`.
        unsafe { block::free(NonNull::from(record)) };
        match outcome {
            Some(Ok(output)) => reclaim::dispose(output),
            Some(Err(panic)) => {
                report(&panic);
                reclaim::dispose(panic);
            }
            None => {}
        }
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
pub(super) unsafe fn give_back(header: *mut Header) {
    // SAFETY: the caller's reference keeps the record.
    let record = unsafe { &*header };
    if record.references.fetch_sub(1, Ordering::Release) == 1 {
        fence(Ordering::Acquire);
        // SAFETY: that was the last one.
        unsafe { (record.table.free)(header) };
    }
}

/// # Safety
///
/// A record begins there, and lives for `'a`.
pub(super) unsafe fn waker<'a>(header: *const Header) -> &'a Mutex<Option<Waker>> {
    // SAFETY: a record begins there.
    let offset = unsafe { &*header }.table.waker_at;
    // SAFETY: its waker is inside it.
    let waker = unsafe { header.byte_add(offset) };
    // SAFETY: as above.
    unsafe { &*waker.cast() }
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
        // SAFETY: the driver's reference keeps the record.
        let waker = if record.table.is_task { unsafe { waker(header) }.lock().take() } else { None };
        let push = if record.table.has_values { reclaim::push } else { reclaim::push_memory };
        // SAFETY: the record is in no stack, and the driver is done with it.
        unsafe { push(header.cast()) };
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
        // SAFETY: the driver's reference is never given back.
        let waker = unsafe { waker(header) }.lock().take();
        if let Some(waker) = waker {
            contained(|| waker.wake());
        }
        drop(context);
    }
}

/// Keeps the addresses of what is never freed, for leak checkers to find.
pub(super) fn bury(header: *const Header) {
    struct Graves(Vec<*const Header>);
    // SAFETY: nobody follows the pointers.
    unsafe impl Send for Graves {}
    static GRAVES: Mutex<Graves> = Mutex::new(Graves(Vec::new()));
    GRAVES.lock().0.push(header);
}

/// A record may stay behind for ever: larger jobs and results are boxed.
pub(super) const fn is_small<J: Job>() -> bool {
    size_of::<Record<J>>() <= 256
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Header>() <= 48, "with a small closure it fits a cache line");
