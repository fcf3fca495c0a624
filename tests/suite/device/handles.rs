//! Devices, contexts, events, modules and kernels.

use std::thread;
use std::time::{Duration, Instant};

use cuda_hostfn::sys::{self, CUfunction_attribute, CUresult};
use cuda_hostfn::{Context, Device, Error, Event, EventOptions, LaunchConfig, Module, Stream};
use libtest_mimic::Failed;
use tests::{Gate, Machine, check, equal};

use crate::Run;
use crate::expect::{elsewhere, invalid, refused};

pub const TRIALS: &[(&str, Run)] = &[
    ("handles: devices", devices),
    ("handles: events", events),
    ("handles: what is pending is not complete", pending),
    ("handles: a kernel has the properties that were set", properties),
    ("handles: work in one stream waits for an event of another", waits),
    ("handles: a kernel's parameters are compared with its types", parameters),
    ("handles: a cubin that is cut off is refused", broken_cubin),
    ("handles: everything works on a thread that has never called CUDA", fresh_thread),
];

/// For drivers that compile.
pub const COMPILER_TRIALS: &[(&str, Run)] = &[("handles: broken PTX is an error with the compiler's log", broken_ptx)];

fn devices(machine: &Machine) -> Result<(), Failed> {
    equal("count", &Device::all()?.len(), &(Device::count()? as usize))?;
    check(!machine.device.name()?.is_empty(), || "no name".to_owned())?;
    check(machine.device.compute_capability()? >= (5, 0), || "an odd compute capability".to_owned())?;
    refused("a device too many", Device::get(Device::count()?), CUresult::CUDA_ERROR_INVALID_DEVICE)?;
    equal("the primary context is one", &Context::primary(machine.device)?, &machine.context)
}

fn events(machine: &Machine) -> Result<(), Failed> {
    let stream = Stream::new(&machine.context)?;
    let (start, end) = (Event::new(&machine.context)?, Event::new(&machine.context)?);
    start.record(&stream)?;
    // SAFETY: the arguments say no word is written.
    unsafe { machine.fill.launch(&stream, &LaunchConfig::new(1024, 1024), (0, 0, 0)) }?;
    end.record(&stream)?;
    end.synchronize()?;
    check(start.is_complete()? && end.is_complete()?, || "not complete".to_owned())?;
    check(end.elapsed_since(&start)? < Duration::from_secs(10), || "an odd duration".to_owned())?;
    invalid("start", start.elapsed_since(&end))?;
    let untimed = EventOptions::new().disable_timing(true).create(&machine.context)?;
    untimed.record(&stream)?;
    check(untimed.elapsed_since(&start).is_err(), || "a time without timing".to_owned())?;
    let interprocess = EventOptions::new().interprocess(true);
    invalid("EventOptions.interprocess", interprocess.create(&machine.context))?;
    interprocess.disable_timing(true).create(&machine.context)?.synchronize()?;
    // SAFETY: `into_raw` gave the event up.
    let foreign = unsafe { Event::from_raw(&machine.context, untimed.into_raw()) };
    equal("what is known of a foreign event", &foreign.options(), &None)?;
    Ok(foreign.synchronize()?)
}

fn pending(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let (start, end) = (Event::new(&machine.context)?, Event::new(&machine.context)?);
    let began = Instant::now();
    start.record(&stream)?;
    let mut gate = Gate::close(&stream)?;
    end.record(&stream)?;
    check(!stream.is_complete()? && !end.is_complete()?, || "complete behind the gate".to_owned())?;
    refused("before it is complete", end.elapsed_since(&start), CUresult::CUDA_ERROR_NOT_READY)?;
    thread::sleep(Duration::from_millis(5));
    gate.open();
    stream.synchronize()?;
    check(stream.is_complete()? && end.is_complete()?, || "not complete".to_owned())?;
    let (between, around) = (end.elapsed_since(&start)?, began.elapsed());
    check(between <= around, || format!("{between:?} between the events, and {around:?} around them"))
}

