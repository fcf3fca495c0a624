//! What only the simulated driver does on demand: calls that fail, also those that did their work, and disorder.

use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use cuda_hostfn::attribute::SynchronizationPolicy;
use cuda_hostfn::sys::CUresult;
use cuda_hostfn::{CaptureMode, CaptureStatus, Context, Error, Event, Graph, Module, Stream, host};
use libtest_mimic::{Failed, Trial};
use parking_lot::Mutex;
use simulated_driver_client::{Client, Kind, When};
use tests::{Drops, Machine, SimulatedRow, check, children::ask, equal, simulated_trials, soon, touch};

use crate::{captures, order};

const TRIALS: &[SimulatedRow] = &[
    ("faults: an enqueue that fails gives the closure back", enqueue),
    ("faults: an enqueue that fails and enqueues all the same", enqueued_all_the_same),
    ("faults: what the driver may have kept is nobody else's", kept_all_the_same),
    ("enqueue: a value without a destructor is not kept", retired_at_once),
    ("lost: a context that was reset and made again", |_, _| ask("made again")),
    ("faults: a capture that fails at each step gives the closure back", capture),
    ("faults: order among streams in disorder", disorder),
    ("faults: a host function that the driver calls twice runs once", twice),
    ("faults: what fails while handles are dropped is not told to the next call", destructors),
    ("values: a context that nobody holds any more is released in passing", released),
    ("faults: a function that answers like one that is absent is not said to be", absent),
    ("faults: an attribute whose reading is refused is not supported, and another failure is one", supports),
    ("faults: a query that fails is no answer", query),
    ("faults: a driver that asks for a context gets one", asks_for_context),
    ("faults: a parameter that cannot be asked for is not the last one", parameter),
    ("captures: closures are captured while another thread destroys the stream that began it", captures::destroyed),
];

pub fn trials(machine: &Result<Machine, String>) -> Vec<Trial> {
    simulated_trials(machine, TRIALS)
}

fn enqueue(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    let codes = [CUresult::CUDA_ERROR_INVALID_HANDLE, CUresult::CUDA_ERROR_OUT_OF_MEMORY, CUresult::CUDA_ERROR_UNKNOWN];
    for code in codes {
        let value = drops.value();
        driver.fail("cuLaunchHostFunc", 1, code, When::Before);
        let refused = stream.host_launch(move || touch(&value)).unwrap_err();
        equal("code", &refused.error().code(), &Some(code))?;
        equal("outstanding", &host::outstanding(), &0)?;
        // The same closure, on a driver that is well again.
        stream.host_launch(refused.into_inner())?;
        stream.synchronize()?;
    }
    soon("dropped", || drops.count() == codes.len())
}

/// The driver may report what happened to other work after it has taken the call.
fn enqueued_all_the_same(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let calls = Arc::new(AtomicU32::new(0));
    let (mut came_back, rounds) = (0, 50);
    for _ in 0..rounds {
        let calls = calls.clone();
        driver.fail("cuLaunchHostFunc", 1, CUresult::CUDA_ERROR_LAUNCH_FAILED, When::After);
        let result = stream.host_launch(move || touch(calls.fetch_add(1, Ordering::Relaxed)));
        came_back += u32::from(result.is_err());
        stream.synchronize()?;
    }
    host::reclaim()?;
    equal("either called or given back", &(calls.load(Ordering::Relaxed) + came_back), &rounds)?;
    equal("captures that are left", &Arc::strong_count(&calls), &1)?;
    equal("outstanding", &host::outstanding(), &0)
}

