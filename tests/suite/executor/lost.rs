//! Device faults, resets, and the end of the process. Each is done by a child, whose context is gone afterwards.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use cuda_hostfn::sys::{self, CUresult};
use cuda_hostfn::{TaskError, host};
use libtest_mimic::Failed;
use tests::faults::{BOUND, is_lost, trap};
use tests::{Drops, Machine, Row, check, children::ask, equal, soon, touch};

use crate::executor;

pub const TRIALS: &[Row] = &[
    ("lost: join after a trap", |_| ask("join")),
    ("lost: nobody waits, and the executor is dropped after a trap", |_| ask("forget")),
    ("lost: a running closure is waited for", |_| ask("running")),
    ("lost: the primary context is reset with tasks pending", |_| ask("reset")),
    ("lost: a process ends with everything in flight", |_| ask("exit")),
    ("lost: a process ends with a closure running", |_| ask("exit while running")),
];

/// What the children do.
pub const QUESTIONS: &[Row] = &[
    ("join", join),
    ("forget", forget),
    ("running", running),
    ("reset", reset),
    ("exit", exit),
    ("exit while running", exit_while_running),
];

fn join(machine: &Machine) -> Result<(), Failed> {
    let executor = executor(machine)?;
    let stream = machine.stream()?;
    let drops = Drops::default();
    let (captured, value) = (drops.value(), drops.value());
    let before = executor.host_task(&stream, || "before")?;
    trap(machine, &stream)?;
    executor.host_launch(&stream, move || touch(&captured))?;
    let task = executor.host_task_with(&stream, value, |_| ())?;
    equal("before", &before.join()?, &"before")?;
    let start = Instant::now();
    is_lost(task.join())?;
    check(start.elapsed() < BOUND, || format!("took {:?}", start.elapsed()))?;
    soon("released", || drops.count() == 2)?;
    equal("outstanding", &host::outstanding(), &0)?;
    // From now on, the driver refuses, and everything comes back.
    let (error, mut closure) = executor.host_launch(&stream, || ()).unwrap_err().into_parts();
    closure();
    equal("code", &error.code(), &Some(CUresult::CUDA_ERROR_LAUNCH_FAILED))?;
    drop(executor);
    Ok(())
}

fn forget(machine: &Machine) -> Result<(), Failed> {
    let executor = executor(machine)?;
    let (stream, other) = (machine.stream()?, machine.stream()?);
    let drops = Drops::default();
    let (captured, second) = (drops.value(), drops.value());
    trap(machine, &stream)?;
    executor.host_launch(&stream, move || touch(&captured))?;
    executor.host_launch(&other, move || touch(&second))?;
    let start = Instant::now();
    drop(executor);
    check(start.elapsed() < BOUND, || format!("took {:?}", start.elapsed()))?;
    soon("released", || drops.count() == 2)?;
    equal("outstanding", &host::outstanding(), &0)
}

fn running(machine: &Machine) -> Result<(), Failed> {
    let executor = executor(machine)?;
    let (stream, other) = (machine.stream()?, machine.stream()?);
    let (begun, begin) = channel();
    let task = executor.host_task(&stream, move || {
        begun.send(()).unwrap();
        thread::sleep(Duration::from_millis(1500));
        "returned"
    })?;
    begin.recv()?;
    trap(machine, &other)?;
    is_lost(executor.host_task(&other, || ())?.join())?;
    drop(executor);
    check(task.is_finished(), || "dropped before the closure returned".to_owned())?;
    equal("it ran on", &task.join()?, &"returned")
}

fn reset(machine: &Machine) -> Result<(), Failed> {
    let executor = executor(machine)?;
    let stream = machine.stream()?;
    let drops = Drops::default();
    executor.host_launch(&stream, || thread::sleep(Duration::from_millis(100)))?;
    let task = executor.host_task_with(&stream, drops.value(), |_| "called")?;
    // SAFETY: nothing of the context is used afterwards but handles, which then get errors.
    let code = unsafe { sys::cuDevicePrimaryCtxReset(machine.device.as_raw()) };
    equal("reset", &code, &CUresult::CUDA_SUCCESS)?;
    let start = Instant::now();
    match task.join() {
        Ok("called") | Err(TaskError::Lost(_)) => {}
        other => return Err(format!("{other:?}").into()),
    }
    check(start.elapsed() < BOUND, || format!("took {:?}", start.elapsed()))?;
    soon("released", || drops.count() == 1)?;
    std::mem::forget(stream);
    // The workers looked at the bells all the time.
    drop(executor);
    Ok(())
}

fn exit(machine: &Machine) -> Result<(), Failed> {
    let executor = executor(machine)?;
    let stream = machine.stream()?;
    let value = machine.pinned(16)?;
    trap(machine, &stream)?;
    // The driver may have noticed.
    let _ = executor.host_launch(&stream, move || touch(&value));
    std::mem::forget((executor.host_task(&stream, || ()), executor));
    Ok(())
}

fn exit_while_running(machine: &Machine) -> Result<(), Failed> {
    let executor = executor(machine)?;
    let streams = [machine.stream()?, machine.stream()?];
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let (begun, begin) = channel();
    executor.host_launch(&streams[0], move || {
        begun.send(()).unwrap();
        thread::sleep(Duration::from_secs(3600));
    })?;
    for _ in 0..100 {
        executor.host_launch(&streams[0], || _ = CALLS.fetch_add(1, Ordering::Relaxed))?;
        executor.host_launch(&streams[1], || _ = CALLS.fetch_add(1, Ordering::Relaxed))?;
    }
    begin.recv()?;
    // Unloading the module would wait for the closure.
    std::mem::forget((executor, streams, machine.clone()));
    Ok(())
}
