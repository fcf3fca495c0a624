//! Numbers about host functions, for the whole process.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Context;

/// How often things have happened since the process began. See [`counters`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Closures that panicked, each time.
    pub panics: u64,
    /// Values, waiting tasks' wakers and panic handlers that panicked in turn. They were caught too.
    pub secondary_panics: u64,
    /// Closures, tasks and retired values that the driver took and, after a fault, never called.
    pub lost: u64,
    /// What was given up on an ordinary thread because it could not be on the driver's: values of calls that are over,
    /// closures of graphs that are gone, handles that were dropped in a host function.
    pub reclaimed: u64,
}

pub(super) static PANICS: AtomicU64 = AtomicU64::new(0);
pub(super) static SECONDARY_PANICS: AtomicU64 = AtomicU64::new(0);
pub(super) static LOST: AtomicU64 = AtomicU64::new(0);
pub(super) static RECLAIMED: AtomicU64 = AtomicU64::new(0);

pub(super) fn add(counter: &AtomicU64, number: u64) {
    counter.fetch_add(number, Ordering::Relaxed);
}

/// What has happened so far. May be called anywhere, also in a host function.
pub fn counters() -> Counters {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    Counters {
        panics: read(&PANICS),
        secondary_panics: read(&SECONDARY_PANICS),
        lost: read(&LOST),
        reclaimed: read(&RECLAIMED),
    }
}

/// How many closures, tasks and retired values are in streams: enqueued, and neither over nor given up as lost. What
/// was captured into graphs is not counted. May be called anywhere, also in a host function.
pub fn outstanding() -> u64 {
    Context::all().map(|context| context.lane().outstanding()).sum()
}
