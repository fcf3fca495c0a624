//! One worker's loop.

use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::thread;
use std::time::{Duration, Instant};

use super::options::Waiting;
use super::shared::Shared;
use super::strand::{Rung, Strand};
use crate::Context;
use crate::host::panics::contained;
use crate::host::record::{Caller, Header};
use crate::host::task::LONGEST_PAUSE;
use crate::host::{reclaim, watch};

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
    static TURN: Cell<Option<Turn>> = const { Cell::new(None) };
}

/// Of the closure that a worker runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// The stream's.
    pub(super) id: u64,
    /// The address of the stream's handle.
    pub(super) raw: usize,
    /// The address of the context's.
    context: usize,
}

/// Whether this thread is an executor's.
pub(super) fn is_worker() -> bool {
    IS_WORKER.get()
}

/// If this is a closure in a stream of that context, which stream it is.
#[inline]
pub(super) fn turn_in(context: &Context) -> Option<Turn> {
    TURN.get().filter(|turn| turn.context == context.as_raw().addr())
}

/// Works until the crew is dismissed and nothing is in flight.
pub(super) fn work(shared: &Shared, rank: usize) {
    IS_WORKER.set(true);
    // For calls of the closures' own. Without it they get on as on any thread.
    let _entered = shared.context().enter();
    let mut patience = Patience::new(shared.waiting);
    while !is_over(shared, rank) {
        if serve_all(shared, rank) > 0 {
            patience.renew();
        } else if shared.is_lost() {
            thread::park();
        } else if shared.crew.is_needed(rank) {
            patience.wait(shared);
        } else if patience.is_left() {
            std::hint::spin_loop();
        } else if reclaim::is_wanted() {
            shared.crew.errand(rank, reclaim::drain);
        } else {
            park(shared, rank);
            if shared.crew.is_needed(rank) {
                patience.renew();
            }
        }
    }
    shared.crew.wake_all();
}

/// Bells of retired strands may ring at any time; the first worker looks after them, now and then.
fn looks_after_retired(shared: &Shared, rank: usize) -> bool {
    rank == 0 && shared.strands.has_retired()
}

fn is_over(shared: &Shared, rank: usize) -> bool {
    let is_drained = || !shared.crew.is_needed(0) && !looks_after_retired(shared, rank);
    shared.crew.is_dismissed() && (shared.is_lost() || is_drained())
}

fn park(shared: &Shared, rank: usize) {
    if looks_after_retired(shared, rank) { thread::park_timeout(LONGEST_PAUSE) } else { thread::park() }
}

/// Runs what is rung, and says how many calls that were.
fn serve_all(shared: &Shared, rank: usize) -> usize {
    shared.strands.all(rank).filter(|strand| serve(shared, rank, strand)).count()
}

fn serve(shared: &Shared, rank: usize, strand: &Strand) -> bool {
    let Some(Rung(address)) = strand.take() else { return false };
    let address = usize::try_from(address.get()).expect("as it was given to the device");
    let Some(record) = NonNull::new(ptr::with_exposed_provenance_mut::<Header>(address)) else { return true };
    // SAFETY: the record that was put into the stream: the driver's reference keeps it, and one that was cancelled is not
    // used again.
    let number = unsafe { record.as_ref() }.number();
    // SAFETY: as above; the bell was taken.
    let has_run = unsafe { Header::call(record, &Call { shared, rank, strand, number }) };
    if !has_run {
        // Whoever cancelled it has given it up. The stream goes on all the same.
        strand.answer(number);
    }
    true
}

/// Runs a call for a strand.
struct Call<'w> {
    shared: &'w Shared,
    rank: usize,
    strand: &'w Strand,
    number: u64,
}

impl Caller for Call<'_> {
    fn run(&self, run: impl FnOnce()) {
        let (id, raw) = self.strand.stream();
        TURN.set(Some(Turn { id, raw, context: self.shared.context().as_raw().addr() }));
        run();
        TURN.set(None);
    }

    fn over(&self) {
        self.strand.answer(self.number);
        self.shared.over(self.strand);
    }

    fn wake(&self, wake: impl FnOnce()) {
        self.shared.crew.errand(self.rank, || contained(wake));
    }
}

/// What is left of a worker's patience.
struct Patience {
    waiting: Waiting,
    /// Rounds until the clock is looked at.
    rounds: u32,
    /// Since when no bell has rung.
    since: Option<Instant>,
    sleep: Duration,
    /// When a look is taken whether the context is lost.
    look: Duration,
}

/// How often the clock is looked at.
const ROUNDS: u32 = 64;

const SHORTEST_SLEEP: Duration = Duration::from_micros(5);

impl Patience {
    fn new(waiting: Waiting) -> Self {
        Self { waiting, rounds: ROUNDS, since: None, sleep: SHORTEST_SLEEP, look: LONGEST_PAUSE }
    }

    fn renew(&mut self) {
        *self = Self::new(self.waiting);
    }

    /// Now and then, how long no bell has rung.
    fn elapsed(&mut self) -> Option<Duration> {
        self.rounds -= 1;
        if self.rounds > 0 {
            return None;
        }
        self.rounds = ROUNDS;
        Some(self.since.get_or_insert_with(Instant::now).elapsed())
    }

    /// Whether it is too early to park.
    fn is_left(&mut self) -> bool {
        let (spin, _) = self.waiting.limits();
        self.elapsed().is_none_or(|elapsed| elapsed < spin)
    }

    /// Something is in flight.
    fn wait(&mut self, shared: &Shared) {
        let Some(elapsed) = self.elapsed() else { return std::hint::spin_loop() };
        if elapsed >= self.look {
            // Not here: a call into the driver may wait for what only this worker can do.
            watch::watch(shared.context());
            self.look = elapsed + LONGEST_PAUSE;
        }
        let (spin, longest) = self.waiting.limits();
        if let Some(longest) = longest
            && elapsed >= spin
        {
            thread::park_timeout(self.sleep);
            self.sleep = (2 * self.sleep).min(longest);
            self.rounds = 1;
        }
    }
}
