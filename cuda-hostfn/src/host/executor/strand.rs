//! The protocol between a stream and the workers: words in memory that both the device and the host see.
//!
//! A call is two operations in its stream: the stream writes the record's address to the bell, and waits until the answer
//! is the call's number. So the stream itself is the queue, and of one stream no more than one call is rung at a time.
//!
//! | word | from | to | by whom |
//! |---|---|---|---|
//! | bell | taken, or gone on | a record's address | the stream |
//! | bell | a record's address | taken | a worker, one of those that look: [`Strand::take`] |
//! | answer | an earlier number | the call's number | that worker, when the closure has returned: [`Strand::answer`] |
//! | bell | taken | gone on | the stream, which has seen the answer; only if the strand may be given to others |
//!
//! A stream waits for *equal*, not for *at least*: threads that enqueue at the same time get numbers in one order and enter
//! the stream in another. So an answer must not be written over before the stream has read it. Within a stream it is not:
//! the next bell comes after that. Another stream may have the strand only when all is answered *and* the stream has gone
//! on. To tell that takes a third operation, which costs more than half a microsecond: streams that keep their strand do
//! without.
//!
//! Apart from that, calls are counted when they are enqueued ([`Strand::begin`]) and when they are over ([`Strand::end`]), so
//! that workers need not look at strands in which nothing is in flight. A strand is *watched* from its first call on, until a
//! worker finds that as many are over as were enqueued ([`Strand::leave`]). That is not as soon as the last is over, if no other
//! strand is watched: whoever enqueues the next one then writes nothing that a worker has written before.

use std::num::NonZeroU64;

#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

#[cfg(loom)]
use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// A worker has the record.
const TAKEN: u64 = 0;
/// What the stream writes to the bell when it has seen the answer.
pub(super) const GONE_ON: u64 = 1;
/// The record's address is in the mail: it was written in two halves.
pub(super) const MAIL: u64 = 2;

/// Who writes different words at a time has them on lines of their own.
#[derive(Debug)]
#[repr(C, align(128))]
pub(super) struct Strand {
    inbox: Inbox,
    answer: Answer,
    enqueued: Enqueued,
    finished: Finished,
}

/// The stream writes it, the workers look at it.
#[derive(Debug)]
#[repr(C, align(128))]
struct Inbox {
    bell: AtomicU64,
    /// Of devices that write 32 bits at a time.
    mail: AtomicU64,
}

/// The workers write it, the stream looks at it.
#[derive(Debug)]
#[repr(C, align(128))]
struct Answer(AtomicU64);

/// Threads that enqueue write it.
#[derive(Debug)]
#[repr(C, align(128))]
struct Enqueued {
    /// How many calls there were, which is the number of the last. It goes on when another stream gets the strand.
    number: AtomicU64,
    is_watched: AtomicBool,
    /// The stream's id, and the address of its handle.
    id: AtomicU64,
    raw: AtomicUsize,
}

/// Workers write it: how many calls are over.
#[derive(Debug)]
#[repr(C, align(128))]
struct Finished(AtomicU64);

/// Where the device finds the words, from the strand's beginning.
pub(super) mod offsets {
    use std::mem::offset_of;

    use super::{Inbox, Strand};

    pub(in super::super) const BELL: u64 = (offset_of!(Strand, inbox) + offset_of!(Inbox, bell)) as u64;
    pub(in super::super) const MAIL: u64 = (offset_of!(Strand, inbox) + offset_of!(Inbox, mail)) as u64;
    pub(in super::super) const ANSWER: u64 = offset_of!(Strand, answer) as u64;
}

/// A bell that was rung, and taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rung(pub(super) NonZeroU64);

impl Strand {
    pub(super) fn new() -> Self {
        let inbox = Inbox { bell: AtomicU64::new(GONE_ON), mail: AtomicU64::new(0) };
        let enqueued = Enqueued {
            number: AtomicU64::new(0),
            is_watched: AtomicBool::new(false),
            id: AtomicU64::new(0),
            raw: AtomicUsize::new(0),
        };
        Self { inbox, answer: Answer(AtomicU64::new(0)), enqueued, finished: Finished(AtomicU64::new(0)) }
    }

