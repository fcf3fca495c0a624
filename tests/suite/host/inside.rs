//! In a host function, nothing of this crate enters the driver.

use std::sync::Arc;

use cuda_hostfn::{
    CaptureMode, Context, Device, Error, Event, Graph, LaunchConfig, Module, PerThreadStream, Stream, TaskError, host,
};
use libtest_mimic::Failed;
use tests::{Machine, Row, check, equal};

use crate::enqueue::block_on;

pub const TRIALS: &[Row] = &[
    ("inside: every call is refused", every_call),
    ("inside: handles that are dropped are destroyed later", handles),
    ("inside: waiting for another task is an error", waiting),
];

/// What was not refused.
fn accepted<T>(name: &'static str, result: cuda_hostfn::Result<T>) -> Option<String> {
    match result {
        Err(Error::CalledFromHostFunction) => None,
        Err(other) => Some(format!("{name}: {other}")),
        Ok(_) => Some(name.to_owned()),
    }
}

fn every_call(machine: &Machine) -> Result<(), Failed> {
    let stream = Arc::new(machine.stream()?);
    let other = Arc::new(machine.stream()?);
    let event = Event::new(&machine.context)?;
    let graph = Graph::new(&machine.context)?;
    let executable = graph.instantiate(Default::default())?;
    let machine = machine.clone();
    let task = stream.host_task(move || {
        let config = LaunchConfig::new(1, 1);
        let context = &machine.context;
        let enqueue = |error: Result<(), Error>| error;
        let mut wrong = vec![
            accepted("Device::get", Device::get(0)),
            accepted("Device::count", Device::count()),
            accepted("Device::name", machine.device.name()),
            accepted("driver_version", cuda_hostfn::driver_version()),
            accepted("Context::primary", Context::primary(machine.device)),
            accepted("Context::synchronize", context.synchronize()),
            accepted("Context::with_current", context.with_current(|| ())),
            accepted("Context::reset_persisting_l2_cache", context.reset_persisting_l2_cache()),
            accepted("Stream::new", Stream::new(context)),
            accepted("StreamRef::synchronize", other.synchronize()),
            accepted("StreamRef::is_complete", other.is_complete()),
            accepted("StreamRef::priority", other.priority()),
            accepted("StreamRef::is_non_blocking", other.is_non_blocking()),
            accepted("StreamRef::wait_event", other.wait_event(&event)),
            accepted("StreamRef::synchronization_policy", other.synchronization_policy()),
            accepted("StreamRef::begin_capture", other.begin_capture(CaptureMode::Relaxed)),
            accepted("StreamRef::end_capture", other.end_capture()),
            accepted("StreamRef::capture_status", other.capture_status()),
            accepted("StreamRef::host_launch", enqueue(other.host_launch(|| ()).map_err(Error::from))),
            accepted("StreamRef::host_task", other.host_task(|| ()).map_err(Error::from)),
            accepted("StreamRef::host_task_with", other.host_task_with(1, |_| ()).map_err(Error::from)),
            accepted("StreamRef::host_copy", other.host_copy([1_u8], [2]).map_err(Error::from)),
            accepted("StreamRef::retire", other.retire(1).map_err(Error::from)),
            accepted("StreamRef::scope", other.scope(|_| Ok(()))),
            accepted("PerThreadStream", PerThreadStream::new(context).synchronize()),
            accepted("Event::new", Event::new(context)),
            accepted("Event::record", event.record(&other)),
            accepted("Event::synchronize", event.synchronize()),
            accepted("Event::is_complete", event.is_complete()),
            accepted(
                "Module::from_ptx",
                Module::from_ptx(context, include_str!("../../../cuda-hostfn/tests/fill.ptx")),
            ),
            accepted("Graph::new", Graph::new(context)),
            accepted("Graph::kernel_nodes", graph.kernel_nodes()),
            accepted("Graph::instantiate", graph.instantiate(Default::default())),
            accepted("GraphExec::launch", executable.launch(&other)),
            accepted("reclaim", host::reclaim()),
        ];
        // SAFETY: the arguments say no word is written.
        wrong.push(accepted("Kernel::launch", unsafe { machine.fill.launch(&other, &config, (0, 0, 0)) }));
        // SAFETY: nothing is called.
        wrong.push(accepted("host_launch_raw", unsafe { other.host_launch_raw(None, std::ptr::null_mut()) }));
        wrong.push((!host::in_host_function()).then(|| "in_host_function".to_owned()));
        wrong.into_iter().flatten().collect::<Vec<_>>()
    })?;
    let wrong = task.join()?;
    check(wrong.is_empty() && !host::in_host_function(), || format!("not refused: {wrong:?}"))
}

fn handles(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let context = Context::primary(machine.device)?;
    let graph = Graph::new(&context)?;
    let handles = (
        Stream::new(&context)?,
        Event::new(&context)?,
        graph.instantiate(Default::default())?,
        graph,
        Module::from_ptx(&context, include_str!("../../../cuda-hostfn/tests/fill.ptx"))?,
        stream.host_task(|| 1)?,
        context,
    );
    stream.synchronize()?;
    host::reclaim()?;
    let before = host::counters().reclaimed;
    // An `FnOnce` drops what it captures where it runs.
    stream.host_task(move || drop(handles))?.join()?;
    host::reclaim()?;
    let deferred = host::counters().reclaimed - before;
    // Six handles, the clone of the context that is the last, and the two calls' records.
    check(deferred >= 7, || format!("only {deferred} were deferred"))?;
    equal("the context is as before", &stream.host_task(|| 2)?.join()?, &2)
}

fn waiting(machine: &Machine) -> Result<(), Failed> {
    let (stream, other) = (machine.stream()?, machine.stream()?);
    let (first, second, mut third) = (other.host_task(|| 1)?, other.host_task(|| 2)?, other.host_task(|| 3)?);
    let refused = stream.host_task(move || {
        let first = matches!(first.join(), Err(TaskError::CalledFromHostFunction));
        let third = matches!(third.wait_timeout(std::time::Duration::ZERO), Err(Error::CalledFromHostFunction));
        first && third
    })?;
    check(refused.join()?, || "not refused".to_owned())?;
    equal("not waited for in a host function", &block_on(second)?, &2)
}
