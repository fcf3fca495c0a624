//! A hook for those who want to see host functions come and go.

use std::mem;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::panics::contained;
use super::record::Header;

/// What is told of host functions: see [`set_hook`].
pub type Hook = fn(Call, Moment);

/// Which one: no two that are in streams at a time are equal. It is used again when the call is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call(usize);

/// A moment in the life of a closure, a task or a retired value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Moment {
    /// The driver has accepted it. Told by the thread that enqueues, perhaps after the driver's thread has told more.
    Enqueued,
    /// It is about to run. Told on the driver's thread, or an executor's, which waits for the hook.
    Started,
    /// It has returned or panicked. Told on that thread, which waits for the hook, before anybody who waits for the task
    /// wakes up.
    Finished,
    /// After a fault, it will never be called. Told by whatever thread found out.
    Lost,
}

/// NULL, or a [`Hook`].
static HOOK: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// Sets what is told of each closure, task and retired value in a stream; `None`, the default, costs a load at each
/// moment. What was captured into a graph is not told.
///
/// On the driver's thread, a hook may not call CUDA, and all host functions of the process wait while it runs. A panic of
/// it is counted like one of a destructor.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use cuda_hostfn::host::{Moment, set_hook};
///
/// static STARTED: AtomicU64 = AtomicU64::new(0);
///
/// set_hook(Some(|_call, moment| {
///     if moment == Moment::Started {
///         STARTED.fetch_add(1, Ordering::Relaxed);
///     }
/// }));
/// # set_hook(None);
/// ```
pub fn set_hook(hook: Option<Hook>) {
    HOOK.store(hook.map_or(ptr::null_mut(), |hook| hook as *mut ()), Ordering::Relaxed);
}

/// Nearly free without a hook.
#[inline]
pub(super) fn tell(record: NonNull<Header>, moment: Moment) {
    let hook = HOOK.load(Ordering::Relaxed);
    if !hook.is_null() {
        tell_now(hook, Call(record.addr().get()), moment);
    }
}

#[cold]
fn tell_now(hook: *mut (), call: Call, moment: Moment) {
    // SAFETY: `set_hook` stores nothing else but NULL.
    let hook = unsafe { mem::transmute::<*mut (), Hook>(hook) };
    contained(|| hook(call, moment));
}
