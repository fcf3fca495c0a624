//! Captures, which executors take no part in.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use cuda_hostfn::{
    CaptureMode, CaptureStatus, Error, ExecutorOptions, Graph, HostExecutor, InstantiateOptions, StreamRef, host,
};
use libtest_mimic::Failed;
use simulated_driver_client::Client;
use tests::{Drops, Machine, Row, check, equal, soon, touch};

use crate::executor;

pub const TRIALS: &[Row] = &[
    ("captures: closures are given back, and the capture goes on", refused),
    ("captures: those of other streams disturb none", elsewhere),
    ("captures: begun and ended in another stream all the time", raced_elsewhere),
];

fn is_refused(executor: &HostExecutor, stream: &StreamRef) -> Result<(), Failed> {
    let drops = Drops::default();
    let (value, other, third) = (drops.value(), drops.value(), drops.value());
    stream.begin_capture(CaptureMode::ThreadLocal)?;
    let launch = executor.host_launch(stream, move || touch(&value)).unwrap_err();
    let task = executor.host_task(stream, move || drop(other)).map(drop).unwrap_err();
    let with = executor.host_task_with(stream, third, |_| ()).map(drop).unwrap_err();
    let status = stream.capture_status();
    drop(stream.end_capture()?);
    equal("status", &status?, &CaptureStatus::Active)?;
    for error in [launch.error(), task.error(), with.error()] {
        check(matches!(error, Error::Capturing), || format!("{error}"))?;
    }
    equal("dropped", &drops.count(), &0)?;
    executor.host_launch(stream, launch.into_inner())?;
    executor.host_task(stream, task.into_inner())?.join()?;
    drop(with);
    soon("dropped", || drops.count() == 3)
}

fn refused(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    is_refused(&executor(machine)?, &stream)?;
    is_refused(&HostExecutor::new_or_driver(&machine.context, ExecutorOptions::new())?, &stream)
}

fn elsewhere(machine: &Machine) -> Result<(), Failed> {
    let executor = executor(machine)?;
    let (stream, other) = (machine.stream()?, machine.stream()?);
    other.begin_capture(CaptureMode::Global)?;
    let inside = executor.host_task(&stream, || 7).map_err(Error::from).and_then(|task| Ok(task.join()?));
    let status = other.capture_status();
    drop(other.end_capture()?);
    equal("status", &status?, &CaptureStatus::Active)?;
    equal("result", &inside?, &7)
}

fn raced_elsewhere(machine: &Machine) -> Result<(), Failed> {
    raced(machine, false)
}

/// In the very stream, which a real driver (580.159.04) does not survive: there, a C program that does the same with
/// `cuLaunchHostFunc` ends in a segmentation fault.
pub fn raced_here(machine: &Machine, _: Client) -> Result<(), Failed> {
    raced(machine, true)
}

/// Every closure is called once, or given back; nothing hangs. One that came into a graph is called with the graph.
fn raced(machine: &Machine, is_here: bool) -> Result<(), Failed> {
    let executor = executor(machine)?;
    let stream = machine.stream()?;
    let (calls, is_over) = (std::sync::Arc::new(AtomicU32::new(0)), AtomicBool::new(false));
    let mut given_back = 0;
    const CALLS: u32 = 2000;
    thread::scope(|scope| -> Result<(), Failed> {
        let other = scope.spawn(|| -> Result<Vec<Graph>, Failed> {
            let other = machine.stream()?;
            let mut graphs = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                for stream in [&other, &stream].into_iter().take(1 + usize::from(is_here)) {
                    if stream.begin_capture(CaptureMode::Relaxed).is_ok() {
                        thread::yield_now();
                        graphs.extend(stream.end_capture());
                    }
                }
            }
            Ok(graphs)
        });
        for _ in 0..CALLS {
            let calls = calls.clone();
            given_back +=
                u32::from(executor.host_launch(&stream, move || _ = calls.fetch_add(1, Ordering::Relaxed)).is_err());
        }
        is_over.store(true, Ordering::Relaxed);
        for graph in other.join().map_err(|_| "panicked")?? {
            graph.instantiate(InstantiateOptions::default())?.launch(&stream)?;
        }
        Ok(())
    })?;
    check(is_here || given_back == 0, || format!("{given_back} were given back"))?;
    stream.synchronize()?;
    soon("called or given back", || calls.load(Ordering::Relaxed) + given_back == CALLS)?;
    soon("nothing is outstanding", || host::outstanding() == 0)
}
