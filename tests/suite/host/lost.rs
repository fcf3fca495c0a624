//! Device faults and resets. Each is done by a child, whose context is gone afterwards.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cuda_hostfn::host::Moment;
use cuda_hostfn::sys::{self, CUresult};
use cuda_hostfn::{BorrowedStream, Context, Error, Module, TaskError, host};
use libtest_mimic::Failed;
use simulated_driver_client::{Client, KERNELS};
use tests::faults::{BOUND, is_lost, launch_trap, trap};
use tests::{Drops, Gate, Machine, Row, check, children::ask, equal, soon, touch};

use crate::enqueue::block_on;

pub const TRIALS: &[Row] = &[
    ("lost: join after a trap", |_| ask("join")),
    ("lost: a future after a trap", |_| ask("future")),
    ("lost: wait_timeout after a trap, the stream dropped", |_| ask("stream dropped")),
    ("lost: fire and forget after a trap", |_| ask("forget")),
    ("lost: a scope after a trap", |_| ask("scope")),
    ("lost: a process ends with everything pending after a trap", |_| ask("exit")),
    ("lost: a running function is waited for", |_| ask("running")),
    ("lost: the primary context is reset with tasks pending", |_| ask("reset")),
    ("lost: a process ends with a function running", |_| ask("exit while running")),
];

/// What the children do.
pub const QUESTIONS: &[Row] = &[
    ("join", join),
    ("future", future),
    ("stream dropped", stream_dropped),
    ("forget", forget),
    ("scope", scope),
    ("exit", exit),
    ("running", running),
    ("reset", reset),
    ("exit while running", exit_while_running),
    ("made again", made_again),
];

fn join(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    let (captured, value, retired) = (drops.value(), drops.value(), drops.value());
    // Loading it would wait for the gate.
    let trap = Module::from_ptx(&machine.context, KERNELS)?.kernel("trap")?;
    // What was enqueued before is called; it holds the trap up until the rest is there.
    let mut gate = Gate::close(&stream)?;
    let before = stream.host_task(|| "before")?;
    launch_trap(trap, &stream)?;
    stream.host_launch(move || touch(&captured))?;
    stream.retire(retired)?;
    let task = stream.host_task_with(value, |_| ())?;
    equal("outstanding", &(host::outstanding() >= 3), &true)?;
    let start = Instant::now();
    gate.open();
    equal("before", &before.join().map_err(|error| error.to_string()), &Ok("before"))?;
    is_lost(task.join())?;
    check(start.elapsed() < BOUND, || format!("took {:?}", start.elapsed()))?;
    equal("released", &drops.count(), &3)?;
    check(drops.all_here(), || "dropped on another thread".to_owned())?;
    equal("outstanding", &host::outstanding(), &0)?;
    equal("lost", &host::counters().lost, &3)?;
    // From now on, the driver refuses, and everything comes back.
    let (error, mut closure) = stream.host_launch(|| ()).unwrap_err().into_parts();
    closure();
    equal("code", &error.code(), &Some(CUresult::CUDA_ERROR_LAUNCH_FAILED))
}

fn future(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    // The same context, known twice: both are looked at.
    // SAFETY: the stream and its context outlive this.
    let again = unsafe { BorrowedStream::from_raw(stream.as_raw()) }?;
    // As with a real driver, whoever looks has to look again.
    if let Some(driver) = Client::of_loaded_driver() {
        driver.delay_notice_of_fault(Duration::from_millis(100));
    }
    trap(machine, &stream)?;
    let task = stream.host_task_with(drops.value(), |_| ())?;
    let second = again.host_task(|| ())?;
    let waiting = thread::spawn(move || is_lost(block_on(second)));
    let start = Instant::now();
    is_lost(block_on(task))?;
    waiting.join().map_err(|_| "panicked")??;
    check(start.elapsed() < BOUND, || format!("took {:?}", start.elapsed()))?;
    soon("released", || drops.count() == 1)
}

fn stream_dropped(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    trap(machine, &stream)?;
    let mut task = stream.host_task(|| ())?;
    drop(stream);
    check(task.wait_timeout(BOUND)?, || "not within the bound".to_owned())?;
    is_lost(task.join())
}

