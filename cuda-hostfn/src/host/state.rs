//! The protocol of a record: who may touch what when.
//!
//! | from | to | by whom | what the winner may do |
//! |---|---|---|---|
//! | queued | running | the driver's thread, once: [`State::start`] | run the job, write the outcome |
//! | queued | cancelled | an ordinary thread that knows that the driver will never call, or was refused: [`State::cancel`] | take the job out; there will be no outcome |
//! | running | done | the driver's thread: [`State::finish`] | nothing more |
//! | done | released | an ordinary thread, the first of those that join or reclaim: [`State::release`] | drop the job |
//!
//! No other transition exists in the life of a record. From done on, the outcome belongs to the task's handle, and without
//! one to whoever gives the last reference back. Then the slot is free, and stays in its last state until a thread that
//! has taken it has written the next record: [`State::enqueue`].

#[cfg(not(loom))]
use std::sync::atomic::{AtomicU8, Ordering};

#[cfg(loom)]
use loom::sync::atomic::{AtomicU8, Ordering};

const QUEUED: u8 = 0;
const RUNNING: u8 = 1;
const DONE: u8 = 2;
const RELEASED: u8 = 3;
const CANCELLED: u8 = 4;

#[derive(Debug)]
pub(super) struct State(AtomicU8);

impl State {
    /// Of a slot that never had a record.
    pub(super) fn vacant() -> Self {
        Self(AtomicU8::new(RELEASED))
    }

    /// A new record is written.
    pub(super) fn enqueue(&self) {
        self.0.store(QUEUED, Ordering::Release);
    }

    /// Whether the caller is to run the job.
    pub(super) fn start(&self) -> bool {
        self.step(QUEUED, RUNNING)
    }

    /// The job has run, and the outcome is written.
    pub(super) fn finish(&self) {
        self.0.store(DONE, Ordering::Release);
    }

    /// Whether the job now belongs to the caller and will never run.
    pub(super) fn cancel(&self) -> bool {
        self.step(QUEUED, CANCELLED)
    }

    /// Whether the caller is to drop the job, which has run.
    pub(super) fn release(&self) -> bool {
        self.step(DONE, RELEASED)
    }

    /// Whether the job has run; if so, the outcome can be seen.
    pub(super) fn has_run(&self) -> bool {
        matches!(self.0.load(Ordering::Acquire), DONE | RELEASED)
    }

    /// Whether there is a record that has neither started nor been cancelled; if so, it can be seen.
    pub(super) fn is_queued(&self) -> bool {
        self.0.load(Ordering::Acquire) == QUEUED
    }

    /// Whether there is a record that is not over.
    pub(super) fn is_outstanding(&self) -> bool {
        matches!(self.0.load(Ordering::Acquire), QUEUED | RUNNING)
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire) == CANCELLED
    }

    fn step(&self, from: u8, to: u8) -> bool {
        self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::State;

    #[test]
    fn the_ways_through() {
        let state = State::vacant();
        assert!(!state.is_outstanding() && !state.start() && !state.cancel());
        state.enqueue();
        assert!(state.is_queued() && state.is_outstanding() && !state.release());
        assert!(state.start());
        assert!(!state.start() && !state.cancel() && !state.release() && !state.has_run());
        state.finish();
        assert!(state.has_run() && !state.cancel() && !state.start());
        assert!(state.release() && !state.release());
        assert!(state.has_run() && !state.is_outstanding());

        state.enqueue();
        assert!(!state.has_run() && state.cancel() && state.is_cancelled() && !state.cancel());
        assert!(!state.start() && !state.release() && !state.has_run());
    }
}

#[cfg(all(test, loom))]
mod models {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::State;

    /// `UnsafeCell` of loom fails the model if two threads are in it at once or without order.
    struct Record {
        state: State,
        job: UnsafeCell<Option<u32>>,
        outcome: UnsafeCell<Option<u32>>,
    }

    fn record() -> Arc<Record> {
        let state = State::vacant();
        state.enqueue();
        Arc::new(Record { state, job: UnsafeCell::new(Some(7)), outcome: UnsafeCell::new(None) })
    }

    impl Record {
        fn driver(&self) {
            if self.state.start() {
                // SAFETY: the winner of `start`; loom checks.
                let job = self.job.with_mut(|job| unsafe { *job }).expect("nobody took it");
                // SAFETY: as above.
                self.outcome.with_mut(|outcome| unsafe { *outcome = Some(job + 1) });
                self.state.finish();
            }
        }

        /// How many jobs this took out.
        fn canceller(&self) -> u32 {
            // SAFETY: the winner of `cancel`; loom checks.
            u32::from(self.state.cancel() && self.job.with_mut(|job| unsafe { (*job).take() }).is_some())
        }

        fn releaser(&self) -> u32 {
            // SAFETY: the winner of `release`; loom checks.
            u32::from(self.state.release() && self.job.with_mut(|job| unsafe { (*job).take() }).is_some())
        }
    }

    // SAFETY: this is what the models check.
    unsafe impl Sync for Record {}
    // SAFETY: as above.
    unsafe impl Send for Record {}

    #[test]
    fn a_job_is_run_or_taken_out_never_both() {
        loom::model(|| {
            let record = record();
            let driver = {
                let record = record.clone();
                thread::spawn(move || record.driver())
            };
            let other = {
                let record = record.clone();
                thread::spawn(move || record.canceller())
            };
            let taken = record.canceller() + other.join().unwrap();
            driver.join().unwrap();
            assert_eq!(taken == 1, record.state.is_cancelled());
            assert_ne!(taken == 1, record.state.has_run());
        });
    }

    #[test]
    fn a_job_that_has_run_is_dropped_once_and_its_outcome_is_seen() {
        loom::model(|| {
            let record = record();
            let driver = {
                let record = record.clone();
                thread::spawn(move || record.driver())
            };
            let reclaimer = {
                let record = record.clone();
                thread::spawn(move || record.releaser())
            };
            let mut dropped = 0;
            if record.state.has_run() {
                // SAFETY: the handle owns the outcome from done on; loom checks.
                assert_eq!(record.outcome.with_mut(|outcome| unsafe { (*outcome).take() }), Some(8));
                dropped += record.releaser();
            }
            driver.join().unwrap();
            dropped += reclaimer.join().unwrap();
            dropped += record.releaser();
            assert_eq!(dropped, 1);
        });
    }
}
