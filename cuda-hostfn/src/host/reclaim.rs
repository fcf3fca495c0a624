//! Where things die that must not die on the driver's thread.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::counters::{self, RECLAIMED};
use super::panics::contained;
use super::stack::{Garbage, Node, Stack};
use super::{in_host_function, thread};
use crate::error::call;
use crate::sys::{CUstreamCaptureMode, cuThreadExchangeStreamCaptureMode};
use crate::{Context, Error, Result};

#[cfg(not(loom))]
static QUEUE: Stack = Stack::new();
#[cfg(loom)]
static QUEUE: std::sync::LazyLock<Stack> = std::sync::LazyLock::new(Stack::new);

/// Slots are marked as over. They hold nothing but memory, and can wait.
static SLOTS_ARE_OVER: AtomicBool = AtomicBool::new(false);

/// A driver call has failed: perhaps a context is lost, and with it what is in its streams.
static SUSPICION: AtomicBool = AtomicBool::new(false);

/// How many threads have taken the work off the callers.
static RECLAIMERS: AtomicUsize = AtomicUsize::new(0);

/// # Safety
///
/// As [`Stack::push`].
pub(super) unsafe fn push(node: *mut Node) {
    // SAFETY: the caller's promise.
    unsafe { QUEUE.push(node) };
}

/// Nearly free if that is known.
pub(super) fn slots_are_over() {
    if !SLOTS_ARE_OVER.load(Ordering::Relaxed) {
        SLOTS_ARE_OVER.store(true, Ordering::Relaxed);
    }
}

/// Runs `run` on an ordinary thread, some time.
pub(crate) fn defer(run: impl FnOnce() + Send + 'static) {
    #[repr(C)]
    struct Deferred<F> {
        node: Node,
        run: F,
    }
    unsafe fn reclaim<F: FnOnce()>(node: *mut Node) {
        // SAFETY: the node is the first field of this type, which was boxed and given up.
        let deferred = unsafe { Box::from_raw(node.cast::<Deferred<F>>()) };
        count();
        with_users_code(deferred.run);
    }
    fn node<F: FnOnce()>(run: F) -> *mut Node {
        Box::into_raw(Box::new(Deferred { node: Node::new(reclaim::<F>), run })).cast()
    }
    // SAFETY: a new node, given up.
    unsafe { push(node(run)) };
}