/// The simulated driver has kept an address although it has refused it, and calls it when others use the crate.
fn kept_all_the_same(machine: &Machine, driver: Client) -> Result<(), Failed> {
    unsafe extern "C" fn wait(gate: *mut c_void) {
        // SAFETY: the trial passes a lock that outlives the call.
        drop(unsafe { &*gate.cast::<Mutex<()>>() }.lock());
    }
    unsafe extern "C" fn raise(flag: *mut c_void) {
        // SAFETY: the trial passes a flag that outlives the call.
        unsafe { &*flag.cast::<AtomicBool>() }.store(true, Ordering::SeqCst);
    }
    let references = || driver.alive(Kind::PrimaryReferences);
    let (own, before) = (machine.stream()?, references());
    for is_gone in [false, true] {
        let (gate, flag) = (Mutex::new(()), Arc::new(AtomicBool::new(false)));
        let closed = gate.lock();
        let mut context = Context::primary(machine.device)?;
        let (stream, event) = (Stream::new(&context)?, Event::new(&machine.context)?);
        // The first slot is used up.
        stream.host_launch(|| ())?;
        stream.synchronize()?;
        // SAFETY: the lock outlives the call.
        unsafe { stream.host_launch_raw(Some(wait), (&raw const gate).cast_mut().cast()) }?;
        driver.fail("cuLaunchHostFunc", 1, CUresult::CUDA_ERROR_LAUNCH_FAILED, When::After);
        stream.host_launch(|| ()).expect_err("the driver fails");
        // SAFETY: the flag outlives the call.
        unsafe { stream.host_launch_raw(Some(raise), Arc::as_ptr(&flag).cast_mut().cast()) }?;
        event.record(&stream)?;
        drop(stream);
        if is_gone {
            drop(context);
            for _ in 0..64 {
                own.is_complete()?;
            }
            equal("released", &references(), &before)?;
            context = Context::primary(machine.device)?;
        }
        host::reclaim()?;
        // None of these is called before its turn.
        let other = Stream::new(&context)?;
        other.wait_event(&event)?;
        let task = || {
            let flag = flag.clone();
            other.host_task(move || flag.load(Ordering::SeqCst))
        };
        let tasks = (0..64).map(|_| task()).collect::<Result<Vec<_>, _>>()?;
        drop(closed);
        for task in tasks {
            equal("called in its turn", &task.join()?, &true)?;
        }
    }
    Ok(())
}

fn retired_at_once(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let calls = || driver.calls("cuLaunchHostFunc");
    let before = calls();
    stream.retire(7)?;
    equal("calls", &calls(), &before)?;
    stream.retire(vec![7])?;
    equal("calls", &calls(), &(before + 1))
}

fn capture(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    let information = match cuda_hostfn::sys::driver::symbol(c"cuStreamGetCaptureInfo_v3") {
        Some(_) => "cuStreamGetCaptureInfo_v3",
        None => "cuStreamGetCaptureInfo_v2",
    };
    for function in [information, "cuUserObjectCreate", "cuGraphRetainUserObject", "cuLaunchHostFunc"] {
        for when in [When::Before, When::After] {
            let value = drops.value();
            let before = drops.count();
            stream.begin_capture(CaptureMode::ThreadLocal)?;
            driver.fail(function, 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY, when);
            let result = stream.host_launch(move || touch(&value));
            let status = stream.capture_status()?;
            let graph = stream.end_capture()?;
            equal(function, &status, &CaptureStatus::Active)?;
            let refused = result.unwrap_err();
            equal(function, &refused.error().code(), &Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY))?;
            // A node that was added all the same does nothing.
            graph.instantiate(Default::default())?.launch(&stream)?;
            stream.synchronize()?;
            drop(graph);
            check(driver.settle(Duration::from_secs(10)), || "does not settle".to_owned())?;
            host::reclaim()?;
            equal(function, &drops.count(), &before)?;
            drop(refused);
            equal(function, &drops.count(), &(before + 1))?;
        }
    }
    // One that the simulated driver made and then reported as failed is nobody's.
    check(driver.alive(Kind::UserObjects) <= 1, || format!("{} user objects", driver.alive(Kind::UserObjects)))
}

fn disorder(machine: &Machine, driver: Client) -> Result<(), Failed> {
    for seed in 1..=5 {
        driver.schedule(seed, Duration::from_micros(50));
        for (_, trial) in order::TRIALS {
            trial(machine).map_err(|failed| format!("seed {seed}: {}", failed.message().unwrap_or_default()))?;
        }
        let streams = (0..4).map(|_| machine.stream()).collect::<cuda_hostfn::Result<Vec<Stream>>>()?;
        let tasks = (0..100).map(|number| streams[number % 4].host_task(move || number));
        for (number, task) in tasks.collect::<Vec<_>>().into_iter().enumerate() {
            equal("result", &task?.join()?, &number)?;
        }
    }
    Ok(())
}

fn twice(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let calls = Arc::new(AtomicU32::new(0));
    let count = calls.clone();
    driver.run_host_function(1, 2);
    let task = stream.host_task(move || count.fetch_add(1, Ordering::Relaxed))?;
    stream.synchronize()?;
    equal("result", &task.join()?, &0)?;
    equal("calls", &calls.load(Ordering::Relaxed), &1)
}

