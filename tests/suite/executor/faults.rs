//! What only the simulated driver does on demand: calls that fail, devices and drivers that lack things.

use std::env;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_hostfn::host::Method;
use cuda_hostfn::sys::CUresult;
use cuda_hostfn::{Error, ExecutorOptions, HostExecutor, LaunchConfig, host, in_host_function};
use libtest_mimic::{Failed, Trial};
use simulated_driver_client::{Client, Version, When};
use tests::{Drops, Machine, SIMULATED, SimulatedRow, check, equal, simulated_trials, soon, touch, trial_with};

use crate::{captures, executor};

const TRIALS: &[SimulatedRow] = &[
    ("faults: an enqueue that fails gives the closure back", enqueue),
    ("faults: an enqueue that fails and enqueues all the same", enqueued_all_the_same),
    ("faults: an executor that cannot be made", made),
    ("faults: memory goes back to the driver with the executor", memory),
    ("faults: a device without 64-bit operations", narrow),
    ("faults: a driver that lacks the operations", old_driver),
    ("captures: begun and ended by another thread all the time", captures::raced_here),
];

pub fn trials(machine: &Result<Machine, String>) -> Vec<Trial> {
    let mut trials = simulated_trials(machine, TRIALS);
    if machine.is_ok() && Client::of_loaded_driver().is_some() && env::var_os(SIMULATED).is_none() {
        trials.push(trial_with("versions: a driver of CUDA 11.4", machine.clone(), |_| run(Version::V11_4, "lacks")));
        trials.push(trial_with("versions: a driver of CUDA 12.2", machine.clone(), |_| run(Version::V12_2, "calls:")));
    }
    trials
}

/// This executable again, on the simulation of another version.
fn run(version: Version, filter: &str) -> Result<(), Failed> {
    let output = Command::new(env::current_exe()?).arg(filter).env(SIMULATED, version.to_string()).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    check(output.status.success(), || format!("{version}, {filter}: {said}"))?;
    check(!said.contains("running 0 tests"), || format!("{version}, {filter}: none ran"))
}

const CODES: [CUresult; 3] =
    [CUresult::CUDA_ERROR_INVALID_HANDLE, CUresult::CUDA_ERROR_OUT_OF_MEMORY, CUresult::CUDA_ERROR_UNKNOWN];

fn enqueue(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let executor = executor(machine)?;
    let drops = Drops::default();
    let functions = ["cuStreamBatchMemOp_v2", "cuStreamGetId", "cuStreamIsCapturing"];
    for (function, code) in functions.iter().flat_map(|function| CODES.map(|code| (function, code))) {
        // One that was not asked for its id.
        let stream = machine.stream()?;
        let value = drops.value();
        driver.fail(function, 1, code, When::Before);
        let refused = executor.host_launch(&stream, move || touch(&value)).unwrap_err();
        equal("code", &refused.error().code(), &Some(code))?;
        equal("outstanding", &host::outstanding(), &0)?;
        // The same closure, on a driver that is well again.
        executor.host_launch(&stream, refused.into_inner())?;
        equal("afterwards", &executor.host_task(&stream, || 7)?.join()?, &7)?;
    }
    soon("dropped", || drops.count() == functions.len() * CODES.len())?;
    drop(executor);
    Ok(())
}

/// The driver may report what happened to other work after it has taken the call.
fn enqueued_all_the_same(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let executor = executor(machine)?;
    let stream = machine.stream()?;
    let calls = Arc::new(AtomicU32::new(0));
    let (mut came_back, rounds) = (0, 50);
    for _ in 0..rounds {
        let calls = calls.clone();
        driver.fail("cuStreamBatchMemOp_v2", 1, CUresult::CUDA_ERROR_LAUNCH_FAILED, When::After);
        let result = executor.host_launch(&stream, move || touch(calls.fetch_add(1, Ordering::Relaxed)));
        came_back += u32::from(result.is_err());
        // The stream goes on, although nobody waits for the bell any more.
        stream.synchronize()?;
    }
    equal("either called or given back", &(calls.load(Ordering::Relaxed) + came_back), &rounds)?;
    soon("captures are dropped", || Arc::strong_count(&calls) == 1)?;
    equal("outstanding", &host::outstanding(), &0)?;
    equal("afterwards", &executor.host_task(&stream, || 7)?.join()?, &7)
}

