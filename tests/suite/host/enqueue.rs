//! The calls themselves: what they run, what they give back, what they refuse.

use std::ffi::c_void;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use cuda_hostfn::sys::{CUresult, driver};
use cuda_hostfn::{
    BorrowedStream, CaptureMode, CaptureStatus, Error, HostTask, PerThreadStream, StreamRef, SyncMode, TaskError,
};
use libtest_mimic::Failed;
use simulated_driver_client::Client;
use tests::{Drops, Gate, Machine, Row, check, equal, soon, touch};

pub const TRIALS: &[Row] = &[
    ("enqueue: every form, on every kind of stream", every_stream),
    ("enqueue: a task is finished once it was called", finished),
    ("enqueue: a task is a future", future),
    ("enqueue: large closures and results", large),
    ("enqueue: copies give both buffers back", copies),
    ("enqueue: a C function with a pointer, and with a copy", raw),
    ("enqueue: a refused call gives everything back", refused),
    ("enqueue: tasks are refused while capturing, which goes on", capturing),
    ("enqueue: a captured closure is called by each launch of the graph", captured),
    ("enqueue: a captured closure lives as long as its last graph", captured_lifetime),
    ("enqueue: spin-wait where the driver has it", spin_wait),
];

fn every_stream(machine: &Machine) -> Result<(), Failed> {
    let owned = machine.stream()?;
    // SAFETY: `owned` outlives it.
    let borrowed = unsafe { BorrowedStream::from_raw(owned.as_raw()) }?;
    let legacy = BorrowedStream::legacy(&machine.context);
    let null = machine.context.with_current(|| {
        // SAFETY: the default stream of a context that is kept.
        unsafe { BorrowedStream::from_raw(std::ptr::null_mut()) }
    })??;
    let per_thread = PerThreadStream::new(&machine.context);
    let streams: [(&str, &StreamRef); 5] =
        [("owned", &owned), ("borrowed", &borrowed), ("legacy", &legacy), ("NULL", &null), ("per-thread", &per_thread)];
    for (name, stream) in streams {
        let drops = Drops::default();
        let (send, receive) = channel();
        let other = send.clone();
        stream.host_launch(move || send.send(1).unwrap())?;
        let task = stream.host_task(move || other.send(2).is_ok())?;
        let with = stream.host_task_with(vec![1, 2, 3], |words| words.iter().sum::<i32>())?;
        stream.retire(drops.value())?;
        equal(name, &task.join()?, &true)?;
        equal(name, &with.join()?, &6)?;
        stream.synchronize()?;
        soon("retired", || drops.count() == 1)?;
        equal(name, &receive.try_iter().collect::<Vec<_>>(), &vec![1, 2])?;
    }
    Ok(())
}

fn finished(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let mut gate = Gate::close(&stream)?;
    let mut task = stream.host_task(|| 7)?;
    check(!task.is_finished(), || "finished behind the gate".to_owned())?;
    check(!task.wait_timeout(Duration::from_millis(5))?, || "waited for it in vain".to_owned())?;
    gate.open();
    check(task.wait_timeout(Duration::from_secs(20))?, || "did not finish".to_owned())?;
    check(task.is_finished(), || "it is not finished".to_owned())?;
    equal("result", &task.join()?, &7)
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

pub fn block_on<T>(task: HostTask<T>) -> Result<T, TaskError> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut task = pin!(task);
    loop {
        match task.as_mut().poll(&mut TaskContext::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park(),
        }
    }
}

fn future(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    for _ in 0..100 {
        equal("result", &block_on(stream.host_task(|| "result")?)?, &"result")?;
    }
    let mut gate = Gate::close(&stream)?;
    let task = stream.host_task(|| "later")?;
    let opener = thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        gate.open();
    });
    equal("result", &block_on(task)?, &"later")?;
    opener.join().map_err(|_| "panicked".into())
}

