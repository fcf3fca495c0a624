//! The record of one call: what the driver is given the address of.
//!
//! It has up to two owners, who share it by a count of references:
//!
//! * the **driver**, from the moment it is given the address. Its reference ends after the call: at once if the record
//!   has nothing to be dropped, otherwise on the ordinary thread that [reclaims](super::reclaim) it. After a device fault
//!   the driver never calls, and may keep the address for ever: what the record owns is taken out then, and its
//!   [slot](super::block) is not used again.
//! * the **handle**: of the thread that enqueues, and then of the task.
//!
//! [`State`] says who may touch the job and the outcome.

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::Waker;

use parking_lot::Mutex;

use super::block;
use super::counters::{self, LOST};
use super::hook::{self, Moment};
use super::job::Job;
use super::panics::{Panic, contained, guarded, report};
use super::reclaim as queue;
use super::state::State;

/// What the record of every job begins with.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Header {
    /// Of the slot in its block; never changes.
    pub(super) index: u8,
    pub(super) state: State,
    /// The driver has accepted the call, says the task. Before, nobody but the enqueuing thread may cancel it.
    is_accepted: AtomicBool,
    references: AtomicU32,
    table: UnsafeCell<&'static Table>,
    /// What an executor's stream waits for.
    number: AtomicU64,
}

/// Who calls a record: a thread of the driver's, or a worker for a stream.
pub(super) trait Caller {
    /// Runs the user's closure and hooks.
    fn run(&self, run: impl FnOnce());

    /// The closure has returned, and its outcome can be seen.
    fn over(&self);

    /// Runs a waker, which may panic.
    fn wake(&self, wake: impl FnOnce());
}

/// What depends on the job's type.
#[derive(Debug)]
pub(super) struct Table {
    /// Runs the job and keeps the outcome. The winner of `start` calls it.
    run: unsafe fn(NonNull<Header>),
    /// Drops the job. The winner of `release` or `cancel` calls it.
    pub(super) drop_job: unsafe fn(NonNull<Header>),
    /// Drops the outcome and hands the slot back. The last owner calls it.
    free: unsafe fn(NonNull<Header>),
    is_task: bool,
    /// There is something to be dropped when the job has run.
    has_values: bool,
    /// Where in the record its waker is.
    waker_at: usize,
}

/// What the driver's thread needs for every call comes first.
#[repr(C)]
pub(super) struct Record<J: Job> {
    header: Header,
    pub(super) payload: Payload<J>,
}

#[repr(C)]
pub(super) struct Payload<J: Job> {
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
        waker_at: std::mem::offset_of!(Record<J>, payload.waker),
    };

    /// Whether it has room in a slot.
    pub(super) const FITS: bool = block::fits::<Self>();

    /// A record with two owners: the driver and a handle.
    ///
    /// # Safety
    ///
    /// The slot was [taken](super::lane::Lane::take), and is not used yet.
    pub(super) unsafe fn write(slot: NonNull<Header>, job: J) {
        assert!(Self::FITS, "larger jobs are boxed");
        let record = slot.cast::<Self>().as_ptr();
        // SAFETY: the slot is large enough for a record.
        let payload = unsafe { &raw mut (*record).payload };
        let (job, waker, outcome) = (UnsafeCell::new(Some(job)), Mutex::new(None), UnsafeCell::new(None));
        // SAFETY: the slot is the caller's; others look at no more than the header's state.
        unsafe { payload.write(Payload { job, waker, outcome }) };
        // SAFETY: headers are never uninitialised.
        let header = unsafe { slot.as_ref() };
        header.is_accepted.store(false, Ordering::Relaxed);
        header.references.store(2, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { *header.table.get() = &Self::TABLE };
        header.state.enqueue();
    }

    /// # Safety
    ///
    /// Such a record begins there, and lives for `'a`.
    pub(super) unsafe fn payload<'a>(header: NonNull<Header>) -> &'a Payload<J> {
        // SAFETY: the caller's promise.
        &unsafe { header.cast::<Self>().as_ref() }.payload
    }

    unsafe fn run(header: NonNull<Header>) {
        // SAFETY: the driver's reference keeps such a record.
        let payload = unsafe { Self::payload(header) };
        // SAFETY: the winner of `start` has the job to itself.
        let job = unsafe { &mut *payload.job.get() };
        let Some(job) = job else { return };
        let outcome = guarded(|| job.run());
        if J::IS_TASK {
            // SAFETY: and the outcome.
            unsafe { *payload.outcome.get() = Some(outcome) };
        } else if let Err(panic) = outcome {
            report(&panic);
            queue::defer(move || drop(panic));
        }
    }

    unsafe fn drop_job(header: NonNull<Header>) {
        // SAFETY: the caller has a reference to such a record.
        let payload = unsafe { Self::payload(header) };
        // SAFETY: the winner has the job to itself.
        let job = unsafe { &mut *payload.job.get() }.take();
        queue::dispose(job);
    }

    unsafe fn free(header: NonNull<Header>) {
        // SAFETY: the caller had the last reference to such a record.
        let payload = unsafe { Self::payload(header) };
        // SAFETY: and has it to itself.
        let outcome = if J::IS_TASK { unsafe { &mut *payload.outcome.get() }.take() } else { None };
        // One that was set after the driver's thread had looked.
        let waker = if J::IS_TASK { payload.waker.lock().take() } else { None };
        // SAFETY: nobody uses the record any more.
        unsafe { block::hand_back(header) };
        if let Some(waker) = waker {
            queue::dispose(waker);
        }
        match outcome {
            Some(Ok(output)) => queue::dispose(output),
            Some(Err(panic)) => {
                report(&panic);
                queue::dispose(panic);
            }
            None => {}
        }
    }
}

