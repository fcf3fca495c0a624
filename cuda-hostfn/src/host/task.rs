//! Tasks: host functions with a result.

use std::cell::OnceCell;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use super::error::TaskError;
use super::handle::Handle;
use super::job::{Boxed, Job};
use super::panics::Panic;
use super::{executor, in_host_function, reclaim, watch};
use crate::{Context, Error, Result};

/// How often somebody who waits asks whether the context is lost: at first after a millisecond, then ever more rarely.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// How long somebody who waits keeps the processor: about the time that the driver takes to call where nothing is in the way.
/// Sleeping and being woken would take as long again.
const SPIN: Duration = Duration::from_micros(25);

/// A host function that was enqueued and returns a value: wait for it with [`join`](Self::join), or `.await` it in any
/// runtime. Dropping the task detaches it: it is called all the same, and its result is dropped by an ordinary thread.
///
/// That it **was called** says that the work before it in the stream is over, not that this work succeeded: a copy may
/// have failed with an error that the stream reports. Ask [`StreamRef::synchronize`](crate::StreamRef::synchronize) or
/// [`is_complete`](crate::StreamRef::is_complete) for that; after a device fault a task is *not* called, and answers
/// [`TaskError::Lost`].
///
/// `Send` and `Sync`.
#[must_use = "dropping a task detaches it"]
pub struct HostTask<T> {
    handle: Handle,
    context: Context,
    take: Take<T>,
    origin: Origin,
}

/// The stream that a task is in, which may be gone by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Of a task that an executor calls: the stream's id.
    Executor(u64),
    /// Of another: the address of CUDA's handle.
    Driver(usize),
}

/// Gets the outcome out of a handle, under the conditions of [`Handle::take_outcome`].
pub(super) type Take<T> = unsafe fn(&Handle) -> Option<std::result::Result<T, Panic>>;

/// # Safety
///
/// As [`Handle::take_outcome`], of a `J`.
pub(super) unsafe fn take<J: Job>(handle: &Handle) -> Option<std::result::Result<J::Output, Panic>> {
    // SAFETY: the caller's promise.
    unsafe { handle.take_outcome::<J>() }
}

/// # Safety
///
/// As [`Handle::take_outcome`], of a `Boxed<J>`.
pub(super) unsafe fn take_boxed<J: Job>(handle: &Handle) -> Option<std::result::Result<J::Output, Panic>> {
    // SAFETY: the caller's promise.
    unsafe { handle.take_outcome::<Boxed<J>>() }.map(|outcome| outcome.map(|output| *output))
}

impl<T> HostTask<T> {
    /// # Safety
    ///
    /// `take` is for the handle's job, and the job is in a stream of that context.
    pub(super) unsafe fn new(handle: Handle, take: Take<T>, context: Context, origin: Origin) -> Self {
        Self { handle, context, take, origin }
    }

    /// Whether there is nothing to wait for: the function has returned or panicked, or is lost as far as is known. May
    /// be called anywhere.
    pub fn is_finished(&self) -> bool {
        self.handle.is_over()
    }

    /// Waits until the function has returned, and gives its result. The thread spins for 25 µs, then it sleeps.
    ///
    /// Do not hold a lock meanwhile that the function, or another one in any stream, may want: see the
    /// [rules](crate::host#deadlocks).
    ///
    /// # Errors
    ///
    /// [`TaskError::Panicked`] has the payload; [`TaskError::Lost`] after a device fault, within a fraction of a second
    /// of the driver's noticing. [`TaskError::CalledFromHostFunction`] and [`TaskError::WouldDeadlock`], which detach the
    /// task.
    pub fn join(self) -> Result<T, TaskError> {
        self.check_no_deadlock().map_err(|_| TaskError::WouldDeadlock)?;
        self.join_anyway()
    }

    /// [`join`](Self::join) for who knows that it ends.
    pub(super) fn join_anyway(self) -> Result<T, TaskError> {
        self.wait(None).map_err(|_| TaskError::CalledFromHostFunction)?;
        self.outcome()
    }

