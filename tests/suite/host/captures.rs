//! Closures that become nodes of a graph while other threads end and begin captures.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use cuda_hostfn::{CaptureMode, Event, Stream, host};
use libtest_mimic::Failed;
use simulated_driver_client::Client;
use tests::{Gate, Machine, Row, check, equal, soon};

pub const TRIALS: &[Row] = &[
    ("captures: closures are captured while another thread ends the capture", ended),
    ("captures: others that begin disturb none", begun_elsewhere),
];

const ROUNDS: usize = 2000;
const ADDERS: usize = 2;
const EACH: usize = 10;

/// What became of closures.
#[derive(Default)]
struct Tally {
    made: AtomicUsize,
    enqueued: AtomicUsize,
    dropped: AtomicUsize,
    called_after_that: AtomicUsize,
}

/// What a closure captures.
struct Value {
    is_alive: AtomicBool,
    tally: Arc<Tally>,
}

impl Value {
    fn call(&self) {
        if !self.is_alive.load(Ordering::Relaxed) {
            self.tally.called_after_that.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.is_alive.store(false, Ordering::Relaxed);
        self.tally.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

impl Tally {
    /// If the closure is refused, it comes back.
    fn enqueue(self: &Arc<Self>, stream: &Stream) {
        self.made.fetch_add(1, Ordering::Relaxed);
        let value = Value { is_alive: AtomicBool::new(true), tally: self.clone() };
        match stream.host_launch(move || value.call()) {
            Ok(()) => _ = self.enqueued.fetch_add(1, Ordering::Relaxed),
            Err(refused) => drop(refused.into_inner()),
        }
    }

    /// Everything was dropped, once.
    fn settle(&self) -> Result<(), Failed> {
        let made = self.made.load(Ordering::Relaxed);
        soon("every closure is dropped", || self.dropped.load(Ordering::Relaxed) >= made)?;
        equal("dropped", &self.dropped.load(Ordering::Relaxed), &made)?;
        equal("called after that", &self.called_after_that.load(Ordering::Relaxed), &0)?;
        check(self.enqueued.load(Ordering::Relaxed) > 0, || "none was enqueued".to_owned())
    }
}

/// In every round, `begin` begins a capture; then threads enqueue closures in `stream` while `end` ends it. What was not
/// captured is called when all are done.
fn race<C>(
    stream: &Stream,
    mut begin: impl FnMut() -> Result<C, Failed>,
    mut end: impl FnMut(C) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let (tally, barrier, is_over) = (Arc::new(Tally::default()), Barrier::new(ADDERS + 1), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..ADDERS {
            scope.spawn(|| {
                loop {
                    barrier.wait();
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    (0..EACH).for_each(|_| tally.enqueue(stream));
                    barrier.wait();
                }
            });
        }
        let mut round = |number: usize| -> Result<(), Failed> {
            let gate = Gate::close(stream)?;
            let capture = begin()?;
            barrier.wait();
            // At another moment each time.
            (0..number % 100 * 100).for_each(|_| std::hint::spin_loop());
            let result = end(capture);
            barrier.wait();
            host::reclaim()?;
            drop(gate);
            stream.synchronize()?;
            result
        };
        let result = (0..ROUNDS).try_for_each(&mut round);
        is_over.store(true, Ordering::Relaxed);
        barrier.wait();
        result
    })?;
    tally.settle()
}

fn ended(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    race(&stream, || Ok(stream.begin_capture(CaptureMode::Relaxed)?), |()| Ok(stream.end_capture().map(drop)?))
}

/// What becomes of the other streams of such a capture, a real driver does not promise.
pub fn destroyed(machine: &Machine, _: Client) -> Result<(), Failed> {
    let stream = machine.stream()?;
    race(
        &stream,
        || {
            let origin = machine.stream()?;
            origin.begin_capture(CaptureMode::Relaxed)?;
            let event = Event::new(&machine.context)?;
            event.record(&origin)?;
            stream.wait_event(&event)?;
            Ok(origin)
        },
        |origin| {
            drop(origin);
            Ok(())
        },
    )
}

fn begun_elsewhere(machine: &Machine) -> Result<(), Failed> {
    let (stream, tally, is_over) = (machine.stream()?, Arc::new(Tally::default()), AtomicBool::new(false));
    thread::scope(|scope| {
        let other = scope.spawn(|| -> Result<(), Failed> {
            while !is_over.load(Ordering::Relaxed) {
                let other = machine.stream()?;
                other.begin_capture(CaptureMode::ThreadLocal)?;
                drop(other.end_capture()?);
            }
            Ok(())
        });
        let result: Result<(), Failed> = (0..ROUNDS).try_for_each(|_| {
            stream.begin_capture(CaptureMode::ThreadLocal)?;
            tally.enqueue(&stream);
            Ok(stream.end_capture().map(drop)?)
        });
        is_over.store(true, Ordering::Relaxed);
        other.join().map_err(|_| "panicked")??;
        result
    })?;
    equal("enqueued", &tally.enqueued.load(Ordering::Relaxed), &ROUNDS)?;
    tally.settle()
}
