//! Failures that people reported of other stacks and that concern host functions: `docs/field-cases.md`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use cuda_hostfn::{Event, Graph, Module, Stream, host};
use libtest_mimic::Failed;
use simulated_driver_client::Client;
use tests::{Machine, Row, equal, touch};

pub const TRIALS: &[Row] = &[
    ("field: while enqueueing waits for a host function, that one has every lock of the crate's", waiting_enqueue),
    ("field: one function enqueued twice has each time its own data", own_data),
    ("field: an answer is of its own call, whatever was at its address before", own_answer),
];

/// More than a stream has room for.
const CALLS: u64 = 5_000;

fn waiting_enqueue(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let graph = Graph::new(&machine.context)?;
    let handles = (
        (Stream::new(&machine.context)?, Event::new(&machine.context)?),
        (graph.instantiate(Default::default())?, graph),
        Module::from_ptx(&machine.context, include_str!("../../../cuda-hostfn/tests/fill.ptx"))?,
        stream.host_task(|| ())?,
    );
    let (enqueued, called) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (begun, begin) = channel();
    let count = enqueued.clone();
    let first = stream.host_task(move || {
        begun.send(()).unwrap();
        until_stuck(&count);
        drop(handles);
        host::set_panic_handler(Some(Box::new(|_| ())));
        host::set_panic_handler(None);
        touch((host::outstanding(), host::counters()));
    })?;
    begin.recv()?;
    let driver = Client::of_loaded_driver();
    if let Some(driver) = driver {
        driver.let_enqueueing_wait();
    }
    for number in 0..CALLS {
        let called = called.clone();
        let call = move || touch(called.fetch_add(1, Ordering::Relaxed));
        match number % 3 {
            0 => drop(stream.host_task(call)?),
            1 => drop(stream.host_task_with(number, move |_| call())?),
            _ => stream.host_launch(call)?,
        }
        enqueued.fetch_add(1, Ordering::Relaxed);
    }
    first.join()?;
    stream.synchronize()?;
    if let Some(driver) = driver {
        driver.calm();
    }
    equal("calls", &called.load(Ordering::Relaxed), &CALLS)
}

/// Until the other thread is through, or has made no progress for a while.
fn until_stuck(enqueued: &AtomicU64) {
    let mut last = (u64::MAX, Instant::now());
    while last.1.elapsed() < Duration::from_millis(100) {
        let now = enqueued.load(Ordering::Relaxed);
        if now == CALLS {
            return;
        }
        if now != last.0 {
            last = (now, Instant::now());
        }
        thread::yield_now();
    }
}

fn own_data(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let sums: [Arc<AtomicU64>; 3] = Default::default();
    let add = |index: usize, value: u64| {
        let sum = sums[index].clone();
        stream.host_launch(move || touch(sum.fetch_add(value, Ordering::Relaxed)))
    };
    for round in 0..100 {
        for index in 0..sums.len() {
            add(index, round)?;
        }
        add(1, 1000)?;
    }
    stream.synchronize()?;
    let found = sums.each_ref().map(|sum| sum.load(Ordering::Relaxed));
    equal("sums", &found, &[4950, 104_950, 4950])
}

fn own_answer(machine: &Machine) -> Result<(), Failed> {
    let streams = [machine.stream()?, machine.stream()?];
    let mut held = VecDeque::new();
    let join = |at: usize, held: &mut VecDeque<_>| -> Result<(), Failed> {
        let (number, task): (usize, cuda_hostfn::HostTask<usize>) = held.remove(at).ok_or("none held")?;
        equal("answer", &task.join()?, &number)
    };
    for number in 0..3000 {
        let stream = &streams[number % 2];
        match number % 3 {
            0 => drop(stream.host_task(move || number)?),
            1 => stream.host_launch(move || touch(number))?,
            _ => held.push_back((number, stream.host_task(move || number)?)),
        }
        if held.len() > 7 {
            join(number % 7, &mut held)?;
        }
    }
    while !held.is_empty() {
        join(0, &mut held)?;
    }
    // Those that nobody holds are not another trial's to find.
    Ok(streams.iter().try_for_each(|stream| stream.synchronize())?)
}