fn properties(machine: &Machine) -> Result<(), Failed> {
    // Nobody else's: properties are the kernel's, for all its users.
    let module = Module::from_ptx(&machine.context, include_str!("../../../cuda-hostfn/tests/fill.ptx"))?;
    let kernel = module.kernel::<(u64, u32, u32)>("fill")?;
    let mut raw = std::ptr::null_mut();
    let find = || {
        // SAFETY: the module lives; the pointer is valid for a write, and the name ends with NUL.
        unsafe { sys::cuModuleGetFunction(&raw mut raw, module.as_raw(), c"fill".as_ptr()) }
    };
    equal("found", &machine.context.with_current(find)?, &CUresult::CUDA_SUCCESS)?;
    equal("the kernel", &raw, &kernel.as_raw())?;
    kernel.set_max_dynamic_shared_memory(1024)?;
    let bytes = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    equal("dynamic shared memory", &kernel.property(bytes)?, &1024)?;
    invalid("max_dynamic_shared_memory", kernel.set_max_dynamic_shared_memory(u32::MAX))?;
    if machine.has_clusters() {
        kernel.set_non_portable_cluster_size_allowed(true)?;
        let allowed = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
        equal("clusters that are not portable", &kernel.property(allowed)?, &1)?;
    }
    Ok(())
}

fn waits(machine: &Machine) -> Result<(), Failed> {
    let words = machine.words(64)?;
    let (first, second) = (Stream::new(&machine.context)?, Stream::new(&machine.context)?);
    let fill = |stream: &Stream, value| {
        // SAFETY: the words are there until both streams are done.
        unsafe { machine.fill.launch(stream, &LaunchConfig::new(1, 64), (words.address, 64, value)) }
    };
    let event = Event::new(&machine.context)?;
    for round in 0..50 {
        fill(&first, 2 * round)?;
        event.record(&first)?;
        second.wait_event(&event)?;
        fill(&second, 2 * round + 1)?;
        event.record(&second)?;
        first.wait_event(&event)?;
    }
    second.synchronize()?;
    first.synchronize()?;
    equal("the words", &words.read()?, &vec![99; 64])
}

fn parameters(machine: &Machine) -> Result<(), Failed> {
    let module = &machine.module;
    if sys::driver::symbol(c"cuFuncGetParamInfo").is_some() {
        invalid("arguments", module.kernel::<()>("fill"))?;
        invalid("arguments", module.kernel::<(u64, u32)>("fill"))?;
        invalid("arguments", module.kernel::<(u64, u64, u32)>("fill"))?;
    }
    module.kernel::<(*mut u32, i32, f32)>("fill")?;
    refused("no such kernel", module.kernel::<()>("empty"), CUresult::CUDA_ERROR_NOT_FOUND)
}

fn broken_ptx(machine: &Machine) -> Result<(), Failed> {
    match Module::from_ptx(&machine.context, ".version 7.0\n.target sm_70\n.address_size 64\nnonsense\n") {
        Err(Error::Driver(error)) => {
            equal("code", &error.code(), &CUresult::CUDA_ERROR_INVALID_PTX)?;
            check(error.log().is_some_and(|log| log.contains("nonsense")), || format!("{error}"))
        }
        other => Err(format!("{other:?}").into()),
    }
}

fn broken_cubin(machine: &Machine) -> Result<(), Failed> {
    let load = |image: &[u8]| {
        // SAFETY: what is not whole does not reach the driver.
        unsafe { Module::from_image(&machine.context, image) }
    };
    invalid("image", load(b"\x7fELF\x02\x01"))?;
    invalid("image", load(b""))?;
    invalid("ptx", Module::from_ptx(&machine.context, "\x7fELF"))?;
    invalid("ptx", Module::from_ptx(&machine.context, ""))
}

fn fresh_thread(machine: &Machine) -> Result<(), Failed> {
    elsewhere(|| {
        let context = Context::primary(machine.device)?;
        let stream = Stream::new(&context)?;
        let event = Event::new(&context)?;
        let kernel = Module::from_ptx(&context, include_str!("../../../cuda-hostfn/tests/fill.ptx"))?
            .kernel::<(u64, u32, u32)>("fill")?;
        // SAFETY: the arguments say no word is written.
        unsafe { kernel.launch(&stream, &LaunchConfig::new(1, 1), (0, 0, 0)) }?;
        event.record(&stream)?;
        event.synchronize()?;
        Ok(context.synchronize()?)
    })
}