fn large(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    let (bytes, value) = ([7_u8; 4096], drops.value());
    let task = stream.host_task_with((bytes, value), |(bytes, _)| *bytes)?;
    equal("result", &task.join()?, &bytes)?;
    soon("dropped", || drops.count() == 1)?;
    stream.host_launch(move || assert_eq!(bytes[4095], 7))?;
    Ok(stream.synchronize()?)
}

fn copies(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let from: Arc<[u32]> = (0..1000).collect();
    let copy = stream.host_copy(vec![0; 1000], from.clone())?;
    let (to, same) = copy.join()?;
    check(to[..] == from[..] && Arc::ptr_eq(&from, &same), || "not copied".to_owned())?;
    let (error, (to, _)) = stream.host_copy(vec![0_u32; 3], from).unwrap_err().into_parts();
    check(matches!(error, Error::Invalid(_)) && to == [0; 3], || format!("{error}"))
}

unsafe extern "C" fn add_one(number: *mut c_void) {
    // SAFETY: the trial passes an atomic that outlives the call.
    unsafe { &*number.cast::<AtomicU32>() }.fetch_add(1, Ordering::Relaxed);
}

static SUM: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn add_word(word: *mut c_void) {
    // SAFETY: the trial passes four bytes, or none.
    let word = unsafe { word.cast::<u32>().as_ref() };
    SUM.fetch_add(word.copied().unwrap_or(1000), Ordering::Relaxed);
}

fn raw(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let number = AtomicU32::new(0);
    let pointer = std::ptr::from_ref(&number).cast_mut().cast();
    // SAFETY: `number` outlives the calls.
    unsafe { stream.host_launch_raw(Some(add_one), pointer) }?;
    // SAFETY: as above.
    unsafe { stream.host_launch_raw(Some(add_one), pointer) }?;
    // SAFETY: the function takes four bytes.
    unsafe { stream.host_launch_raw_copy(Some(add_word), &7_u32.to_ne_bytes()) }?;
    // SAFETY: and NULL.
    unsafe { stream.host_launch_raw_copy(Some(add_word), &[]) }?;
    // SAFETY: nothing is called.
    let none = unsafe { stream.host_launch_raw(None, pointer) };
    stream.synchronize()?;
    equal("pointer", &number.load(Ordering::Relaxed), &2)?;
    equal("copies", &SUM.swap(0, Ordering::Relaxed), &1007)?;
    check(none.is_err_and(|error| error.code() == Some(CUresult::CUDA_ERROR_INVALID_VALUE)), || "NULL".to_owned())
}

fn refused(machine: &Machine) -> Result<(), Failed> {
    // A capture that became invalid refuses everything.
    let stream = machine.stream()?;
    stream.begin_capture(CaptureMode::ThreadLocal)?;
    let _ = stream.synchronize();
    equal("status", &stream.capture_status()?, &CaptureStatus::Invalidated)?;
    let drops = Drops::default();
    let (value, other, third, fourth) = (drops.value(), drops.value(), drops.value(), drops.value());
    let outstanding = cuda_hostfn::host::outstanding();
    let closure = stream.host_launch(move || touch(&value)).unwrap_err().into_inner();
    let task = stream.host_task(move || drop(other)).unwrap_err().into_inner();
    let (fourth, _) = stream.host_task_with(fourth, |_| ()).unwrap_err().into_inner();
    let third = stream.retire(third).unwrap_err();
    check(third.error().code() == Some(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED), || format!("{third}"))?;
    let _ = stream.end_capture();
    equal("dropped", &drops.count(), &0)?;
    equal("outstanding", &cuda_hostfn::host::outstanding(), &outstanding)?;
    // What came back is as good as new.
    stream.host_launch(closure)?;
    stream.host_task(task)?.join()?;
    stream.retire((third.into_inner(), fourth))?;
    stream.synchronize()?;
    soon("dropped", || drops.count() == 4)
}

