//! Who of the workers is awake.
//!
//! What occupies a worker, or may do so at any moment, is counted: strands in flight, and errands (the code of users that
//! a worker runs when no stream waits for it any more). The worker of rank `r` stays awake while more than `r` of them are
//! there. So while a strand is in flight that no worker has taken up, a worker looks at the bells, unless all are occupied:
//! of those whose rank is lower than the number, not all can be.

use std::sync::OnceLock;

#[cfg(not(loom))]
use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread::Thread,
};

#[cfg(loom)]
use loom::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread::Thread,
};

#[derive(Debug)]
pub(super) struct Crew {
    active: Apart<AtomicUsize>,
    is_dismissed: AtomicBool,
    /// By rank.
    threads: OnceLock<Box<[Thread]>>,
}

/// On a line of its own: all workers look at it, and calls write it.
#[derive(Debug)]
#[repr(align(128))]
struct Apart<T>(T);

impl Crew {
    pub(super) fn new() -> Self {
        Self { active: Apart(AtomicUsize::new(0)), is_dismissed: AtomicBool::new(false), threads: OnceLock::new() }
    }

    /// Once, before anything begins.
    pub(super) fn set_threads(&self, threads: Box<[Thread]>) {
        self.threads.set(threads).expect("set once");
    }

    /// A strand is in flight that was not.
    pub(super) fn begin(&self) {
        let rank = self.active.0.fetch_add(1, Ordering::SeqCst);
        if let Some(thread) = self.threads().get(rank) {
            thread.unpark();
        }
    }

    /// A strand is in flight no more.
    pub(super) fn end(&self) {
        if self.active.0.fetch_sub(1, Ordering::SeqCst) == 1 && self.is_dismissed() {
            self.wake_all();
        }
    }

    /// Runs code of the user's on a worker. It does not unwind.
    pub(super) fn errand(&self, run: impl FnOnce()) {
        self.begin();
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
        self.threads().iter().for_each(Thread::unpark);
    }

    fn threads(&self) -> &[Thread] {
        self.threads.get().map_or(&[], |threads| threads)
    }
}

#[cfg(all(test, loom))]
mod models {
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicU32;
    use loom::thread;

    use super::*;

    /// Strands that ring once, at any moment after they have begun.
    struct Model<const STRANDS: usize> {
        crew: Crew,
        bells: [AtomicBool; STRANDS],
        over: AtomicU32,
    }

    impl<const STRANDS: usize> Model<STRANDS> {
        fn run(workers: usize, enqueue: fn(&Arc<Self>), serve: fn(&Arc<Self>, usize)) {
            let mut builder = loom::model::Builder::new();
            builder.preemption_bound = Some(3);
            builder.check(move || {
                let bells = std::array::from_fn(|_| AtomicBool::new(false));
                let model = Arc::new(Self { crew: Crew::new(), bells, over: AtomicU32::new(0) });
                let handles: Vec<_> = (0..workers)
                    .map(|rank| {
                        let model = model.clone();
                        thread::spawn(move || model.work(rank, serve))
                    })
                    .collect();
                model.crew.set_threads(handles.iter().map(|handle| handle.thread().clone()).collect());
                enqueue(&model);
                // Drains. Who sleeps for ever fails the model.
                model.crew.dismiss();
                handles.into_iter().for_each(|handle| handle.join().unwrap());
                assert_eq!(model.over.load(Ordering::SeqCst) as usize, STRANDS);
            });
        }

        fn enqueue(&self, strand: usize) {
            self.crew.begin();
            self.bells[strand].store(true, Ordering::SeqCst);
        }

        fn over(&self) {
            self.over.fetch_add(1, Ordering::SeqCst);
            self.crew.end();
        }

        fn take(&self) -> Option<usize> {
            (0..STRANDS).find(|&strand| self.bells[strand].swap(false, Ordering::SeqCst))
        }

        fn work(self: &Arc<Self>, rank: usize, serve: fn(&Arc<Self>, usize)) {
            loop {
                if let Some(strand) = self.take() {
                    serve(self, strand);
                } else if self.crew.is_needed(rank) {
                    thread::yield_now();
                } else if self.crew.is_dismissed() && !self.crew.is_needed(0) {
                    return self.crew.wake_all();
                } else {
                    thread::park();
                }
            }
        }
    }

    #[test]
    fn no_wake_up_is_lost_and_all_end() {
        Model::<1>::run(2, |model| model.enqueue(0), |model, _| model.over());
        Model::<2>::run(
            1,
            |model| {
                model.enqueue(0);
                model.enqueue(1);
            },
            |model, _| model.over(),
        );
    }

    /// The closure of the first strand enqueues in the second, and waits for that.
    #[test]
    fn a_closure_that_waits_for_another_strand_has_a_colleague() {
        Model::<2>::run(
            2,
            |model| model.enqueue(0),
            |model, strand| {
                if strand == 0 {
                    model.enqueue(1);
                    while model.over.load(Ordering::SeqCst) == 0 {
                        thread::yield_now();
                    }
                }
                model.over();
            },
        );
    }

    /// After the first strand's answer, its worker has an errand that waits for the second.
    #[test]
    fn an_errand_that_waits_for_a_strand_has_a_colleague() {
        Model::<2>::run(
            2,
            |model| {
                model.enqueue(0);
                model.enqueue(1);
            },
            |model, strand| {
                model.over();
                if strand == 0 {
                    model.crew.errand(|| {
                        while model.over.load(Ordering::SeqCst) < 2 {
                            thread::yield_now();
                        }
                    });
                }
            },
        );
    }
}