fn released(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let references = || driver.alive(Kind::PrimaryReferences);
    let (own, before) = (machine.stream()?, references());
    let launch: fn(&Stream, Client) -> Result<(), Failed> = |stream, _| Ok(stream.host_launch(|| ())?);
    let retire: fn(&Stream, Client) -> Result<(), Failed> = |stream, _| Ok(stream.retire(vec![1])?);
    // The driver may have kept the address.
    let refused: fn(&Stream, Client) -> Result<(), Failed> = |stream, driver| {
        driver.fail("cuLaunchHostFunc", 1, CUresult::CUDA_ERROR_LAUNCH_FAILED, When::Before);
        check(stream.host_launch(|| ()).is_err(), || "not refused".to_owned())
    };
    for enqueue in [launch, retire, refused] {
        let context = Context::primary(machine.device)?;
        let stream = Stream::new(&context)?;
        enqueue(&stream, driver)?;
        stream.synchronize()?;
        equal("held", &references(), &(before + 1))?;
        drop((stream, context));
        for _ in 0..64 {
            own.is_complete()?;
        }
        equal("released", &references(), &before)?;
    }
    Ok(())
}

fn destructors(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let context = &machine.context;
    let stream = machine.stream()?;
    let graph = || Graph::new(context);
    let fill = include_str!("../../../cuda-hostfn/tests/fill.ptx");
    let handles: [(&str, Box<dyn Any>); 5] = [
        ("cuStreamDestroy_v2", Box::new(machine.stream()?)),
        ("cuEventDestroy_v2", Box::new(Event::new(context)?)),
        ("cuGraphExecDestroy", Box::new(graph()?.instantiate(Default::default())?)),
        ("cuGraphDestroy", Box::new(graph()?)),
        ("cuModuleUnload", Box::new(Module::from_ptx(context, fill)?)),
    ];
    for (function, handle) in handles {
        let before = driver.calls(function);
        driver.fail(function, 1, CUresult::CUDA_ERROR_UNKNOWN, When::After);
        drop(handle);
        equal(function, &driver.calls(function), &(before + 1))?;
        stream.host_task(|| ())?.join()?;
        stream.synchronize()?;
        context.synchronize()?;
    }
    Ok(())
}

/// `CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND` is also what the loader answers for a function that the driver lacks.
fn absent(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let code = CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;
    driver.fail("cuCtxSynchronize", 1, code, When::Before);
    match machine.context.synchronize() {
        Err(Error::Driver(error)) => equal("code", &error.code(), &code),
        other => Err(format!("{other:?}").into()),
    }
}

fn supports(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let supported = || stream.supports::<SynchronizationPolicy>();
    equal("as it is", &supported()?, &true)?;
    driver.fail("cuStreamGetAttribute", 1, CUresult::CUDA_ERROR_INVALID_VALUE, When::Before);
    equal("refused", &supported()?, &false)?;
    let code = CUresult::CUDA_ERROR_INVALID_HANDLE;
    driver.fail("cuStreamGetAttribute", 1, code, When::Before);
    equal("failed", &supported().map_err(|error| error.code()), &Err(Some(code)))
}

fn parameter(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let code = CUresult::CUDA_ERROR_UNKNOWN;
    driver.fail("cuFuncGetParamInfo", 1, code, When::Before);
    let kernel = machine.module.kernel::<(u64, u32, u32)>("fill").map(drop);
    // Drivers before 12.4 cannot be asked.
    let can_tell = cuda_hostfn::sys::driver::symbol(c"cuFuncGetParamInfo").is_some();
    equal("code", &kernel.map_err(|error| error.code()), &if can_tell { Err(Some(code)) } else { Ok(()) })
}

fn query(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let (stream, event) = (machine.stream()?, Event::new(&machine.context)?);
    let code = CUresult::CUDA_ERROR_UNKNOWN;
    driver.fail("cuStreamQuery", 1, code, When::Before);
    equal("stream", &stream.is_complete().map_err(|error| error.code()), &Err(Some(code)))?;
    driver.fail("cuEventQuery", 1, code, When::Before);
    equal("event", &event.is_complete().map_err(|error| error.code()), &Err(Some(code)))
}

fn asks_for_context(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let stream = machine.stream()?;
    for function in ["cuStreamIsCapturing", "cuLaunchHostFunc"] {
        let before = driver.calls(function);
        driver.fail(function, 1, CUresult::CUDA_ERROR_INVALID_CONTEXT, When::Before);
        stream.host_task(|| ())?.join()?;
        equal(function, &driver.calls(function), &(before + 2))?;
    }
    Ok(())
}