fn capturing(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    stream.begin_capture(CaptureMode::ThreadLocal)?;
    let errors = [
        stream.host_task(|| ()).map(drop).unwrap_err().into_parts().0,
        stream.host_task_with(1, |_| ()).map(drop).unwrap_err().into_parts().0,
        stream.retire(vec![1]).unwrap_err().into_parts().0,
        stream.retire(1).unwrap_err().into_parts().0,
        stream.host_copy(vec![1_u8], vec![2]).map(drop).unwrap_err().into_parts().0,
        stream.scope(|_| Ok(())).unwrap_err(),
    ];
    let status = stream.capture_status();
    drop(stream.end_capture()?);
    check(errors.iter().all(|error| matches!(error, Error::Capturing)), || format!("{errors:?}"))?;
    equal("status", &status?, &CaptureStatus::Active)
}

fn captured(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let words = machine.pinned(1)?;
    let (send, receive) = channel();
    let address = words.device_address();
    let words = Arc::new(words);
    let seen = words.clone();
    let config = cuda_hostfn::LaunchConfig::new(1, 1);
    stream.begin_capture(CaptureMode::ThreadLocal)?;
    // SAFETY: `words` outlives the graph's launches.
    unsafe { machine.fill.launch(&stream, &config, (address, 1, 41)) }?;
    let mut calls = 0;
    stream.host_launch(move || {
        calls += 1;
        let before = seen.words()[0].swap(0, Ordering::Relaxed);
        send.send((calls, before)).unwrap();
    })?;
    let graph = stream.end_capture()?;
    check(receive.try_recv().is_err(), || "called by capturing".to_owned())?;
    let executable = graph.instantiate(Default::default())?;
    drop(graph);
    for _ in 0..100 {
        executable.launch(&stream)?;
    }
    stream.synchronize()?;
    let expected: Vec<_> = (1..=100).map(|call| (call, 41)).collect();
    equal("calls", &receive.try_iter().collect::<Vec<_>>(), &expected)
}

fn captured_lifetime(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    let capture = || -> Result<_, Failed> {
        let value = drops.value();
        stream.begin_capture(CaptureMode::ThreadLocal)?;
        let result = stream.host_launch(move || touch(&value));
        let graph = stream.end_capture()?;
        result?;
        Ok(graph)
    };
    drop(capture()?);
    soon("never launched", || drops.count() == 1)?;
    let graph = capture()?;
    let (first, second) = (graph.instantiate(Default::default())?, graph.instantiate(Default::default())?);
    drop(graph);
    first.launch(&stream)?;
    drop(first);
    stream.synchronize()?;
    cuda_hostfn::host::reclaim()?;
    equal("while one is left", &drops.count(), &1)?;
    second.launch(&stream)?;
    drop(second);
    soon("destroyed in flight", || drops.count() == 2)?;
    check(drops.all_here(), || "dropped on another thread".to_owned())?;
    // Invalidated: the driver throws the graph away.
    let value = drops.value();
    stream.begin_capture(CaptureMode::ThreadLocal)?;
    stream.host_launch(move || touch(&value))?;
    let _ = stream.synchronize();
    check(stream.end_capture().is_err(), || "still valid".to_owned())?;
    soon("invalidated", || drops.count() == 3)?;
    check(drops.all_here(), || "dropped on another thread".to_owned())
}

fn spin_wait(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    equal("blocking", &stream.in_sync_mode(SyncMode::Blocking)?.host_task(|| 1)?.join()?, &1)?;
    if driver::symbol(c"cuLaunchHostFunc_v2").is_some() {
        let spinning = stream.in_sync_mode(SyncMode::SpinWait)?;
        spinning.host_launch(|| ())?;
        equal("spinning", &spinning.host_task(|| 2)?.join()?, &2)?;
        // A driver does not say how it waits; the simulated one does.
        return Client::of_loaded_driver()
            .map_or(Ok(()), |driver| equal("spun", &driver.spin_wait_host_functions(), &2));
    }
    match stream.in_sync_mode(SyncMode::SpinWait) {
        Err(Error::MissingFunction(missing)) => equal("missing", &missing.function(), &"cuLaunchHostFunc_v2"),
        other => Err(format!("{other:?}").into()),
    }
}
