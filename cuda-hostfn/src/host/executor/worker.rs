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
            continue;
        }
        // What others write is looked at more rarely than the bells: it would be in their way.
        let Some(now) = patience.now() else {
            std::hint::spin_loop();
            continue;
        };
        if shared.is_lost() {
            thread::park();
            continue;
        }
        if patience.is_to_leave(now) || shared.crew.is_dismissed() {
            shared.leave_quiet();
        }
        if shared.crew.is_needed(rank) {
            patience.wait(shared, now);
        } else if !patience.is_over(now) {
            std::hint::spin_loop();
        } else if reclaim::is_wanted() {
            shared.crew.errand(rank, reclaim::drain);
        } else {
            park(shared, rank);
            patience.renew();
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
        self.strand.end();
        // The only one stays watched: its next call comes soon, in most programs.
        if self.shared.crew.is_needed(1) {
            self.shared.leave(self.strand);
        }
    }

    fn wake(&self, wake: impl FnOnce()) {
        // For a strand in which nothing is in flight, no colleague has to wake up.
        self.shared.leave(self.strand);
        self.shared.crew.errand(self.rank, || contained(wake));
    }
}

/// How long a worker has done what, and what it does next.
struct Patience {
    waiting: Waiting,
    /// Rounds until the clock is looked at.
    rounds: u32,
    /// Since when no bell has rung.
    quiet: Option<Instant>,
    /// Since when others are enough.
    spare: Option<Instant>,
    /// When quiet strands were left.
    left: Option<Instant>,
    sleep: Duration,
    /// After how long a quiet a look is taken whether the context is lost.
    look: Duration,
}

/// How often the clock is looked at.
const ROUNDS: u32 = 64;

const SHORTEST_SLEEP: Duration = Duration::from_micros(5);

impl Patience {
    fn new(waiting: Waiting) -> Self {
        let (quiet, spare, left) = (None, None, None);
        Self { waiting, rounds: ROUNDS, quiet, spare, left, sleep: SHORTEST_SLEEP, look: LONGEST_PAUSE }
    }

    /// A bell has rung.
    fn renew(&mut self) {
        (self.quiet, self.sleep, self.look) = (None, SHORTEST_SLEEP, LONGEST_PAUSE);
    }

    /// Now and then, the time.
    fn now(&mut self) -> Option<Instant> {
        self.rounds -= 1;
        if self.rounds > 0 {
            return None;
        }
        self.rounds = ROUNDS;
        Some(Instant::now())
    }

    /// Whether it is time to leave quiet strands: before sleeping, and now and then.
    fn is_to_leave(&mut self, now: Instant) -> bool {
        let (spin, _) = self.waiting.limits();
        let since = *self.left.get_or_insert(now);
        let is_quiet = self.quiet.is_some_and(|quiet| now - quiet >= spin);
        let is_time = is_quiet || now - since >= spin;
        if is_time {
            self.left = Some(now);
        }
        is_time
    }

    /// The worker is not needed: whether it is time to park.
    fn is_over(&mut self, now: Instant) -> bool {
        let (spin, _) = self.waiting.limits();
        let is_over = now - *self.spare.get_or_insert(now) >= spin;
        if is_over {
            self.spare = None;
        }
        is_over
    }

    /// The worker is needed, and no bell has rung.
    fn wait(&mut self, shared: &Shared, now: Instant) {
        self.spare = None;
        let elapsed = now - *self.quiet.get_or_insert(now);
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
