//! Closures a second: alone, behind kernels, on one stream and on many.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use cuda_hostfn::{ExecutorOptions, HostExecutor, Stream, host};

use crate::contestant::{CALLED, Contestant, set_work};
use crate::processor::processor_time;
use crate::{Bench, summary};

/// What goes into the streams.
#[derive(Clone, Copy, Debug)]
struct Case {
    title: &'static str,
    /// How many times as fast as the driver's own the executor is to be.
    aim: Option<f64>,
    streams: usize,
    /// That enqueue, each in streams of its own.
    threads: usize,
    workers: usize,
    /// In each stream, in a round.
    closures: usize,
    /// What each takes.
    work: Duration,
    behind_kernels: bool,
}

/// One stream, a closure behind each kernel, which does nothing.
const PLAIN: Case = Case {
    title: "1 stream, kernel and closure",
    aim: None,
    streams: 1,
    threads: 1,
    workers: 1,
    closures: 500,
    work: Duration::ZERO,
    behind_kernels: true,
};

const SIXTEEN: Case = Case { title: "16 streams, kernel and closure", streams: 16, workers: 8, closures: 100, ..PLAIN };

const CASES: [Case; 9] = [
    Case { title: "1 stream, closures alone", behind_kernels: false, ..PLAIN },
    Case { aim: Some(3.5), ..PLAIN },
    Case { workers: 8, ..PLAIN },
    Case { workers: 1, ..SIXTEEN },
    Case { aim: Some(1.5), ..SIXTEEN },
    Case { title: "16 streams, 4 threads that enqueue", threads: 4, ..SIXTEEN },
    Case { title: "16 streams, kernel and closure of 20 us", closures: 50, work: Duration::from_micros(20), ..SIXTEEN },
    Case {
        title: "16 streams, kernel and closure of 200 us",
        aim: Some(7.0),
        closures: 10,
        work: Duration::from_micros(200),
        ..SIXTEEN
    },
    Case { title: "64 streams, kernel and closure", streams: 64, closures: 25, ..SIXTEEN },
];

const ROUNDS: usize = 31;
const WARM_UP: usize = 2;

/// What a round took, in microseconds for each closure.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Until the last was enqueued.
    enqueued: f64,
    /// Until the streams were done.
    done: f64,
    /// Of all processors.
    processor: f64,
}

pub(crate) fn measure(bench: &Bench) {
    println!("us a closure, min and median; times cuLaunchHostFunc is its median by that of the row\n");
    println!(
        "{:42} {:16} {:>7}   {:>14} {:>14} {:>5} {:>6}  {:>13} {:>11}",
        "", "called by", "workers", "enqueued", "done", "times", "aim", "enqueue ratio", "processor"
    );
    let streams: Vec<Stream> = (0..64).map(|_| Stream::new(&bench.context).expect("a stream")).collect();
    for case in CASES {
        let options = ExecutorOptions::new().workers(case.workers);
        let executor = HostExecutor::new(&bench.context, options).expect("an executor");
        let contestants = [Contestant::Raw, Contestant::Driver, Contestant::Executor(&executor)];
        let mut samples: [Vec<Sample>; 3] = Default::default();
        set_work(case.work);
        for round in 0..ROUNDS + WARM_UP {
            for turn in 0..contestants.len() {
                let which = (round + turn) % contestants.len();
                let sample = run(bench, &case, contestants[which], &streams[..case.streams]);
                if round >= WARM_UP {
                    samples[which].push(sample);
                }
            }
        }
        set_work(Duration::ZERO);
        report(&case, contestants.map(Contestant::name), &samples);
    }
}

fn run(bench: &Bench, case: &Case, contestant: Contestant<'_>, streams: &[Stream]) -> Sample {
    let number = (case.closures * streams.len()) as u64;
    let called = CALLED.load(Ordering::Relaxed);
    let (start, processor) = (Instant::now(), processor_time());
    if case.threads == 1 {
        enqueue(bench, case, contestant, streams);
    } else {
        std::thread::scope(|scope| {
            for part in streams.chunks(streams.len() / case.threads) {
                scope.spawn(move || enqueue(bench, case, contestant, part));
            }
        });
    }
    let enqueued = start.elapsed();
    streams.iter().for_each(|stream| stream.synchronize().expect("no fault"));
    let (done, processor) = (start.elapsed(), processor_time() - processor);
    assert_eq!(CALLED.load(Ordering::Relaxed) - called, number, "each is called once");
    host::reclaim().expect("an ordinary thread");
    let each = |time: Duration| time.as_secs_f64() * 1e6 / number as f64;
    Sample { enqueued: each(enqueued), done: each(done), processor: each(processor) }
}

fn enqueue(bench: &Bench, case: &Case, contestant: Contestant<'_>, streams: &[Stream]) {
    for _ in 0..case.closures {
        for stream in streams {
            if case.behind_kernels {
                bench.launch_nothing(stream);
            }
            contestant.enqueue(stream);
        }
    }
}

fn report(case: &Case, names: [&str; 3], samples: &[Vec<Sample>; 3]) {
    let of = |which: usize, part: fn(&Sample) -> f64| summary(samples[which].iter().map(part).collect());
    let (raw_enqueued, raw_done) = (of(0, |sample| sample.enqueued).1, of(0, |sample| sample.done).1);
    for (which, name) in names.into_iter().enumerate() {
        let enqueued = of(which, |sample| sample.enqueued);
        let done = of(which, |sample| sample.done);
        let processor = of(which, |sample| sample.processor).1;
        let is_executor = which == 2;
        let workers = if is_executor { case.workers.to_string() } else { String::new() };
        let aim = case.aim.filter(|_| is_executor).map_or_else(String::new, |aim| format!("{aim:.1}"));
        println!(
            "{:42} {name:16} {workers:>7}   {:>6.2} {:>7.2} {:>6.2} {:>7.2} {:>5.2} {aim:>6}  {:>13.2} {processor:>11.2}",
            if which == 0 { case.title } else { "" },
            enqueued.0,
            enqueued.1,
            done.0,
            done.1,
            raw_done / done.1,
            enqueued.1 / raw_enqueued,
        );
    }
}