    /// Takes what was rung, if nobody else does. Nearly free if nothing was.
    #[inline]
    pub(super) fn take(&self) -> Option<Rung> {
        let bell = self.inbox.bell.load(Ordering::Relaxed);
        if bell <= GONE_ON {
            return None;
        }
        self.inbox.bell.compare_exchange(bell, TAKEN, Ordering::Acquire, Ordering::Relaxed).ok()?;
        let address = if bell == MAIL { self.inbox.mail.load(Ordering::Relaxed) } else { bell };
        NonZeroU64::new(address).map(Rung)
    }

    /// Lets the stream go on.
    pub(super) fn answer(&self, number: u64) {
        self.answer.0.store(number, Ordering::Release);
    }

    /// One more call is in flight. Says its number, from 1 on, and whether the strand was not watched, but is from now on.
    pub(super) fn begin(&self) -> (u64, bool) {
        let number = self.enqueued.number.fetch_add(1, Ordering::SeqCst) + 1;
        (number, !self.enqueued.is_watched.load(Ordering::SeqCst) && self.watch())
    }

    /// A call is over.
    pub(super) fn end(&self) {
        self.finished.0.fetch_add(1, Ordering::Release);
    }

    /// Whether the strand was watched, and is no more, since nothing is in flight.
    pub(super) fn leave(&self) -> bool {
        let is_watched = &self.enqueued.is_watched;
        if !is_watched.load(Ordering::Relaxed) || self.is_in_flight() || !is_watched.swap(false, Ordering::SeqCst) {
            return false;
        }
        // Who has begun a call before that may have seen that the strand is watched. If it is again, by another, that one counts it.
        !self.is_in_flight() || !self.watch()
    }

    /// Whether nobody else did it.
    fn watch(&self) -> bool {
        !self.enqueued.is_watched.swap(true, Ordering::SeqCst)
    }

    fn is_in_flight(&self) -> bool {
        self.enqueued.number.load(Ordering::SeqCst) != self.finished.0.load(Ordering::Acquire)
    }

    /// Whether nothing is in flight, and the stream reads the answer no more.
    pub(super) fn is_idle(&self) -> bool {
        !self.is_in_flight() && self.inbox.bell.load(Ordering::Acquire) == GONE_ON
    }

    /// A stream has the strand, which was idle: its id and the address of its handle.
    pub(super) fn give_to(&self, (id, raw): (u64, usize)) {
        self.enqueued.id.store(id, Ordering::Relaxed);
        self.enqueued.raw.store(raw, Ordering::Relaxed);
    }

