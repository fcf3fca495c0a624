//! Captures: how they begin and end, and what becomes of the closures of those that come to nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use cuda_hostfn::attribute::RawAttribute;
use cuda_hostfn::sys::CUresult;
use cuda_hostfn::{Capture, CaptureMode, CaptureStatus, Error, Event, Graph, LaunchConfig, PerThreadStream, Stream};
use libtest_mimic::Failed;
use tests::{Drops, Machine, Row, check, equal, soon, touch};

pub const TRIALS: &[Row] = &[
    ("captures: in every mode, as a closure and as a value", every_mode),
    ("captures: one that is abandoned ends, and its closures are dropped", abandoned),
    ("captures: one whose closure fails or panics ends", failing),
    ("captures: tasks are refused with what they were given, and the capture goes on", tasks),
    ("captures: made invalid by a bad cluster launch", bad_cluster),
    ("captures: made invalid by waiting", waiting),
    ("captures: ended in the wrong stream", wrong_stream),
    ("captures: ended on the wrong thread", wrong_thread),
    ("captures: an executable graph that is launched there is refused, and the capture goes on", launched),
    ("captures: ended with a stream that was not joined", not_joined),
    ("captures: ended without one", without_one),
];

/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`.
const CLUSTER_DIMENSION: u32 = 4;

const MODES: [CaptureMode; 3] = [CaptureMode::Global, CaptureMode::ThreadLocal, CaptureMode::Relaxed];

fn is_capturing(stream: &Stream) -> Result<bool, Failed> {
    Ok(stream.capture_status()? != CaptureStatus::None)
}

fn every_mode(machine: &Machine) -> Result<(), Failed> {
    let owned = machine.stream()?;
    let per_thread = PerThreadStream::new(&machine.context);
    for stream in [&*owned, &*per_thread] {
        for mode in MODES {
            let calls = Arc::new(AtomicU32::new(0));
            let (first, second) = (calls.clone(), calls.clone());
            let graph = stream.capture(mode, |stream| {
                stream.host_launch(move || touch(first.fetch_add(1, Ordering::Relaxed)))?;
                Ok(())
            })?;
            let capture = Capture::begin(stream, mode)?;
            capture.stream().host_launch(move || touch(second.fetch_add(10, Ordering::Relaxed)))?;
            let other = capture.end()?;
            for graph in [graph, other] {
                graph.instantiate(Default::default())?.launch(stream)?;
            }
            stream.synchronize()?;
            equal("calls", &calls.load(Ordering::Relaxed), &11)?;
        }
    }
    Ok(())
}

fn abandoned(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    for mode in MODES {
        let before = drops.count();
        let value = drops.value();
        let capture = Capture::begin(&stream, mode)?;
        stream.host_launch(move || touch(&value))?;
        equal("status", &stream.capture_status()?, &CaptureStatus::Active)?;
        drop(capture);
        check(!is_capturing(&stream)?, || "still capturing".to_owned())?;
        soon("dropped", || drops.count() == before + 1)?;
        // The stream is as good as new.
        equal("called", &stream.host_task(|| 1)?.join()?, &1)?;
    }
    check(drops.all_here(), || "dropped on another thread".to_owned())
}

fn failing(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    let (first, second) = (drops.value(), drops.value());
    let result = stream.capture(CaptureMode::ThreadLocal, |stream| {
        stream.host_launch(move || touch(&first))?;
        Err(Error::Capturing)
    });
    check(matches!(result, Err(Error::Capturing)), || format!("{result:?}"))?;
    check(!is_capturing(&stream)?, || "still capturing".to_owned())?;
    soon("dropped", || drops.count() == 1)?;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        stream.capture(CaptureMode::ThreadLocal, |stream| {
            stream.host_launch(move || touch(&second))?;
            panic!("while capturing")
        })
    }));
    check(panicked.is_err(), || "no panic".to_owned())?;
    check(!is_capturing(&stream)?, || "still capturing".to_owned())?;
    soon("dropped", || drops.count() == 2)
}

fn tasks(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    let (task, retired) = (drops.value(), drops.value());
    let mut refused = None;
    let graph = stream.capture(CaptureMode::ThreadLocal, |stream| {
        refused = Some((stream.host_task(move || drop(task)).unwrap_err(), stream.retire(retired).unwrap_err()));
        Ok(())
    })?;
    equal("nodes", &graph.nodes()?.len(), &0)?;
    let (task, retired) = refused.ok_or("not refused")?;
    let errors = (task.error(), retired.error());
    check(matches!(errors, (Error::Capturing, Error::Capturing)), || format!("{errors:?}"))?;
    equal("dropped", &drops.count(), &0)?;
    drop((task.into_inner(), retired.into_inner()));
    equal("given back", &drops.count(), &2)
}

/// A capture with a closure, which `spoil` makes invalid: its graph is the driver's to throw away.
fn invalid(
    machine: &Machine,
    spoil: impl Fn(&Stream) -> cuda_hostfn::Result<()>,
    code: CUresult,
) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let drops = Drops::default();
    for _ in 0..20 {
        let before = drops.count();
        let (value, other) = (drops.value(), drops.value());
        let capture = Capture::begin(&stream, CaptureMode::ThreadLocal)?;
        stream.host_launch(move || touch(&value))?;
        let spoilt = spoil(&stream);
        equal("code", &spoilt.as_ref().err().and_then(Error::code), &Some(code))?;
        equal("status", &stream.capture_status()?, &CaptureStatus::Invalidated)?;
        let refused = stream.host_launch(move || touch(&other)).unwrap_err();
        check(matches!(refused.error(), Error::CaptureInvalidated(_)), || format!("{refused}"))?;
        let ended = capture.end();
        check(matches!(ended, Err(Error::CaptureInvalidated(_))), || format!("{ended:?}"))?;
        equal("status", &stream.capture_status()?, &CaptureStatus::None)?;
        soon("dropped", || drops.count() == before + 1)?;
        // What came back is as good as new.
        stream.host_launch(refused.into_inner())?;
        stream.synchronize()?;
        soon("dropped", || drops.count() == before + 2)?;
    }
    check(drops.all_here(), || "dropped on another thread".to_owned())
}

fn bad_cluster(machine: &Machine) -> Result<(), Failed> {
    if machine.device.compute_capability()? < (9, 0) {
        // There are no clusters; any other call that a capture cannot have does it.
        return waiting(machine);
    }
    // A cluster that does not divide the grid, past this crate's rule that would say so.
    let mut cluster = [0; 12];
    for (bytes, size) in cluster.chunks_exact_mut(4).zip([3_u32, 1, 1]) {
        bytes.copy_from_slice(&size.to_ne_bytes());
    }
    // SAFETY: three dimensions, as the driver takes them for this attribute.
    let cluster = unsafe { RawAttribute::from_bytes(CLUSTER_DIMENSION, &cluster) }.ok_or("they fit")?;
    let config = LaunchConfig::new(16, 1).attribute(cluster);
    let launch = |stream: &Stream| {
        // SAFETY: nothing is written.
        unsafe { machine.fill.launch(stream, &config, (0, 0, 0)) }.map(drop)
    };
    invalid(machine, launch, CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE)
}

fn waiting(machine: &Machine) -> Result<(), Failed> {
    invalid(machine, |stream| stream.synchronize(), CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
}

/// A capture that began in the first stream and has spread to the second.
fn forked(machine: &Machine) -> Result<(Stream, Stream), Failed> {
    let (origin, other) = (machine.stream()?, machine.stream()?);
    origin.begin_capture(CaptureMode::ThreadLocal)?;
    let event = Event::new(&machine.context)?;
    event.record(&origin)?;
    other.wait_event(&event)?;
    equal("status", &other.capture_status()?, &CaptureStatus::Active)?;
    Ok((origin, other))
}

fn wrong_stream(machine: &Machine) -> Result<(), Failed> {
    let (origin, other) = forked(machine)?;
    let drops = Drops::default();
    let (first, second) = (drops.value(), drops.value());
    origin.host_launch(move || touch(&first))?;
    other.host_launch(move || touch(&second))?;
    let ended = other.end_capture();
    let code = ended.as_ref().err().and_then(Error::code);
    equal("in the wrong stream", &code, &Some(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED))?;
    equal("not yet", &drops.count(), &0)?;
    let ended = origin.end_capture();
    check(matches!(ended, Err(Error::CaptureInvalidated(_))), || format!("{ended:?}"))?;
    for stream in [&origin, &other] {
        check(!is_capturing(stream)?, || "still capturing".to_owned())?;
    }
    soon("dropped", || drops.count() == 2)?;
    check(drops.all_here(), || "dropped on another thread".to_owned())
}

fn wrong_thread(machine: &Machine) -> Result<(), Failed> {
    for mode in MODES {
        let stream = machine.stream()?;
        let drops = Drops::default();
        let value = drops.value();
        stream.begin_capture(mode)?;
        stream.host_launch(move || touch(&value))?;
        let ended = thread::scope(|scope| scope.spawn(|| stream.end_capture()).join()).map_err(|_| "panicked")?;
        let graph = match (mode, ended) {
            (CaptureMode::Relaxed, Ok(graph)) => Some(graph),
            (CaptureMode::Global | CaptureMode::ThreadLocal, Err(error)) => {
                equal("code", &error.code(), &Some(CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD))?;
                None
            }
            other => return Err(format!("{other:?}").into()),
        };
        equal("status", &stream.capture_status()?, &CaptureStatus::None)?;
        if let Some(graph) = graph {
            equal("nodes", &graph.nodes()?.len(), &1)?;
            equal("dropped", &drops.count(), &0)?;
        }
        soon("dropped", || drops.count() == 1)?;
    }
    Ok(())
}

fn not_joined(machine: &Machine) -> Result<(), Failed> {
    let (origin, other) = forked(machine)?;
    let drops = Drops::default();
    let (first, second) = (drops.value(), drops.value());
    origin.host_launch(move || touch(&first))?;
    other.host_launch(move || touch(&second))?;
    let ended = origin.end_capture();
    let code = ended.as_ref().err().and_then(Error::code);
    equal("code", &code, &Some(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED))?;
    for stream in [&origin, &other] {
        check(!is_capturing(stream)?, || "still capturing".to_owned())?;
    }
    soon("dropped", || drops.count() == 2)
}

fn without_one(machine: &Machine) -> Result<(), Failed> {
    let ended = machine.stream()?.end_capture();
    let code = ended.as_ref().err().and_then(Error::code);
    equal("code", &code, &Some(CUresult::CUDA_ERROR_ILLEGAL_STATE))
}

fn launched(machine: &Machine) -> Result<(), Failed> {
    let (stream, drops) = (machine.stream()?, Drops::default());
    let (graph, value) = (Graph::new(&machine.context)?, drops.value());
    graph.add_host_node(&[], move || touch(&value))?;
    let executable = graph.instantiate(Default::default())?;
    stream.begin_capture(CaptureMode::ThreadLocal)?;
    let refused = executable.launch(&stream);
    let status = stream.capture_status()?;
    drop(stream.end_capture()?);
    check(matches!(refused, Err(Error::Capturing)), || format!("{refused:?}"))?;
    equal("status", &status, &CaptureStatus::Active)?;
    executable.launch(&stream)?;
    stream.synchronize()?;
    drop((executable, graph));
    soon("dropped", || drops.count() == 1)
}
