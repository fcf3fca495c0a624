//! What trials see of host functions and of the values that those keep.

use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use cuda_hostfn::{Result, Stream, host};
use libtest_mimic::Failed;
use parking_lot::Mutex;

use crate::check;

/// Where values were dropped.
#[derive(Clone, Debug, Default)]
pub struct Drops(Arc<Mutex<Vec<ThreadId>>>);

impl Drops {
    /// One that tells.
    #[must_use]
    pub fn value(&self) -> Value {
        Value { drops: self.clone() }
    }

    /// How many were dropped.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.lock().len()
    }

    /// Whether all of them were dropped on this thread.
    #[must_use]
    pub fn all_here(&self) -> bool {
        self.0.lock().iter().all(|&id| id == thread::current().id())
    }
}

/// Tells where it was dropped.
#[derive(Debug)]
pub struct Value {
    drops: Drops,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.drops.0.lock().push(thread::current().id());
    }
}

/// Uses what a closure captures, so that it does.
pub fn touch<T>(_captured: T) {}

/// A host function holds its stream up until the gate is opened, or dropped.
#[derive(Debug)]
pub struct Gate(Option<std::sync::mpsc::Sender<()>>);

impl Gate {
    /// Closed, once the stream gets there.
    ///
    /// # Errors
    ///
    /// Those of `host_launch`.
    pub fn close(stream: &Stream) -> Result<Self> {
        let (open, opened) = std::sync::mpsc::channel::<()>();
        stream.host_launch(move || touch(opened.recv()))?;
        Ok(Self(Some(open)))
    }

    /// Lets the stream on.
    pub fn open(&mut self) {
        self.0 = None;
    }
}

/// Reclaims until the condition holds.
///
/// # Errors
///
/// It does not hold within ten seconds, or what [`host::reclaim`] says.
pub fn soon(what: &str, condition: impl Fn() -> bool) -> Result<(), Failed> {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        check(Instant::now() < deadline, || format!("not within 10 s: {what}"))?;
        host::reclaim()?;
        thread::yield_now();
    }
    Ok(())
}