fn forget(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    let (captured, retired) = (drops.value(), drops.value());
    static TOLD: AtomicU32 = AtomicU32::new(0);
    host::set_hook(Some(|_, moment| touch(TOLD.fetch_add(u32::from(moment == Moment::Lost), Ordering::Relaxed))));
    trap(machine, &stream)?;
    stream.host_launch(move || touch(&captured))?;
    stream.retire(retired)?;
    // The call that reports the fault makes the next one look.
    check(stream.synchronize().is_err(), || "no fault".to_owned())?;
    let _ = stream.priority();
    equal("released", &drops.count(), &2)?;
    equal("told to the hook", &TOLD.load(Ordering::Relaxed), &2)?;
    equal("outstanding", &host::outstanding(), &0)
}

fn scope(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let calls = AtomicU32::new(0);
    let drops = Drops::default();
    let result = stream.scope(|scope| {
        let (calls, value) = (&calls, drops.value());
        trap(machine, &stream).map_err(|_| Error::Capturing)?;
        scope.host_launch(move || {
            calls.fetch_add(1, Ordering::Relaxed);
            touch(&value);
        })?;
        Ok(())
    });
    check(matches!(result, Err(Error::Lost(_))), || format!("{result:?}"))?;
    equal("calls", &calls.load(Ordering::Relaxed), &0)?;
    equal("dropped", &drops.count(), &1)
}

fn exit(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let value = machine.pinned(16)?;
    trap(machine, &stream)?;
    stream.retire(value)?;
    stream.host_launch(|| ())?;
    std::mem::forget(stream.host_task(|| ())?);
    Ok(())
}

fn running(machine: &Machine) -> Result<(), Failed> {
    let (stream, other) = (machine.stream()?, machine.stream()?);
    let (begun, begin) = std::sync::mpsc::channel();
    let task = stream.host_task(move || {
        begun.send(()).unwrap();
        thread::sleep(Duration::from_millis(1500));
        "returned"
    })?;
    begin.recv()?;
    trap(machine, &other)?;
    let lost = other.host_task(|| ())?;
    is_lost(lost.join())?;
    equal("it ran on", &task.join().map_err(|error| error.to_string()), &Ok("returned"))
}

fn reset(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    let (captured, value) = (drops.value(), drops.value());
    let slow = || thread::sleep(Duration::from_millis(100));
    stream.host_launch(slow)?;
    stream.host_launch(move || touch(&captured))?;
    let task = stream.host_task_with(value, |_| "called")?;
    // SAFETY: nothing of the context is used afterwards but handles, which then get errors.
    let code = unsafe { sys::cuDevicePrimaryCtxReset(machine.device.as_raw()) };
    equal("reset", &code, &CUresult::CUDA_SUCCESS)?;
    let start = Instant::now();
    match task.join() {
        Ok("called") | Err(TaskError::Lost(_)) => {}
        other => return Err(format!("{other:?}").into()),
    }
    check(start.elapsed() < BOUND, || format!("took {:?}", start.elapsed()))?;
    soon("released", || drops.count() == 2)?;
    equal("outstanding", &host::outstanding(), &0)?;
    let refused = stream.host_launch(|| ());
    std::mem::forget(stream);
    check(refused.is_err(), || "a stream of a context that is gone".to_owned())
}

/// The primary context has the same address again; what was pending in the one before is lost all the same.
fn made_again(machine: &Machine) -> Result<(), Failed> {
    let driver = Client::of_loaded_driver().ok_or("needs the simulated driver")?;
    let stream = machine.stream()?;
    driver.run_host_function(1, 0);
    let task = stream.host_task(|| ())?;
    // SAFETY: nothing of the context is used afterwards but handles, which then get errors.
    let code = unsafe { sys::cuDevicePrimaryCtxReset(machine.device.as_raw()) };
    equal("reset", &code, &CUresult::CUDA_SUCCESS)?;
    let again = Context::primary(machine.device)?;
    equal("address", &again.as_raw(), &machine.context.as_raw())?;
    let result = task.join();
    std::mem::forget(stream);
    match result {
        Err(TaskError::Lost(error)) => equal("code", &error.code(), &Some(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED)),
        other => Err(format!("{other:?}, expected it to be lost").into()),
    }
}

fn exit_while_running(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let (begun, begin) = std::sync::mpsc::channel();
    let value = machine.pinned(16)?;
    stream.host_launch(move || {
        begun.send(()).unwrap();
        thread::sleep(Duration::from_millis(200));
        touch(&value);
    })?;
    stream.retire(machine.pinned(16)?)?;
    begin.recv()?;
    std::mem::forget(stream);
    Ok(())
}