thread_local! {
    /// How many things this thread has reclaimed.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}

/// One thing is reclaimed.
pub(super) fn count() {
    NUMBER.set(NUMBER.get() + 1);
}

/// Runs code of the user's on an ordinary thread, in the middle of some other call. What it calls must not disturb a
/// capture that goes on around that.
pub(super) fn with_users_code(run: impl FnOnce()) {
    let _relaxed = Relaxed::new();
    contained(run);
}

/// Drops a value on an ordinary thread.
pub(super) fn dispose<T>(value: T) {
    if std::mem::needs_drop::<T>() {
        with_users_code(|| drop(value));
    }
}

pub(crate) fn suspect() {
    SUSPICION.store(true, Ordering::Relaxed);
}

/// Every call into the crate comes by here. Nearly free if there is nothing to do.
#[inline]
pub(crate) fn drain() {
    if SLOTS_ARE_OVER.load(Ordering::Relaxed) || !QUEUE.is_empty() || SUSPICION.load(Ordering::Relaxed) {
        drain_something();
    }
}

#[cold]
#[inline(never)]
fn drain_something() {
    let slots_are_over = SLOTS_ARE_OVER.load(Ordering::Relaxed) && is_turn();
    drain_if(slots_are_over || !QUEUE.is_empty(), slots_are_over);
}

/// [`drain`] for calls that come one after another, and take slots back when they need some.
#[inline]
pub(super) fn drain_in_turn() {
    drain_if(is_turn() && !QUEUE.is_empty(), false);
}

/// Once in a while: looking takes cache lines from the driver's thread.
#[inline]
fn is_turn() -> bool {
    const EVERY: u8 = 16;
    thread_local! {
        static TURN: Cell<u8> = const { Cell::new(0) };
    }
    let turn = TURN.get();
    TURN.set((turn + 1) % EVERY);
    turn == 0
}

#[inline]
fn drain_if(has_garbage: bool, slots_are_over: bool) {
    let has_work = has_garbage || SUSPICION.load(Ordering::Relaxed);
    if has_work && RECLAIMERS.load(Ordering::Relaxed) == 0 && !in_host_function() {
        drain_now(SUSPICION.swap(false, Ordering::Relaxed), slots_are_over);
    }
}

/// Whether [`drain`] would find something to do, on a thread that has nothing else to do.
pub(super) fn is_wanted() -> bool {
    (!QUEUE.is_empty() || SUSPICION.load(Ordering::Relaxed)) && RECLAIMERS.load(Ordering::Relaxed) == 0
}

#[cold]
#[inline(never)]
fn drain_now(look_for_lost: bool, take_slots_back: bool) -> u64 {
    let reclaimed = thread::reclaiming(|| {
        if look_for_lost {
            Context::all().for_each(|context| context.give_up_lost());
        }
        let before = NUMBER.get();
        while !QUEUE.is_empty() {
            QUEUE.take().for_each(Garbage::reclaim);
        }
        if take_slots_back {
            // A mark that the flag does not tell of waits for the next one, or for `reclaim`, which always looks.
            SLOTS_ARE_OVER.store(false, Ordering::Relaxed);
            Context::all().for_each(|context| context.lane().collect());
        }
        NUMBER.get() - before
    });
    let number = reclaimed.unwrap_or(0);
    counters::add(&RECLAIMED, number);
    number
}

/// Drops, on this thread, what host functions have left behind, and gives up what is lost to device faults. Says how
/// many things that were. Every other call into the crate does the same in passing, unless there is a [`Reclaimer`];
/// this is for programs that make none for a while.
///
/// # Errors
///
/// [`Error::CalledFromHostFunction`].
pub fn reclaim() -> Result<u64> {
    if in_host_function() {
        return Err(Error::CalledFromHostFunction);
    }
    SUSPICION.store(false, Ordering::Relaxed);
    Ok(drain_now(true, true))
}

/// While it lives, a background thread [reclaims](reclaim), and other calls into the crate do not. So destructors of
/// values run on that thread alone: they may take locks that callers of this crate hold.
///
/// Dropping it does not wait for the thread, which ends within the period.
#[derive(Debug)]
#[must_use = "the thread ends when this is dropped"]
pub struct Reclaimer {
    /// Dropped with the value, which the thread sees.
    _alive: std::sync::mpsc::Sender<()>,
}

impl Reclaimer {
    /// Starts the thread, which reclaims once every `period`.
    ///
    /// # Errors
    ///
    /// What the operating system answers.
    pub fn spawn(period: std::time::Duration) -> std::io::Result<Self> {
        let (alive, dropped) = std::sync::mpsc::channel();
        let run = move || {
            while dropped.recv_timeout(period) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                drain_now(true, true);
            }
            RECLAIMERS.fetch_sub(1, Ordering::Relaxed);
            drain_now(true, true);
        };
        RECLAIMERS.fetch_add(1, Ordering::Relaxed);
        match std::thread::Builder::new().name("cuda-hostfn-reclaimer".into()).spawn(run) {
            Ok(_detached) => Ok(Self { _alive: alive }),
            Err(error) => {
                RECLAIMERS.fetch_sub(1, Ordering::Relaxed);
                Err(error)
            }
        }
    }
}

/// While it lives, this thread's calls are allowed whatever captures go on, and disturb none.
#[derive(Debug)]
pub(super) struct Relaxed {
    before: CUstreamCaptureMode,
    _thread: std::marker::PhantomData<*mut ()>,
}

impl Relaxed {
    pub(super) fn new() -> Option<Self> {
        let mut mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the pointer is valid; the mode is the thread's own.
        unsafe { call!(cuThreadExchangeStreamCaptureMode(&raw mut mode)) }.ok()?;
        Some(Self { before: mode, _thread: std::marker::PhantomData })
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        // SAFETY: as above.
        let _ = unsafe { cuThreadExchangeStreamCaptureMode(ptr::from_mut(&mut self.before)) };
    }
}