    pub(super) fn stream(&self) -> (u64, usize) {
        (self.enqueued.id.load(Ordering::Relaxed), self.enqueued.raw.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
impl Strand {
    /// What a stream does when it gets to a call.
    fn ring(&self, bell: u64) {
        self.inbox.bell.store(bell, Ordering::Release);
    }

    /// What it waits for.
    fn is_answered(&self, number: u64) -> bool {
        self.answer.0.load(Ordering::Acquire) == number
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_call_from_end_to_end() {
        let strand = Strand::new();
        assert!(strand.is_idle() && strand.take().is_none() && !strand.leave());
        assert_eq!([strand.begin(), strand.begin()], [(1, true), (2, false)]);
        for (number, is_last) in [(2, false), (1, true)] {
            assert!(!strand.is_answered(number) && strand.take().is_none());
            strand.ring(0x1000 * number);
            assert_eq!(strand.take(), NonZeroU64::new(0x1000 * number).map(Rung));
            assert!(strand.take().is_none() && !strand.is_idle());
            strand.answer(number);
            assert!(strand.is_answered(number));
            assert!(!strand.leave());
            strand.end();
            assert!(!strand.is_idle(), "the stream may be about to read the answer");
            strand.ring(GONE_ON);
            assert_eq!(strand.is_idle(), is_last);
        }
        assert!(strand.leave() && !strand.leave());
        assert_eq!([strand.begin(), strand.begin()], [(3, true), (4, false)]);
    }

    #[test]
    fn an_address_in_the_mail() {
        let strand = Strand::new();
        strand.inbox.mail.store(0x1234_5678_9abc_de80, Ordering::Relaxed);
        strand.ring(MAIL);
        assert_eq!(strand.take(), NonZeroU64::new(0x1234_5678_9abc_de80).map(Rung));
        assert!(strand.take().is_none());
    }
}

#[cfg(all(test, loom))]
mod models {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    /// A strand, and what a stream's work and its closures touch.
    struct Model {
        strand: Strand,
        touched: UnsafeCell<u32>,
    }

    // SAFETY: this is what the models check.
    unsafe impl Sync for Model {}
    // SAFETY: as above.
    unsafe impl Send for Model {}

    impl Model {
        fn new() -> Arc<Self> {
            Arc::new(Self { strand: Strand::new(), touched: UnsafeCell::new(0) })
        }

        fn touch(&self) {
            // SAFETY: it is the turn of whoever calls; loom checks.
            self.touched.with_mut(|touched| unsafe { *touched += 1 });
        }

        /// The stream gets to a call, does its part, and looks once for the answer.
        fn call(&self, number: u64) -> bool {
            self.touch();
            self.strand.ring(0x10 * number);
            self.is_over(number)
        }

        fn is_over(&self, number: u64) -> bool {
            let is_over = self.strand.is_answered(number);
            if is_over {
                self.touch();
            }
            is_over
        }

        /// A worker looks once. Says how many closures it ran.
        fn work(&self) -> u32 {
            let Some(Rung(address)) = self.strand.take() else { return 0 };
            self.touch();
            self.strand.answer(address.get() / 0x10);
            self.strand.end();
            1
        }
    }

    #[test]
    fn each_call_has_one_worker_and_the_stream_waits_for_it() {
        loom::model(|| {
            let model = Model::new();
            // They enter the stream in the other order than that of their numbers.
            let [(last, _), (first, _)] = [model.strand.begin(), model.strand.begin()];
            let workers = [(); 2].map(|()| {
                let model = model.clone();
                thread::spawn(move || model.work())
            });
            let entered = model.call(first);
            let is_over = entered && model.call(last);
            let mut calls: u32 = workers.map(|worker| worker.join().unwrap()).iter().sum();
            // What the threads did not get to.
            calls += model.work();
            if !entered {
                assert!(model.is_over(first) && !model.call(last));
            }
            calls += model.work();
            assert!(is_over || model.is_over(last));
            // SAFETY: all threads have ended.
            let touched = model.touched.with_mut(|touched| unsafe { *touched });
            assert_eq!((calls, touched), (2, 6));
        });
    }

    #[test]
    fn a_strand_that_another_stream_gets_has_been_read() {
        loom::model(|| {
            let model = Model::new();
            let (number, _) = model.strand.begin();
            let stream = {
                let model = model.clone();
                thread::spawn(move || {
                    let is_over = model.call(number);
                    if is_over {
                        model.strand.ring(GONE_ON);
                    }
                    is_over
                })
            };
            let worker = {
                let model = model.clone();
                thread::spawn(move || model.work())
            };
            // Who enqueues for another stream: what it writes would be read by the first.
            let is_idle = model.strand.is_idle();
            if is_idle {
                model.touch();
                model.strand.answer(model.strand.begin().0);
            }
            let (is_over, calls) = (stream.join().unwrap(), worker.join().unwrap());
            assert!(is_over || !is_idle);
            assert!(calls == 1 || !is_over);
        });
    }

    /// Two threads enqueue, a worker finishes what it finds enqueued, two leave.
    #[test]
    fn a_strand_with_a_call_in_flight_is_watched_and_counted_once() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let strand = Arc::new(Strand::new());
            let enqueue = |strand: &Strand| i32::from(strand.begin().1);
            let leave = |strand: &Strand| -i32::from(strand.leave());
            let finish = |strand: &Strand| {
                if strand.is_in_flight() {
                    strand.end();
                }
            };
            let begun = enqueue(&strand);
            let enqueuer = {
                let strand = strand.clone();
                thread::spawn(move || enqueue(&strand))
            };
            let other = {
                let strand = strand.clone();
                thread::spawn(move || leave(&strand))
            };
            finish(&strand);
            let left = leave(&strand);
            let watched = begun + enqueuer.join().unwrap() + other.join().unwrap() + left;
            assert_eq!(watched, i32::from(strand.enqueued.is_watched.load(Ordering::SeqCst)));
            assert!(watched == 1 || !strand.is_in_flight());
        });
    }
}
