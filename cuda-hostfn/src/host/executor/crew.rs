//! Who of the workers is awake.
//!
//! What occupies a worker, or may do so at any moment, is counted: strands that are watched, and errands (the code of users that
//! a worker runs when no stream waits for it any more). The worker of rank `r` stays awake while more than `r` of them are
//! there. So while a strand is in flight that no worker has taken up, a worker looks at the bells, unless all are occupied:
//! of those whose rank is lower than the number, not all can be.

use std::sync::OnceLock;

#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[cfg(loom)]
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[derive(Debug)]
pub(super) struct Crew<T = std::thread::Thread> {
    active: Apart<AtomicUsize>,
    is_dismissed: AtomicBool,
    /// By rank.
    threads: OnceLock<Box<[T]>>,
}

/// A thread that can park.
pub(super) trait Parker {
    fn unpark(&self);
}

impl Parker for std::thread::Thread {
    fn unpark(&self) {
        self.unpark();
    }
}

/// On a line of its own: all workers look at it, and calls write it.
#[derive(Debug)]
#[repr(align(128))]
struct Apart<T>(T);

impl<T: Parker> Crew<T> {
    pub(super) fn new() -> Self {
        Self { active: Apart(AtomicUsize::new(0)), is_dismissed: AtomicBool::new(false), threads: OnceLock::new() }
    }

    /// Once, before anything begins.
    pub(super) fn set_threads(&self, threads: Box<[T]>) {
        let is_new = self.threads.set(threads).is_ok();
        debug_assert!(is_new);
    }

    /// A strand is watched that was not.
    pub(super) fn begin(&self) {
        self.begin_by(None);
    }

    fn begin_by(&self, own: Option<usize>) {
        let rank = self.active.0.fetch_add(1, Ordering::SeqCst);
        if let Some(thread) = self.threads().get(rank).filter(|_| own != Some(rank)) {
            thread.unpark();
        }
    }

    /// A strand is watched no more.
    pub(super) fn end(&self) {
        if self.active.0.fetch_sub(1, Ordering::SeqCst) == 1 && self.is_dismissed() {
            self.wake_all();
        }
    }

    /// Runs code of the user's on the worker of that rank. It does not unwind.
    pub(super) fn errand(&self, rank: usize, run: impl FnOnce()) {
        self.begin_by(Some(rank));
        run();
        self.end();
    }

    /// Whether the worker of that rank has to look at the bells.
    #[inline]
    pub(super) fn is_needed(&self, rank: usize) -> bool {
        self.active.0.load(Ordering::SeqCst) > rank
    }

    /// The workers are to end when nothing is in flight.
    pub(super) fn dismiss(&self) {
        self.is_dismissed.store(true, Ordering::SeqCst);
        self.wake_all();
    }

    pub(super) fn is_dismissed(&self) -> bool {
        self.is_dismissed.load(Ordering::SeqCst)
    }

    pub(super) fn wake_all(&self) {
        self.threads().iter().for_each(T::unpark);
    }

    fn threads(&self) -> &[T] {
        self.threads.get().map_or(&[], |threads| threads)
    }
}

#[cfg(all(test, loom))]
mod models {
    use loom::sync::{Arc, Condvar, Mutex};
    use loom::thread;

    use super::*;

    /// What std's threads have: loom's `unpark` also wakes a thread that waits for a lock.
    struct Token(Mutex<bool>, Condvar);

    impl Token {
        fn park(&self) {
            let mut is_there = self.0.lock().unwrap();
            while !std::mem::take(&mut *is_there) {
                is_there = self.1.wait(is_there).unwrap();
            }
        }
    }

    impl Parker for Arc<Token> {
        fn unpark(&self) {
            *self.0.lock().unwrap() = true;
            self.1.notify_one();
        }
    }

