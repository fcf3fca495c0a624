//! What closures may do, and what they are kept from.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use cuda_hostfn::{Error, Event, HostExecutor, LaunchConfig, Stream, TaskError};
use libtest_mimic::Failed;
use tests::{Machine, Row, check, equal};

use crate::executor;

pub const TRIALS: &[Row] = &[
    ("rights: a closure calls CUDA", cuda),
    ("rights: closures that each enqueue the next one in their own stream", chain),
    ("rights: waiting for the own stream is refused", own_stream),
    ("rights: a destructor that waits for a stream finds a worker for it", destructor),
];

fn cuda(machine: &Machine) -> Result<(), Failed> {
    let executor = Arc::new(executor(machine)?);
    let stream = machine.stream()?;
    let (inside, colleague) = (machine.clone(), executor.clone());
    let task = executor.host_task(&stream, move || -> Result<u32, Failed> {
        let other = inside.stream()?;
        let (words, event) = (inside.pinned(1)?, Event::new(&inside.context)?);
        // SAFETY: `words` outlives the stream's work.
        unsafe { inside.fill.launch(&other, &LaunchConfig::new(1, 1), (words.device_address(), 1, 7)) }?;
        event.record(&other)?;
        event.synchronize()?;
        other.synchronize()?;
        // The words' memory cannot be freed here: that waits for the device.
        let result = words.words()[0].load(Ordering::Relaxed);
        std::mem::forget(words);
        Ok(result + colleague.host_task(&other, || 1)?.join()? + other.host_task(|| 1)?.join()?)
    })?;
    equal("result", &task.join()??, &9)
}

struct Link {
    executor: Arc<HostExecutor>,
    stream: Arc<Stream>,
    calls: AtomicU32,
    done: Sender<cuda_hostfn::Result<()>>,
}

const LINKS: u32 = 2000;

fn go_on(link: &Arc<Link>) -> cuda_hostfn::Result<()> {
    let next = link.clone();
    let call = move || {
        if next.calls.fetch_add(1, Ordering::Relaxed) + 1 == LINKS {
            next.done.send(Ok(())).unwrap();
        } else if let Err(error) = go_on(&next) {
            next.done.send(Err(error)).unwrap();
        }
    };
    Ok(link.executor.host_launch(&link.stream, call)?)
}

fn chain(machine: &Machine) -> Result<(), Failed> {
    let (done, is_done) = channel();
    let (executor, stream) = (Arc::new(executor(machine)?), Arc::new(machine.stream()?));
    let link = Arc::new(Link { executor, stream: stream.clone(), calls: AtomicU32::new(0), done });
    go_on(&link)?;
    is_done.recv()??;
    stream.synchronize()?;
    equal("calls", &link.calls.load(Ordering::Relaxed), &LINKS)
}

fn own_stream(machine: &Machine) -> Result<(), Failed> {
    let executor = Arc::new(executor(machine)?);
    let (stream, other) = (Arc::new(machine.stream()?), machine.stream()?);
    let (own, inside, colleague) = (stream.clone(), machine.clone(), executor.clone());
    let task = executor.host_task(&stream, move || -> Result<Vec<String>, Error> {
        let mut wrong = Vec::new();
        let mut see = |name: &str, error: Error| {
            if !matches!(error, Error::WouldDeadlock) {
                wrong.push(format!("{name}: {error}"));
            }
        };
        let no = || Error::Panicked("was done".to_owned());
        see("synchronize", own.synchronize().err().unwrap_or_else(no));
        see("Context::synchronize", inside.context.synchronize().err().unwrap_or_else(no));
        see("scope", own.scope(|_| Ok(())).err().unwrap_or_else(no));
        let mut task = colleague.host_task(&own, || ())?;
        see("wait_timeout", task.wait_timeout(Duration::from_millis(1)).err().unwrap_or_else(no));
        see("join", task.join().map_err(Error::from).err().unwrap_or_else(no));
        see("join, the driver's", own.host_task(|| ())?.join().map_err(Error::from).err().unwrap_or_else(no));
        Ok(wrong)
    })?;
    equal("not refused", &task.join()??, &Vec::new())?;
    stream.synchronize()?;
    // On every other thread, nothing is refused.
    executor.host_task(&other, move || stream.synchronize())?.join()??;
    let refused: Result<(), TaskError> = executor.host_task(&other, || ())?.join();
    check(refused.is_ok(), || format!("{refused:?}"))
}

/// Waits for its stream when it is dropped.
struct Waits {
    executor: Arc<HostExecutor>,
    stream: Stream,
    done: Sender<bool>,
}

impl Drop for Waits {
    fn drop(&mut self) {
        let result = self.executor.host_task(&self.stream, || 7).map_err(Error::from).and_then(|task| Ok(task.join()?));
        let _ = self.done.send(matches!(result, Ok(7)));
    }
}

fn destructor(machine: &Machine) -> Result<(), Failed> {
    let executor = Arc::new(executor(machine)?);
    let stream = machine.stream()?;
    let (done, is_done) = channel();
    for _ in 0..10 {
        let value = Waits { executor: executor.clone(), stream: machine.stream()?, done: done.clone() };
        // A worker drops it, if this thread makes no call.
        drop(executor.host_task_with(&stream, value, |_| ())?);
        check(is_done.recv_timeout(Duration::from_secs(20))?, || "it did not get its result".to_owned())?;
    }
    Ok(())
}
