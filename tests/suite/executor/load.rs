//! Many of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use cuda_hostfn::{ExecutorOptions, HostExecutor, Stream, host};
use libtest_mimic::Failed;
use simulated_driver_client::Client;
use tests::{Machine, Row, check, equal, soon, touch};

pub const TRIALS: &[Row] = &[
    ("load: a great many closures, in order, with flat memory", flat),
    ("load: 16 threads on 16 streams", many_streams),
    ("load: 16 threads on one stream", one_stream),
];

/// The simulated driver is slower.
fn scale(on_device: u64, simulated: u64) -> u64 {
    if Client::of_loaded_driver().is_some() { simulated } else { on_device }
}

/// The process's memory in use, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn flat(machine: &Machine) -> Result<(), Failed> {
    let executor = HostExecutor::new(&machine.context, ExecutorOptions::new().workers(4))?;
    let stream = machine.stream()?;
    let (calls, disordered) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let round = scale(1_000_000, 500);
    let mut at_first = None;
    for number in 0..10 {
        for index in 0..round {
            let (calls, disordered, due) = (calls.clone(), disordered.clone(), number * round + index);
            executor.host_launch(&stream, move || {
                disordered.fetch_add(u64::from(calls.fetch_add(1, Ordering::Relaxed) != due), Ordering::Relaxed);
            })?;
        }
        stream.synchronize()?;
        host::reclaim()?;
        let at_first = *at_first.get_or_insert_with(resident);
        check(resident() < at_first + 8192, || format!("grew from {at_first} to {} KiB", resident()))?;
    }
    equal("calls", &calls.load(Ordering::Relaxed), &(10 * round))?;
    equal("out of order", &disordered.load(Ordering::Relaxed), &0)?;
    equal("outstanding", &host::outstanding(), &0)?;
    soon("captures are dropped", || Arc::strong_count(&calls) == 1)
}

fn many_streams(machine: &Machine) -> Result<(), Failed> {
    threads(machine, &(0..16).map(|_| machine.stream()).collect::<cuda_hostfn::Result<Vec<_>>>()?)
}

fn one_stream(machine: &Machine) -> Result<(), Failed> {
    threads(machine, &[machine.stream()?])
}

fn threads(machine: &Machine, streams: &[Stream]) -> Result<(), Failed> {
    let executor = HostExecutor::new(&machine.context, ExecutorOptions::new().workers(4))?;
    let each = scale(5_000, 50);
    let calls = Arc::new(AtomicU64::new(0));
    thread::scope(|scope| -> Result<(), Failed> {
        let threads: Vec<_> = (0..16)
            .map(|index| {
                let (executor, stream, calls) = (&executor, &streams[index % streams.len()], calls.clone());
                scope.spawn(move || -> cuda_hostfn::Result<()> {
                    for number in 0..each {
                        let calls = calls.clone();
                        let call = move || touch(calls.fetch_add(1, Ordering::Relaxed));
                        match number % 8 {
                            0 => executor.host_task(stream, call)?.join()?,
                            1 => drop(executor.host_task(stream, call)?),
                            2 => drop(executor.host_task_with(stream, vec![number], move |_| call())?),
                            _ => executor.host_launch(stream, call)?,
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| Ok(thread.join().map_err(|_| "panicked")??))
    })?;
    streams.iter().try_for_each(|stream| stream.synchronize())?;
    equal("calls", &calls.load(Ordering::Relaxed), &(16 * each))?;
    equal("outstanding", &host::outstanding(), &0)?;
    soon("captures are dropped", || Arc::strong_count(&calls) == 1)
}
