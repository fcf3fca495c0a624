//! The calls themselves: what they run, in which order, what they give back.

use std::panic::panic_any;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use cuda_hostfn::host::{Method, Waiting};
use cuda_hostfn::{
    BorrowedStream, ExecutorOptions, HostExecutor, HostTask, LaunchConfig, PerThreadStream, StreamRef, TaskError, host,
    in_host_function,
};
use libtest_mimic::Failed;
use tests::{Drops, Machine, Row, check, equal, soon, touch};

use crate::executor;

pub const TRIALS: &[Row] = &[
    ("calls: between kernels, in the stream's order", between_kernels),
    ("calls: every form, on every kind of stream", every_form),
    ("calls: a task is waited for in every way", waited_for),
    ("calls: streams do not wait for each other", independent),
    ("calls: panics end where they happen, and the stream goes on", panics),
    ("calls: however the workers wait", waiting),
    ("calls: options that make no sense are refused", options),
];

/// A worker's turn to open.
pub struct Gate(Option<std::sync::mpsc::Sender<()>>);

impl Gate {
    /// A closure holds the stream up until the gate is opened, or dropped.
    pub fn close(executor: &HostExecutor, stream: &StreamRef) -> Result<Self, Failed> {
        let (open, opened) = channel::<()>();
        executor.host_launch(stream, move || touch(opened.recv()))?;
        Ok(Self(Some(open)))
    }

    pub fn open(&mut self) {
        self.0 = None;
    }
}

fn between_kernels(machine: &Machine) -> Result<(), Failed> {
    let executor = executor(machine)?;
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
    let executor = executor(machine)?;
    let here = thread::current().id();
    let owned = machine.stream()?;
    // SAFETY: `owned` outlives it.
    let borrowed = unsafe { BorrowedStream::from_raw(owned.as_raw()) }?;
    let legacy = BorrowedStream::legacy(&machine.context);
    let per_thread = PerThreadStream::new(&machine.context);
    let streams: [(&str, &StreamRef); 4] =
        [("owned", &owned), ("borrowed", &borrowed), ("legacy", &legacy), ("per-thread", &per_thread)];
    for (name, stream) in streams {
        let drops = Drops::default();
        let (send, receive) = channel();
        let value = drops.value();
        let mut calls = 0;
        executor.host_launch(stream, move || {
            calls += 1;
            send.send((calls, thread::current().id() != here)).unwrap();
            touch(&value);
        })?;
        let task = executor.host_task(stream, || 6 * 7)?;
        let with = executor.host_task_with(stream, (drops.value(), 1), |(_, number)| *number + 1)?;
        let bytes = [7_u8; 4096];
        let large = executor.host_task(stream, move || bytes)?;
        equal(name, &receive.recv()?, &(1, true))?;
        equal(name, &task.join()?, &42)?;
        equal(name, &with.join()?, &2)?;
        check(large.join()? == bytes, || format!("{name}: large"))?;
        soon("dropped", || drops.count() == 2)?;
    }
    equal("outstanding", &host::outstanding(), &0)
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<T>(task: HostTask<T>) -> Result<T, TaskError> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut task = pin!(task);
    loop {
        match task.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park(),
        }
    }
}

fn waited_for(machine: &Machine) -> Result<(), Failed> {
    let executor = executor(machine)?;
    let stream = machine.stream()?;
    for _ in 0..100 {
        equal("awaited", &block_on(executor.host_task(&stream, || "result")?)?, &"result")?;
        equal("joined", &executor.host_task(&stream, || "result")?.join()?, &"result")?;
    }
    let mut gate = Gate::close(&executor, &stream)?;
    let mut task = executor.host_task(&stream, || 7)?;
    let detached = executor.host_task(&stream, || 7)?;
    check(!task.is_finished(), || "finished behind the gate".to_owned())?;
    check(!task.wait_timeout(Duration::from_millis(5))?, || "waited for it in vain".to_owned())?;
    drop(detached);
    gate.open();
    check(task.wait_timeout(Duration::from_secs(20))?, || "did not finish".to_owned())?;
    equal("result", &task.join()?, &7)
}

/// A closure of one stream waits for one that comes later in the other.
fn independent(machine: &Machine) -> Result<(), Failed> {
    let executor = executor(machine)?;
    let (first, second) = (machine.stream()?, machine.stream()?);
    for _ in 0..200 {
        let (send, receive) = channel();
        let task = executor.host_task(&first, move || receive.recv_timeout(Duration::from_secs(20)))?;
        executor.host_launch(&second, move || send.send(7).unwrap())?;
        equal("received", &task.join()?, &Ok(7))?;
    }
    Ok(())
}

fn panics(machine: &Machine) -> Result<(), Failed> {
    let executor = executor(machine)?;
    let stream = machine.stream()?;
    let before = host::counters().panics;
    let text = executor.host_task(&stream, || -> () { panic!("number {}", 7) })?;
    executor.host_launch(&stream, || panic_any(7_u8))?;
    let after = executor.host_task(&stream, || "goes on")?;
    match text.join() {
        Err(TaskError::Panicked(panic)) => equal("text", &panic.message(), &Some("number 7"))?,
        other => return Err(format!("{other:?}").into()),
    }
    equal("after", &after.join()?, &"goes on")?;
    equal("counted", &(host::counters().panics - before), &2)
}

fn waiting(machine: &Machine) -> Result<(), Failed> {
    let (spin, longest_sleep) = (Duration::ZERO, Duration::from_millis(1));
    for waiting in [Waiting::Spin, Waiting::default(), Waiting::BackOff { spin, longest_sleep }] {
        let executor = HostExecutor::new(&machine.context, ExecutorOptions::new().workers(2).waiting(waiting))?;
        check(executor.method() != Method::HostFunctions, || format!("{executor:?}"))?;
        let stream = machine.stream()?;
        let mut gate = Gate::close(&executor, &stream)?;
        let task = executor.host_task(&stream, || 7)?;
        thread::sleep(Duration::from_millis(5));
        gate.open();
        equal("result", &task.join()?, &7)?;
    }
    Ok(())
}

fn options(machine: &Machine) -> Result<(), Failed> {
    let refused = HostExecutor::new(&machine.context, ExecutorOptions::new().workers(0)).map(drop);
    check(matches!(refused, Err(cuda_hostfn::Error::Invalid(_))), || format!("{refused:?}"))
}