    /// Waits for at most `timeout`; true says that [`join`](Self::join) will not wait.
    ///
    /// # Errors
    ///
    /// [`Error::CalledFromHostFunction`]; [`Error::WouldDeadlock`] if it would be for the whole of `timeout`.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Result<bool> {
        self.check_no_deadlock()?;
        self.wait(Instant::now().checked_add(timeout))
    }

    fn check_no_deadlock(&self) -> Result<()> {
        // What comes before a closure in its stream is finished.
        let is_behind = || executor::is_in_own_stream(&self.context, self.origin);
        if !self.is_finished() && is_behind() { Err(Error::WouldDeadlock) } else { Ok(()) }
    }

    fn wait(&self, deadline: Option<Instant>) -> Result<bool> {
        if in_host_function() {
            return Err(Error::CalledFromHostFunction);
        }
        reclaim::drain();
        if self.is_finished() || self.spin(deadline) {
            return Ok(true);
        }
        self.handle.wake(Some(&waker_of_thread()));
        let is_finished = self.park(deadline);
        self.handle.wake(None);
        Ok(is_finished)
    }

    /// Whether it is finished before it is worth while to sleep.
    fn spin(&self, deadline: Option<Instant>) -> bool {
        let end = Instant::now() + SPIN;
        let end = deadline.map_or(end, |deadline| deadline.min(end));
        while Instant::now() < end {
            std::hint::spin_loop();
            if self.is_finished() {
                return true;
            }
        }
        false
    }

    fn park(&self, deadline: Option<Instant>) -> bool {
        let mut pause = Duration::from_millis(1);
        let mut look = Instant::now() + pause;
        while !self.is_finished() {
            let now = Instant::now();
            if deadline.is_some_and(|deadline| deadline <= now) {
                return false;
            }
            if look <= now {
                self.context.give_up_lost();
                pause = (2 * pause).min(LONGEST_PAUSE);
                look = now + pause;
                continue;
            }
            std::thread::park_timeout(deadline.map_or(look, |deadline| deadline.min(look)) - now);
        }
        true
    }

    /// The record is over.
    fn outcome(&self) -> Result<T, TaskError> {
        if self.handle.header().state.is_cancelled() {
            let unknown = Error::invalid("context", "lost");
            return Err(TaskError::Lost(self.context.lane().fault().cloned().unwrap_or(unknown)));
        }
        // SAFETY: it has run; this handle is the only one.
        let outcome = unsafe { (self.take)(&self.handle) };
        outcome.expect("a result is taken once").map_err(TaskError::Panicked)
    }
}

/// Ready when the function has returned; the driver's thread wakes. While a task is pending, a thread of this crate
/// looks at its context now and then, so that [`TaskError::Lost`] comes here too.
impl<T> Future for HostTask<T> {
    type Output = Result<T, TaskError>;

    fn poll(self: Pin<&mut Self>, context: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        if !self.is_finished() {
            if in_host_function() {
                return Poll::Ready(Err(TaskError::CalledFromHostFunction));
            }
            reclaim::drain();
            self.handle.wake(Some(context.waker()));
            watch::watch(&self.context);
            if !self.is_finished() {
                return Poll::Pending;
            }
        }
        Poll::Ready(self.outcome())
    }
}

impl<T> fmt::Debug for HostTask<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostTask").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}

/// Wakes a thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Made once: nothing is allocated by who waits, and nothing freed by the driver's thread.
fn waker_of_thread() -> Waker {
    let new = || Waker::from(Arc::new(Unpark(std::thread::current())));
    thread_local! {
        static WAKER: OnceCell<Waker> = const { OnceCell::new() };
    }
    // A thread that is ending has none.
    WAKER.try_with(|waker| waker.get_or_init(new).clone()).unwrap_or_else(|_| new())
}
