//! Panics end here: none leaves for the driver, and none that came of cleaning up after another.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::RwLock;

use super::counters::{self, PANICS, SECONDARY_PANICS};
use super::reclaim;

type Payload = Box<dyn Any + Send>;
/// What is told of panics: see [`set_panic_handler`].
pub type PanicHandler = Box<dyn Fn(&Panic) + Send + Sync>;

/// Boxed inside, so that the last owner can take it out and hand it on.
type Handler = Arc<PanicHandler>;

/// What a closure panicked with.
pub struct Panic(Payload);

// SAFETY: the payload is reached by shared reference only as text, which is `Sync`.
unsafe impl Sync for Panic {}

impl Panic {
    /// The text, if the closure panicked with one, as `panic!` does.
    pub fn message(&self) -> Option<&str> {
        let payload = &*self.0;
        payload.downcast_ref::<&'static str>().copied().or_else(|| payload.downcast_ref().map(String::as_str))
    }

    /// The payload, for [`std::panic::resume_unwind`].
    pub fn into_payload(self) -> Box<dyn Any + Send> {
        self.0
    }
}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Panic").field(&self.message()).finish()
    }
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message().unwrap_or("a payload that is no text"))
    }
}

static HANDLER: RwLock<Option<Handler>> = RwLock::new(None);

/// Sets what is told of each panic that no [`HostTask`](crate::HostTask) gives out: one in
/// [`host_launch`](crate::StreamRef::host_launch), in a closure that a graph replays, or in a task that was detached.
/// `None`, the default, tells nobody: std's panic hook has already printed it, and [`counters`](super::counters()) has
/// counted it.
///
/// The handler is called where the closure panicked: on the driver's thread, where it may not call CUDA, or on an
/// executor's; for a detached task, where its result is dropped. If it panics, that is counted.
pub fn set_panic_handler(handler: Option<PanicHandler>) {
    let handler = handler.map(Arc::new);
    let before = std::mem::replace(&mut *HANDLER.write(), handler);
    drop(before);
}

/// Runs a user's closure on the driver's thread.
pub(super) fn guarded<R>(run: impl FnOnce() -> R) -> Result<R, Panic> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        counters::add(&PANICS, 1);
        Panic(payload)
    })
}

pub(super) fn report(panic: &Panic) {
    let handler = HANDLER.read().clone();
    if let Some(handler) = handler {
        contained(|| handler(panic));
        if let Some(replaced) = Arc::into_inner(handler) {
            reclaim::defer(move || drop(replaced));
        }
    }
}

/// Runs code of the user's that has nobody to tell of a panic: destructors, wakers, handlers. A payload whose
/// destructor panics as well is leaked.
pub(super) fn contained(run: impl FnOnce()) {
    let mut result = catch_unwind(AssertUnwindSafe(run));
    for _ in 0..2 {
        let Err(payload) = result else { return };
        counters::add(&SECONDARY_PANICS, 1);
        result = catch_unwind(AssertUnwindSafe(|| drop(payload)));
    }
    std::mem::forget(result);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::counters::counters;

    struct Bomb(u32);

    impl Drop for Bomb {
        fn drop(&mut self) {
            if self.0 > 0 {
                std::panic::panic_any(Bomb(self.0 - 1));
            }
        }
    }

    #[test]
    fn payloads_that_panic_when_dropped_are_contained() {
        let before = counters().secondary_panics;
        contained(|| drop(Bomb(9)));
        contained(|| drop(guarded(|| -> () { std::panic::panic_any(Bomb(1)) })));
        assert!(counters().secondary_panics >= before + 3);
    }

    #[test]
    fn messages() {
        let message = |run: fn()| guarded(run).unwrap_err().message().map(str::to_owned);
        assert_eq!(message(|| panic!("text")).as_deref(), Some("text"));
        let number = 7;
        assert_eq!(guarded(|| panic!("number {number}")).unwrap_err().to_string(), "number 7");
        assert_eq!(message(|| std::panic::panic_any(7)), None);
    }
}
