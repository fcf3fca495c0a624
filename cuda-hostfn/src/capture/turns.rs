//! Closures are added to the graph of a capture, and captures end, in turns.
//!
//! Adding a closure takes several calls: which graph it is, giving it the closure, enqueueing the node. If the capture
//! ended between them, the graph could be gone. A lock that is held across calls into the driver could wait for ever;
//! these turns are waited for with a limit, and only by those who would be in the way:
//!
//! | who | waits for | until then |
//! |---|---|---|
//! | adds a closure | everybody who ends a capture | has not begun, and holds up nobody |
//! | ends a capture | everybody who adds a closure | lets nobody begin to add one |
//!
//! Any number may add at once, and any number end. Nothing else takes turns; beginning a capture does not.

use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};

const ADDS: u64 = 1;
const ENDS: u64 = 1 << 32;

/// How long a turn is waited for: far longer than the calls take.
const LIMIT: Duration = Duration::from_secs(1);

/// One for all contexts: a capture can spread over several.
#[cfg(not(loom))]
static TURNS: Turns = Turns::new();
#[cfg(loom)]
static TURNS: std::sync::LazyLock<Turns> = std::sync::LazyLock::new(Turns::new);

/// How many turns to end a capture there were.
static ENDS_BEGUN: AtomicUsize = AtomicUsize::new(0);

/// How many are adding (the lower half) and ending (the upper half).
#[derive(Debug)]
struct Turns(AtomicU64);

/// Until it is dropped, it is the caller's turn.
#[derive(Debug)]
#[must_use = "the turn is over when this is dropped"]
pub(crate) struct Turn<'t> {
    turns: &'t Turns,
    unit: u64,
}

/// The turn to add a closure; `None` if those who end captures are not done for too long. It is not for running code
/// of the user's, which may want to end a capture.
pub(crate) fn to_add() -> Option<Turn<'static>> {
    TURNS.to_add(patience())
}

/// The turn to end a capture; `None` if those who add closures are not done for too long.
pub(crate) fn to_end() -> Option<Turn<'static>> {
    ENDS_BEGUN.fetch_add(1, Ordering::SeqCst);
    TURNS.to_end(patience())
}

/// How often the end of a capture has begun.
#[inline]
pub(crate) fn ends_begun() -> usize {
    ENDS_BEGUN.load(Ordering::SeqCst)
}

/// Waits a little each time, and says whether it may be asked again.
fn patience() -> impl FnMut() -> bool {
    const YIELDS: u32 = 100;
    let (mut pauses, mut since) = (0, None);
    move || {
        pauses += 1;
        if pauses <= YIELDS {
            std::thread::yield_now();
            return true;
        }
        std::thread::sleep(Duration::from_micros(50));
        since.get_or_insert_with(Instant::now).elapsed() < LIMIT
    }
}

impl Turns {
    #[cfg(not(loom))]
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    #[cfg(loom)]
    fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    fn to_add(&self, mut pause: impl FnMut() -> bool) -> Option<Turn<'_>> {
        let mut now = self.0.load(Ordering::Relaxed);
        loop {
            if now >= ENDS {
                if !pause() {
                    return None;
                }
                now = self.0.load(Ordering::Relaxed);
                continue;
            }
            match self.0.compare_exchange_weak(now, now + ADDS, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(Turn { turns: self, unit: ADDS }),
                Err(other) => now = other,
            }
        }
    }

    fn to_end(&self, mut pause: impl FnMut() -> bool) -> Option<Turn<'_>> {
        self.0.fetch_add(ENDS, Ordering::Relaxed);
        let turn = Turn { turns: self, unit: ENDS };
        while !self.0.load(Ordering::Acquire).is_multiple_of(ENDS) {
            if !pause() {
                return None;
            }
        }
        Some(turn)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.0.fetch_sub(self.unit, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Turns, patience};

    #[test]
    fn patience_runs_out() {
        let mut pause = patience();
        while pause() {}
    }

    #[test]
    fn those_in_the_way_are_waited_for_with_a_limit() {
        let turns = Turns::new();
        let three_times = || {
            let mut left = 3;
            move || {
                left -= 1;
                left > 0
            }
        };
        let never = || -> bool { panic!("waited") };
        let (first, second) = (turns.to_add(never).unwrap(), turns.to_add(never).unwrap());
        assert!(turns.to_end(three_times()).is_none());
        // Who gave up is in nobody's way.
        drop((turns.to_add(never).unwrap(), first, second));
        let (first, second) = (turns.to_end(never).unwrap(), turns.to_end(never).unwrap());
        assert!(turns.to_add(three_times()).is_none());
        drop(first);
        assert!(turns.to_add(three_times()).is_none());
        drop(second);
        drop((turns.to_add(never).unwrap(), turns.to_end(three_times())));
        assert_eq!(turns.0.into_inner(), 0);
    }
}

#[cfg(all(test, loom))]
mod models {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::Turns;

    /// `UnsafeCell` of loom fails the model if somebody looks at a graph while it is taken away, or without order.
    struct Captures {
        turns: Turns,
        graphs: [UnsafeCell<bool>; 2],
    }

    // SAFETY: this is what the models check.
    unsafe impl Sync for Captures {}
    // SAFETY: as above.
    unsafe impl Send for Captures {}

    /// Waits once.
    fn patience() -> impl FnMut() -> bool {
        let mut left = 1;
        move || {
            thread::yield_now();
            left -= 1;
            left >= 0
        }
    }

    impl Captures {
        fn new() -> Arc<Self> {
            Arc::new(Self { turns: Turns::new(), graphs: [UnsafeCell::new(true), UnsafeCell::new(true)] })
        }

        fn add(&self, graph: usize) {
            let Some(_turn) = self.turns.to_add(patience()) else { return };
            // SAFETY: loom checks.
            let look = || self.graphs[graph].with(|is_there| unsafe { *is_there });
            let is_there = look();
            thread::yield_now();
            assert_eq!(look(), is_there);
        }

        fn end(&self, graph: usize) {
            let Some(_turn) = self.turns.to_end(patience()) else { return };
            // SAFETY: loom checks.
            self.graphs[graph].with_mut(|is_there| unsafe { *is_there = false });
        }
    }

    fn model(others: [fn(&Captures); 2], this: fn(&Captures)) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(move || {
            let captures = Captures::new();
            let threads = others.map(|other| {
                let captures = captures.clone();
                thread::spawn(move || other(&captures))
            });
            this(&captures);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            // Nobody is left in anybody's way.
            drop(captures.turns.to_end(|| false).unwrap());
            drop(captures.turns.to_add(|| false).unwrap());
        });
    }

    #[test]
    fn no_graph_goes_while_closures_are_added() {
        model([|captures| captures.add(0), |captures| captures.add(0)], |captures| captures.end(0));
    }

    #[test]
    fn several_may_end_at_once() {
        model([|captures| captures.end(0), |captures| captures.end(1)], |captures| captures.add(1));
    }
}