fn made(machine: &Machine, driver: Client) -> Result<(), Failed> {
    for function in ["cuMemHostRegister_v2", "cuMemHostGetDevicePointer_v2", "cuDeviceGetAttribute"] {
        driver.fail(function, 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY, When::Before);
        let code = executor(machine).map(drop).unwrap_err().code();
        equal(function, &code, &Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY))?;
    }
    executor(machine).map(drop)?;
    // More memory is needed, and there is none: of streams that have a strand, the calls go on.
    let executor = executor(machine)?;
    let streams = (0..129).map(|_| machine.stream()).collect::<cuda_hostfn::Result<Vec<_>>>()?;
    streams[..128].iter().try_for_each(|stream| executor.host_launch(stream, || ()).map_err(Error::from))?;
    driver.fail("cuMemHostRegister_v2", 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY, When::Before);
    let code = executor.host_launch(&streams[128], || ()).map_err(Error::from).unwrap_err().code();
    equal("the next stream", &code, &Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY))?;
    streams.iter().try_for_each(|stream| Ok(executor.host_task(stream, || ())?.join()?))
}

fn memory(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let (taken, given_back) = (driver.calls("cuMemHostRegister_v2"), driver.calls("cuMemHostUnregister"));
    let executor = executor(machine)?;
    for _ in 0..600 {
        let stream = machine.stream()?;
        executor.host_launch(&stream, || ())?;
        stream.synchronize()?;
    }
    drop(executor);
    // The first is of streams that keep their strand; of the second, they are used again and again.
    let chunks = driver.calls("cuMemHostRegister_v2") - taken;
    equal("chunks", &chunks, &2)?;
    equal("given back", &(driver.calls("cuMemHostUnregister") - given_back), &chunks)
}

fn narrow(machine: &Machine, driver: Client) -> Result<(), Failed> {
    driver.refuse_64_bit_operations();
    let executor = executor(machine)?;
    equal("method", &executor.method(), &Method::StreamMemoryOperations32)?;
    let (stream, words) = (machine.stream()?, Arc::new(machine.pinned(1)?));
    let wrong = Arc::new(AtomicU32::new(0));
    for round in 1..=300 {
        // SAFETY: `words` outlives the stream's work.
        unsafe { machine.fill.launch(&stream, &LaunchConfig::new(1, 1), (words.device_address(), 1, round)) }?;
        let (words, wrong) = (words.clone(), wrong.clone());
        executor.host_launch(&stream, move || {
            let before = words.words()[0].swap(0, Ordering::Relaxed);
            wrong.fetch_add(u32::from(before != round), Ordering::Relaxed);
        })?;
    }
    stream.synchronize()?;
    equal("wrong", &(wrong.load(Ordering::Relaxed), words.words()[0].load(Ordering::Relaxed)), &(0, 0))?;
    let streams = (0..200).map(|_| machine.stream()).collect::<cuda_hostfn::Result<Vec<_>>>()?;
    streams.iter().try_for_each(|stream| Ok(executor.host_task(stream, || ())?.join()?))
}

/// What the driver is asked for, it lacks, if it is an old one. On others, only the fall-back is tried.
fn old_driver(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let is_old = machine.driver < cuda_hostfn::CudaVersion::new(12, 0);
    if is_old {
        match executor(machine).map(drop) {
            Err(Error::MissingFunction(missing)) => equal("missing", &missing.function(), &"cuStreamBatchMemOp_v2")?,
            other => return Err(format!("{other:?}").into()),
        }
    } else {
        driver.fail("cuMemHostRegister_v2", 1, CUresult::CUDA_ERROR_NOT_SUPPORTED, When::Before);
    }
    let executor = HostExecutor::new_or_driver(&machine.context, ExecutorOptions::new())?;
    equal("method", &executor.method(), &Method::HostFunctions)?;
    let stream = machine.stream()?;
    executor.host_launch(&stream, || ())?;
    equal("on the driver's thread", &executor.host_task(&stream, in_host_function)?.join()?, &true)
}
