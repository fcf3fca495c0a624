//! The calls themselves: what they run, in which order, what they give back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use cuda_hostfn::{ExecutorOptions, HostExecutor, LaunchConfig, in_host_function};
use libtest_mimic::Failed;
use tests::{Drops, Machine, Row, check, equal, soon, touch};

pub const TRIALS: &[Row] = &[
    ("calls: between kernels, in the stream's order", between_kernels),
    ("calls: every form, and where values are dropped", every_form),
];

fn between_kernels(machine: &Machine) -> Result<(), Failed> {
    let executor = HostExecutor::new(&machine.context, ExecutorOptions::new())?;
    let stream = machine.stream()?;
    let words = Arc::new(machine.pinned(1)?);
    let (address, config) = (words.device_address(), LaunchConfig::new(1, 1));
    let wrong = Arc::new(AtomicU32::new(0));
    const ROUNDS: u32 = 1000;
    for round in 1..=ROUNDS {
        // SAFETY: `words` outlives the stream's work.
        unsafe { machine.fill.launch(&stream, &config, (address, 1, round)) }?;
        let (words, wrong) = (words.clone(), wrong.clone());
        executor.host_launch(&stream, move || {
            let before = words.words()[0].swap(0, Ordering::Relaxed);
            wrong.fetch_add(u32::from(before != round || in_host_function()), Ordering::Relaxed);
        })?;
    }
    stream.synchronize()?;
    equal("left behind by the last closure", &words.words()[0].load(Ordering::Relaxed), &0)?;
    equal("calls at a wrong time", &wrong.load(Ordering::Relaxed), &0)
}

fn every_form(machine: &Machine) -> Result<(), Failed> {
    let executor = HostExecutor::new(&machine.context, ExecutorOptions::new())?;
    let stream = machine.stream()?;
    let (drops, here) = (Drops::default(), thread::current().id());
    let (send, receive) = channel();
    let value = drops.value();
    let mut calls = 0;
    executor.host_launch(&stream, move || {
        calls += 1;
        send.send((calls, thread::current().id())).unwrap();
        touch(&value);
    })?;
    let task = executor.host_task(&stream, || 6 * 7)?;
    let with = executor.host_task_with(&stream, (drops.value(), 1), |(_, number)| *number + 1)?;
    let large = executor.host_task(&stream, {
        let bytes = [7_u8; 4096];
        move || bytes
    })?;
    equal("task", &task.join()?, &42)?;
    equal("with a value", &with.join()?, &2)?;
    check(large.join()? == [7; 4096], || "large".to_owned())?;
    let (calls, thread) = receive.recv()?;
    check(calls == 1 && thread != here, || format!("{calls} on {thread:?}"))?;
    soon("dropped", || drops.count() == 2)
}