/// Drops what the driver's thread could not.
///
/// # Safety
///
/// The record's job has run. The driver's reference comes with it.
pub(super) unsafe fn reclaim(header: NonNull<Header>) {
    // SAFETY: the reference keeps the record.
    let record = unsafe { header.as_ref() };
    if record.state.release() {
        // SAFETY: `release` was won.
        unsafe { (record.table().drop_job)(header) };
    }
    // SAFETY: the driver's reference.
    unsafe { give_back(header) };
}

/// # Safety
///
/// The caller owns a reference, and does not use it any more. On the driver's thread, the record has no values.
pub(super) unsafe fn give_back(header: NonNull<Header>) {
    // SAFETY: the caller's reference keeps the record.
    let record = unsafe { header.as_ref() };
    let table = record.table();
    // The only owner needs not count.
    let is_last =
        record.references.load(Ordering::Acquire) == 1 || record.references.fetch_sub(1, Ordering::SeqCst) == 1;
    if is_last {
        // SAFETY: that was the last one.
        unsafe { (table.free)(header) };
    }
}

/// # Safety
///
/// A task's record begins there, and lives for `'a`.
pub(super) unsafe fn waker<'a>(header: NonNull<Header>) -> &'a Mutex<Option<Waker>> {
    // SAFETY: a record begins there.
    let offset = unsafe { header.as_ref() }.table().waker_at;
    // SAFETY: its waker is inside it.
    let waker = unsafe { header.byte_add(offset) };
    // SAFETY: as above.
    unsafe { waker.cast().as_ref() }
}

impl Header {
    /// Of a slot that nobody uses.
    pub(super) fn vacant(index: u8) -> Self {
        const NONE: Table =
            Table { run: |_| (), drop_job: |_| (), free: |_| (), is_task: false, has_values: false, waker_at: 0 };
        let (is_accepted, references) = (AtomicBool::new(false), AtomicU32::new(0));
        let number = AtomicU64::new(0);
        Self { index, state: State::vacant(), is_accepted, references, table: UnsafeCell::new(&NONE), number }
    }

    /// For an executor's stream. The enqueuing thread says so.
    pub(super) fn number_is(&self, number: u64) {
        self.number.store(number, Ordering::Relaxed);
    }

    pub(super) fn number(&self) -> u64 {
        self.number.load(Ordering::Relaxed)
    }

    pub(super) fn table(&self) -> &'static Table {
        // SAFETY: written before the record had an owner.
        unsafe { *self.table.get() }
    }

    /// The stream has got to the call, which happens once. Says whether the job was still there.
    ///
    /// # Safety
    ///
    /// `header` is the address that the driver was given.
    pub(super) unsafe fn call(header: NonNull<Self>, caller: &impl Caller) -> bool {
        // SAFETY: the driver's reference keeps the record.
        let record = unsafe { header.as_ref() };
        if !record.state.start() {
            return false;
        }
        let table = record.table();
        // SAFETY: `start` was won.
        let run = || unsafe { (table.run)(header) };
        caller.run(|| {
            hook::tell(header, Moment::Started);
            run();
            hook::tell(header, Moment::Finished);
        });
        record.state.finish();
        caller.over();
        if !table.has_values {
            // SAFETY: the driver is done with the record, and its reference ends.
            unsafe { give_back(header) };
            return true;
        }
        // SAFETY: the driver's reference keeps the record.
        let waker = if table.is_task { unsafe { waker(header) }.lock().take() } else { None };
        // SAFETY: the driver is done with the record.
        unsafe { block::discard(header) };
        if let Some(waker) = waker {
            caller.wake(|| waker.wake());
        }
        true
    }

    /// The driver has accepted the call of a task.
    pub(super) fn accepted(&self) {
        self.is_accepted.store(true, Ordering::SeqCst);
    }

    /// Of what was accepted, and did not start.
    pub(super) fn cancel_if_accepted(&self) -> bool {
        // While it waits for its call, one reference is the driver's: the enqueuing thread has given up its own.
        let is_accepted = || self.is_accepted.load(Ordering::SeqCst) || self.references.load(Ordering::SeqCst) == 1;
        self.state.is_queued() && is_accepted() && self.state.cancel()
    }

    /// The driver may call any number of times, at any time: the slot stays in use, and the context with it.
    pub(super) fn keep_for_ever(&self) {
        self.references.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes out what a lost record owns; the driver keeps the rest.
    ///
    /// # Safety
    ///
    /// The caller has cancelled the record and taken it out of its lane.
    pub(super) unsafe fn lose(header: NonNull<Self>) {
        // SAFETY: the driver's reference is never given back.
        let table = unsafe { header.as_ref() }.table();
        counters::add(&LOST, 1);
        hook::tell(header, Moment::Lost);
        // SAFETY: `cancel` was won.
        unsafe { (table.drop_job)(header) };
        // SAFETY: the driver's reference is never given back.
        let waker = if table.is_task { unsafe { waker(header) }.lock().take() } else { None };
        if let Some(waker) = waker {
            contained(|| waker.wake());
        }
    }
}

/// Keeps the address of what is never freed, for leak checkers to find.
pub(super) fn bury(block: NonNull<()>) {
    struct Graves(Vec<NonNull<()>>);
    // SAFETY: nobody follows the pointers.
    unsafe impl Send for Graves {}
    static GRAVES: Mutex<Graves> = Mutex::new(Graves(Vec::new()));
    GRAVES.lock().0.push(block);
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Header>() <= 24, "with a small closure it fits a cache line");
