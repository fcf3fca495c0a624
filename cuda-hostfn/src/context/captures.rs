//! Whether captures began or spread while something else went on.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the calls after which more streams of a context may be capturing.
///
/// Asking whether a stream is capturing and then enqueueing are two calls; another thread may begin a capture between
/// them. This tells afterwards whether one did.
#[derive(Debug)]
pub(crate) struct Captures {
    begun: AtomicU64,
    over: AtomicU64,
}

/// How many such calls were over at a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settled(u64);

impl Captures {
    pub(crate) const fn new() -> Self {
        Self { begun: AtomicU64::new(0), over: AtomicU64::new(0) }
    }

    /// Until it is dropped, a call goes on that may begin or spread a capture.
    pub(crate) fn changing(&self) -> Changing<'_> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        Changing(self)
    }

    /// For [`none_since`](Self::none_since). Take it before asking the driver.
    #[inline]
    pub(crate) fn settled(&self) -> Settled {
        Settled(self.over.load(Ordering::SeqCst))
    }

    /// Whether no such call has been under way from that moment until now.
    #[inline]
    pub(crate) fn none_since(&self, settled: Settled) -> bool {
        self.begun.load(Ordering::SeqCst) == settled.0
    }
}

#[derive(Debug)]
pub(crate) struct Changing<'a>(&'a Captures);

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.0.over.fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::Captures;

    #[test]
    fn calls_under_way_begun_and_over_are_all_seen() {
        let captures = Captures::new();
        assert!(captures.none_since(captures.settled()));
        let before = captures.settled();
        let changing = captures.changing();
        assert!(!captures.none_since(before));
        assert!(!captures.none_since(captures.settled()));
        drop(changing);
        assert!(!captures.none_since(before));
        assert!(captures.none_since(captures.settled()));
    }
}
