//! When and where what the crate owns is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use cuda_hostfn::host::{self, Reclaimer};
use cuda_hostfn::sys::{self, CUresult, CUstreamCaptureMode};
use cuda_hostfn::{CaptureMode, CaptureStatus, Event};
use libtest_mimic::Failed;
use parking_lot::Mutex;
use tests::{Drops, Gate, Machine, Row, check, equal, soon, touch};

pub const TRIALS: &[Row] = &[
    ("values: dropped after the call and only then, on this thread", after),
    ("values: so also when the stream is dropped first", stream_dropped_first),
    ("values: any call into the crate drops them", in_passing),
    ("values: results that nobody wants", uncollected),
    ("values: destructors that call CUDA", calling_cuda),
    ("values: destructors that call CUDA do not disturb a capture", during_capture),
    ("values: destructors that enqueue, and those that panic", unruly),
    ("values: a background thread takes them over", background),
];

fn after(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    let mut gate = Gate::close(&stream)?;
    let (captured, value, retired) = (drops.value(), drops.value(), drops.value());
    stream.host_launch(move || touch(&captured))?;
    let task = stream.host_task_with(value, |_| ())?;
    stream.retire(retired)?;
    host::reclaim()?;
    equal("before", &drops.count(), &0)?;
    equal("outstanding", &host::outstanding(), &4)?;
    gate.open();
    task.join()?;
    stream.synchronize()?;
    equal("outstanding afterwards", &host::outstanding(), &0)?;
    host::reclaim()?;
    equal("afterwards", &drops.count(), &3)?;
    check(drops.all_here(), || "dropped on another thread".to_owned())
}

fn stream_dropped_first(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    let mut gate = Gate::close(&stream)?;
    let (captured, retired) = (drops.value(), drops.value());
    let (send, receive) = std::sync::mpsc::channel();
    stream.host_launch(move || {
        touch(&captured);
        send.send(()).unwrap();
    })?;
    stream.retire(retired)?;
    let task = stream.host_task(|| "called")?;
    drop(stream);
    host::reclaim()?;
    equal("before", &drops.count(), &0)?;
    gate.open();
    receive.recv_timeout(Duration::from_secs(20))?;
    equal("task", &task.join()?, &"called")?;
    soon("dropped", || drops.count() == 2)?;
    check(drops.all_here(), || "dropped on another thread".to_owned())
}

fn in_passing(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    stream.retire(drops.value())?;
    // SAFETY: the handle lives.
    equal("driver", &unsafe { sys::cuStreamSynchronize(stream.as_raw()) }, &CUresult::CUDA_SUCCESS)?;
    equal("before any call", &drops.count(), &0)?;
    stream.priority()?;
    equal("by the next call", &drops.count(), &1)?;
    for number in 2..5 {
        stream.retire(drops.value())?;
        // SAFETY: the handle lives.
        equal("driver", &unsafe { sys::cuStreamSynchronize(stream.as_raw()) }, &CUresult::CUDA_SUCCESS)?;
        equal("how many things that were", &host::reclaim()?, &1)?;
        equal("by `reclaim`", &drops.count(), &number)?;
    }
    // Of calls that enqueue, one in sixteen looks.
    machine.context.with_current(|| {
        stream.retire(drops.value())?;
        // SAFETY: the handle lives.
        equal("driver", &unsafe { sys::cuStreamSynchronize(stream.as_raw()) }, &CUresult::CUDA_SUCCESS)?;
        for _ in 0..16 {
            stream.host_launch(|| ())?;
        }
        equal("by those that enqueue", &drops.count(), &5)
    })?
}

fn uncollected(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    let mut gate = Gate::close(&stream)?;
    let (early, late) = (drops.clone(), drops.clone());
    // Detached before and after it was called.
    drop(stream.host_task(move || early.value())?);
    let task = stream.host_task(move || late.value())?;
    gate.open();
    stream.synchronize()?;
    soon("detached before", || drops.count() == 1)?;
    drop(task);
    soon("detached after", || drops.count() == 2)?;
    check(drops.all_here(), || "dropped on another thread".to_owned())
}

