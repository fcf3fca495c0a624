//! Many of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use cuda_hostfn::{Stream, host};
use libtest_mimic::Failed;
use simulated_driver_client::Client;
use tests::{Machine, Row, check, equal, touch};

pub const TRIALS: &[Row] = &[
    ("load: a great many launches, with flat memory", flat),
    ("load: 16 threads on 16 streams", many_streams),
    ("load: 16 threads on one stream", one_stream),
];

/// The simulated driver is slower.
fn scale(number: u64) -> u64 {
    if Client::of_loaded_driver().is_some() { number / 100 } else { number }
}

/// The process's memory in use, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn flat(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let calls = Arc::new(AtomicU64::new(0));
    let round = scale(100_000);
    let mut at_first = None;
    for _ in 0..10 {
        for _ in 0..round {
            let calls = calls.clone();
            stream.host_launch(move || touch(calls.fetch_add(1, Ordering::Relaxed)))?;
        }
        stream.synchronize()?;
        host::reclaim()?;
        equal("outstanding", &host::outstanding(), &0)?;
        let at_first = *at_first.get_or_insert_with(resident);
        // What waits in a full stream comes and goes; a leak would be round × 128 bytes each time.
        check(resident() < at_first + 8192, || format!("grew from {at_first} to {} KiB", resident()))?;
    }
    equal("calls", &calls.load(Ordering::Relaxed), &(10 * round))?;
    equal("captures that are left", &Arc::strong_count(&calls), &1)
}

fn many_streams(machine: &Machine) -> Result<(), Failed> {
    threads(&(0..16).map(|_| machine.stream()).collect::<cuda_hostfn::Result<Vec<_>>>()?)
}

fn one_stream(machine: &Machine) -> Result<(), Failed> {
    threads(&[machine.stream()?])
}

fn threads(streams: &[Stream]) -> Result<(), Failed> {
    let each = scale(5_000);
    let calls = Arc::new(AtomicU64::new(0));
    let result: Result<(), Failed> = thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|index| {
                let (stream, calls) = (&streams[index % streams.len()], calls.clone());
                scope.spawn(move || -> cuda_hostfn::Result<()> {
                    for number in 0..each {
                        let calls = calls.clone();
                        let call = move || touch(calls.fetch_add(1, Ordering::Relaxed));
                        match number % 8 {
                            0 => stream.host_task(call)?.join()?,
                            1 => drop(stream.host_task(call)?),
                            2 => drop(stream.host_task_with(vec![number], move |_| call())?),
                            _ => stream.host_launch(call)?,
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        for thread in threads {
            thread.join().map_err(|_| "panicked")??;
        }
        Ok(())
    });
    result?;
    streams.iter().try_for_each(|stream| stream.synchronize())?;
    host::reclaim()?;
    equal("calls", &calls.load(Ordering::Relaxed), &(16 * each))?;
    equal("outstanding", &host::outstanding(), &0)?;
    equal("captures that are left", &Arc::strong_count(&calls), &1)
}