    /// Strands that ring once, at any moment after they have begun. Who is awake and finds nothing waits for the next change,
    /// which stands for looking again and again. So when all that can change something are asleep, the model has a deadlock, and fails.
    struct Model<const STRANDS: usize> {
        crew: Crew<Arc<Token>>,
        strands: Mutex<[Strand; STRANDS]>,
        changed: Condvar,
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Strand {
        Silent,
        Rung,
        Taken,
        Over,
    }

    impl<const STRANDS: usize> Model<STRANDS> {
        fn run(workers: usize, serve: fn(&Self, usize, usize), enqueued: &'static [usize]) {
            let mut builder = loom::model::Builder::new();
            builder.preemption_bound = Some(2);
            builder.check(move || {
                let strands = Mutex::new([Strand::Silent; STRANDS]);
                let model = Arc::new(Self { crew: Crew::new(), strands, changed: Condvar::new() });
                let tokens = (0..workers).map(|_| Arc::new(Token(Mutex::new(false), Condvar::new())));
                model.crew.set_threads(tokens.collect());
                let hire = |rank| {
                    let model = model.clone();
                    thread::spawn(move || model.work(rank, serve))
                };
                let handles: Vec<_> = (0..workers).map(hire).collect();
                enqueued.iter().for_each(|_| model.crew.begin());
                let (&last, first) = enqueued.split_last().unwrap();
                first.iter().for_each(|&strand| model.change(strand, Strand::Rung));
                // Who is woken by that finds that the last has not rung yet.
                model.crew.dismiss();
                model.change(last, Strand::Rung);
                handles.into_iter().for_each(|handle| handle.join().unwrap());
                assert!(model.strands.lock().unwrap().iter().all(|&strand| strand == Strand::Over));
            });
        }

        fn change(&self, strand: usize, to: Strand) {
            self.strands.lock().unwrap()[strand] = to;
            self.changed.notify_all();
        }

        fn enqueue(&self, strand: usize) {
            self.crew.begin();
            self.change(strand, Strand::Rung);
        }

        fn over(&self, strand: usize) {
            self.crew.end();
            self.change(strand, Strand::Over);
        }

        fn wait_for(&self, strand: usize) {
            let mut strands = self.strands.lock().unwrap();
            while strands[strand] != Strand::Over {
                strands = self.changed.wait(strands).unwrap();
            }
        }

        fn work(&self, rank: usize, serve: fn(&Self, usize, usize)) {
            loop {
                let mut strands = self.strands.lock().unwrap();
                if let Some(strand) = strands.iter().position(|&strand| strand == Strand::Rung) {
                    strands[strand] = Strand::Taken;
                    drop(strands);
                    serve(self, rank, strand);
                } else if self.crew.is_needed(rank) {
                    drop(self.changed.wait(strands).unwrap());
                } else if self.crew.is_dismissed() && !self.crew.is_needed(0) {
                    drop(strands);
                    return self.crew.wake_all();
                } else {
                    drop(strands);
                    self.crew.threads()[rank].park();
                }
            }
        }
    }

    #[test]
    fn no_wake_up_is_lost_and_all_end() {
        Model::<1>::run(2, |model, _, strand| model.over(strand), &[0]);
        Model::<2>::run(1, |model, _, strand| model.over(strand), &[0, 1]);
    }

    /// The closure of the first strand enqueues in the second, and waits for that.
    #[test]
    fn a_closure_that_waits_for_another_strand_has_a_colleague() {
        let serve = |model: &Model<2>, _, strand| {
            if strand == 0 {
                model.enqueue(1);
                model.wait_for(1);
            }
            model.over(strand);
        };
        Model::<2>::run(2, serve, &[0]);
    }

    /// After the first strand's answer, its worker has an errand that waits for the second.
    #[test]
    fn an_errand_that_waits_for_a_strand_has_a_colleague() {
        let serve = |model: &Model<2>, rank, strand| {
            model.over(strand);
            if strand == 0 {
                model.crew.errand(rank, || model.wait_for(1));
                model.change(0, Strand::Over);
            }
        };
        Model::<2>::run(2, serve, &[0, 1]);
    }
}