fn calling_cuda(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    for _ in 0..20 {
        // Their destructors check that CUDA lets them.
        let (first, second, third) = (machine.pinned(16)?, machine.pinned(16)?, machine.pinned(16)?);
        stream.host_launch(move || touch(&first))?;
        stream.retire(second)?;
        stream.host_task_with(third, |_| ())?.join()?;
    }
    stream.synchronize()?;
    host::reclaim()?;
    Ok(())
}

fn during_capture(machine: &Machine) -> Result<(), Failed> {
    for mode in [CaptureMode::Global, CaptureMode::ThreadLocal, CaptureMode::Relaxed] {
        let (stream, capturing) = (machine.stream()?, machine.stream()?);
        let event = Event::new(&machine.context)?;
        event.record(&stream)?;
        let pinned = machine.pinned(16)?;
        let drops = Drops::default();
        let mut gate = Gate::close(&stream)?;
        stream.retire((pinned, event, drops.value()))?;
        let task = stream.host_task(|| ())?;
        capturing.begin_capture(mode)?;
        gate.open();
        // Waits long enough to ask for the context's health as well.
        thread::sleep(Duration::from_millis(5));
        task.join()?;
        soon("dropped", || drops.count() == 1)?;
        let status = capturing.capture_status()?;
        let ended = capturing.end_capture();
        equal("status", &status, &CaptureStatus::Active)?;
        drop(ended?);
        let global = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
        let mut before = global;
        // SAFETY: the pointer is valid; the mode is the thread's own.
        let code = unsafe { sys::cuThreadExchangeStreamCaptureMode(&raw mut before) };
        equal("this thread's mode is as it was", &(code, before), &(CUresult::CUDA_SUCCESS, global))?;
    }
    Ok(())
}

struct Enqueues(Arc<cuda_hostfn::Stream>, Arc<AtomicU32>);

impl Drop for Enqueues {
    fn drop(&mut self) {
        let number = self.1.clone();
        self.0.host_launch(move || touch(number.fetch_add(1, Ordering::Relaxed))).expect("an ordinary thread");
    }
}

struct Panics;

impl Drop for Panics {
    fn drop(&mut self) {
        panic!("in a destructor");
    }
}

fn unruly(machine: &Machine) -> Result<(), Failed> {
    let stream = Arc::new(machine.stream()?);
    let number = Arc::new(AtomicU32::new(0));
    let lock = Arc::new(Mutex::new(Enqueues(stream.clone(), number.clone())));
    let before = host::counters();
    stream.retire(lock)?;
    stream.retire(Panics)?;
    let drops = Drops::default();
    stream.retire(drops.value())?;
    stream.synchronize()?;
    soon("the value after the one that panics", || drops.count() == 1)?;
    stream.synchronize()?;
    equal("enqueued by a destructor", &number.load(Ordering::Relaxed), &1)?;
    equal("panics", &(host::counters().secondary_panics - before.secondary_panics), &1)?;
    check(host::counters().reclaimed >= before.reclaimed + 3, || "not counted".to_owned())
}

fn background(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    let reclaimer = Reclaimer::spawn(Duration::from_millis(1))?;
    let (value, lock) = (drops.value(), Arc::new(Mutex::new(())));
    let held = lock.lock();
    let taken = lock.clone();
    struct Locks(Arc<Mutex<()>>);
    impl Drop for Locks {
        fn drop(&mut self) {
            drop(self.0.lock());
        }
    }
    // The destructor waits for a lock that this thread holds while it calls the crate.
    stream.retire((Locks(taken), value))?;
    stream.synchronize()?;
    thread::sleep(Duration::from_millis(10));
    stream.priority()?;
    drop(held);
    for _ in 0..2000 {
        if drops.count() == 1 {
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    equal("dropped", &drops.count(), &1)?;
    check(!drops.all_here(), || "dropped on this thread".to_owned())?;
    drop(reclaimer);
    // When it is gone, this thread does it again.
    let drops = Drops::default();
    stream.retire(drops.value())?;
    soon("dropped without it", || drops.count() == 1)
}
