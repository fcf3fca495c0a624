//! How executors end, when their workers sleep, and what becomes of their strands.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use cuda_hostfn::{ExecutorOptions, HostExecutor, Stream};
use libtest_mimic::Failed;
use tests::{Machine, Row, check, equal, soon, touch};

use crate::calls::Gate;
use crate::executor;

pub const TRIALS: &[Row] = &[
    ("life: dropping an executor waits for what is in flight", drained),
    ("life: an executor is dropped in a closure of its own", in_closure),
    ("life: an executor is dropped in a host function", in_host_function),
    ("life: workers sleep when nothing is in flight", asleep),
    ("life: more streams than strands, one after another and at once", many_streams),
    ("life: many executors", many_executors),
];

fn drained(machine: &Machine) -> Result<(), Failed> {
    let executor = executor(machine)?;
    let streams = [machine.stream()?, machine.stream()?, machine.stream()?];
    let calls = Arc::new(AtomicU32::new(0));
    for _ in 0..50 {
        for stream in &streams {
            let calls = calls.clone();
            executor.host_launch(stream, move || {
                thread::sleep(Duration::from_micros(100));
                calls.fetch_add(1, Ordering::Relaxed);
            })?;
        }
    }
    drop(executor);
    equal("calls", &calls.load(Ordering::Relaxed), &150)
}

/// Threads of executors.
fn workers() -> Vec<PathBuf> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten().map(|entry| entry.path());
    let is_worker = |name: String| name.starts_with("cuda-hostfn-exe");
    tasks.filter(|task| fs::read_to_string(task.join("comm")).is_ok_and(is_worker)).collect()
}

/// Those of an executor that is made now. One that could not know whether a call was captured leaves a worker behind.
fn new_workers(before: &[PathBuf]) -> Vec<PathBuf> {
    workers().into_iter().filter(|worker| !before.contains(worker)).collect()
}

fn in_closure(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let before = workers();
    let executor = executor(machine)?;
    let own = Arc::new(parking_lot::Mutex::new(None));
    let inside = own.clone();
    let mut gate = Gate::close(&executor, &stream)?;
    let task = executor.host_task(&stream, move || drop(inside.lock().take()))?;
    let after = executor.host_task(&stream, || "still called")?;
    *own.lock() = Some(executor);
    gate.open();
    task.join()?;
    equal("after", &after.join()?, &"still called")?;
    soon("the workers end", || new_workers(&before).is_empty())
}

fn in_host_function(machine: &Machine) -> Result<(), Failed> {
    let (stream, other) = (machine.stream()?, machine.stream()?);
    let before = workers();
    let executor = executor(machine)?;
    let mut gate = Gate::close(&executor, &other)?;
    let after = executor.host_task(&other, || "still called")?;
    stream.host_task(move || drop(executor))?.join()?;
    gate.open();
    equal("after", &after.join()?, &"still called")?;
    soon("the workers end", || new_workers(&before).is_empty())
}

/// The state of a thread, as the kernel has it: `S` if it sleeps.
fn is_asleep(task: &Path) -> bool {
    let status = fs::read_to_string(task.join("stat")).unwrap_or_default();
    status.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('S'))
}

/// How often the thread went to sleep by itself.
fn sleeps(task: &Path) -> u64 {
    let status = fs::read_to_string(task.join("status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.and_then(|line| line.trim().parse().ok()).unwrap_or(0)
}

fn asleep(machine: &Machine) -> Result<(), Failed> {
    let before = workers();
    let executor = executor(machine)?;
    let stream = machine.stream()?;
    executor.host_task(&stream, || ())?.join()?;
    // A thread has its name once it runs.
    soon("both workers", || new_workers(&before).len() == 2)?;
    let workers = new_workers(&before);
    let patience = Instant::now() + Duration::from_secs(10);
    // Asleep, and not woken in between.
    loop {
        let before: Vec<_> = workers.iter().map(|worker| sleeps(worker)).collect();
        thread::sleep(Duration::from_millis(20));
        let after: Vec<_> = workers.iter().map(|worker| sleeps(worker)).collect();
        if before == after && workers.iter().all(|worker| is_asleep(worker)) {
            return Ok(executor.host_task(&stream, || ())?.join()?);
        }
        check(Instant::now() < patience, || "the workers do not sleep".to_owned())?;
    }
}

fn many_streams(machine: &Machine) -> Result<(), Failed> {
    let executor = executor(machine)?;
    let calls = Arc::new(AtomicU32::new(0));
    let call = |stream: &Stream| {
        let calls = calls.clone();
        executor.host_launch(stream, move || touch(calls.fetch_add(1, Ordering::Relaxed)))
    };
    // Their handles are used again and again, their ids are not.
    for _ in 0..300 {
        let stream = machine.stream()?;
        call(&stream)?;
        call(&stream)?;
    }
    machine.context.synchronize()?;
    equal("one after another", &calls.swap(0, Ordering::Relaxed), &600)?;
    // Of streams that wait, a device takes on a few at a time: none of them waits for another here.
    let streams = (0..150).map(|_| machine.stream()).collect::<cuda_hostfn::Result<Vec<_>>>()?;
    let mut gate = Gate::close(&executor, &streams[0])?;
    streams.iter().try_for_each(call)?;
    gate.open();
    streams.iter().try_for_each(|stream| stream.synchronize())?;
    equal("at once", &calls.load(Ordering::Relaxed), &150)
}

fn many_executors(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let before = workers();
    for number in 0..30 {
        let executor = HostExecutor::new(&machine.context, ExecutorOptions::new().workers(1 + number % 3))?;
        let (send, receive) = channel();
        executor.host_launch(&stream, move || send.send(number).unwrap())?;
        if number % 2 == 0 {
            equal("number", &receive.recv()?, &number)?;
        }
        drop(executor);
        check(receive.try_iter().count() == number % 2, || "dropped before the call".to_owned())?;
    }
    soon("the workers end", || new_workers(&before).is_empty())
}
