//! The paths through cuda-hostfn.

use std::ffi::c_void;
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::time::Instant;

use cuda_hostfn::attribute::{Cooperative, ProgrammaticStreamSerialization, SynchronizationPolicy};
use cuda_hostfn::launch::Attributes;
use cuda_hostfn::sys::{CUresult, cuDriverGetVersion};
use cuda_hostfn::{
    CaptureMode, Context, Device, Event, EventOptions, GraphExec, InstantiateOptions, Kernel, LaunchConfig, Module,
    Priority, Result, Stream, StreamOptions,
};

use crate::Failure;

const NODES: u32 = 100;
const STREAMS: usize = 64;

/// The thread has no context current, which each call has to change.
const NOT_CURRENT: &str = ", context not current";

/// The stream gets to no call before all are in it: the driver's thread, which sleeps, competes for nothing.
const HELD: &str = ", stream held";

/// The time includes the wait until all calls are over.
const DRAINED: &str = ", drained";

type Fill = Kernel<(u64, u32, u32)>;

struct Paths {
    stream: Stream,
    streams: Vec<Stream>,
    fill: Fill,
    event: Event,
    graph: GraphExec,
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

fn count() {
    NUMBER.fetch_add(1, Ordering::Relaxed);
}

fn count_in(number: &Arc<AtomicU64>) -> impl FnMut() + Send + 'static {
    let number = number.clone();
    move || {
        number.fetch_add(1, Ordering::Relaxed);
    }
}

unsafe extern "C" fn count_one(number: *mut c_void) {
    // SAFETY: given with an atomic that lives.
    unsafe { &*number.cast::<AtomicU64>() }.fetch_add(1, Ordering::Relaxed);
}

/// Answers lines "CALLS PATH".
pub fn serve() -> Result<(), Failure> {
    let paths = Paths::new()?;
    let context = paths.stream.context();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (calls, path) = line.split_once(' ').ok_or("no path")?;
        let calls: u32 = calls.parse()?;
        // As in C, unless the path says otherwise.
        let time = match path.strip_suffix(NOT_CURRENT) {
            Some(path) => paths.run(path, calls),
            None => context.with_current(|| paths.run(path, calls))?,
        };
        let answer = match time? {
            Some(time) => format!("{:.3}", time / f64::from(calls)),
            None => "-".to_owned(),
        };
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

impl Paths {
    fn new() -> Result<Self> {
        let context = Context::primary(Device::get(0)?)?;
        let stream = Stream::new(&context)?;
        stream.set_attribute(SynchronizationPolicy::Spin)?;
        let options = StreamOptions::new().non_blocking(true);
        let streams = (0..STREAMS).map(|_| options.create(&context)).collect::<Result<_>>()?;
        let module = Module::from_ptx(&context, include_str!("../../../cuda-hostfn/tests/fill.ptx"))?;
        let event = EventOptions::new().disable_timing(true).create(&context)?;
        stream.begin_capture(CaptureMode::ThreadLocal)?;
        for _ in 0..NODES {
            stream.host_launch(count)?;
        }
        let graph = stream.end_capture()?.instantiate(InstantiateOptions::new())?;
        Ok(Self { fill: module.kernel("fill")?, stream, streams, event, graph })
    }

    /// Nanoseconds of all calls.
    fn run(&self, path: &str, calls: u32) -> Result<Option<f64>> {
        if let Some(path) = path.strip_suffix(HELD) {
            let (open, gate) = mpsc::channel::<()>();
            self.stream.host_launch(move || _ = gate.recv())?;
            let time = self.enqueue(path, calls);
            drop(open);
            self.stream.synchronize()?;
            return time;
        }
        let start = Instant::now();
        let time = self.enqueue(path.strip_suffix(DRAINED).unwrap_or(path), calls)?;
        self.stream.synchronize()?;
        Ok(if path.ends_with(DRAINED) { Some(since(start)) } else { time })
    }

    fn enqueue(&self, path: &str, calls: u32) -> Result<Option<f64>> {
        let Self { stream, fill, event, graph, .. } = self;
        let config = LaunchConfig::new(1, 1);
        let one = config.attribute(Priority::DEFAULT);
        let three = one.attribute(Cooperative(false)).attribute(ProgrammaticStreamSerialization(false));
        let time = match path {
            "launch, no attribute" => timed(calls, || launch(fill, stream, &config))?,
            "launch, 1 attribute" => timed(calls, || launch(fill, stream, &one))?,
            "launch, 3 attributes" => timed(calls, || launch(fill, stream, &three))?,
            "set_attribute" => timed(calls, || stream.set_attribute(SynchronizationPolicy::Spin))?,
            "attribute" => timed(calls, || {
                assert_eq!(stream.attribute::<SynchronizationPolicy>()?, SynchronizationPolicy::Spin);
                Ok(())
            })?,
            "host_launch_raw" => {
                let number = (&raw const NUMBER).cast_mut().cast();
                // SAFETY: a static.
                timed(calls, || unsafe { stream.host_launch_raw(Some(count_one), number) })?
            }
            "host_launch" => timed(calls, || Ok(stream.host_launch(count)?))?,
            "host_launch, an Arc captured" => {
                let number = Arc::new(AtomicU64::new(0));
                timed(calls, || Ok(stream.host_launch(count_in(&number))?))?
            }
            "host_task, detached" => timed(calls, || Ok(stream.host_task(count).map(drop)?))?,
            "host_launch, round trip" => timed(calls, || {
                stream.host_launch(count)?;
                stream.synchronize()
            })?,
            "host_task, joined" => timed(calls, || Ok(stream.host_task(count)?.join()?))?,
            "replayed host node" => timed(calls / NODES, || {
                graph.launch(stream)?;
                stream.synchronize()
            })?,
            "event record" => timed(calls, || event.record(stream))?,
            "stream query" => timed(calls, || stream.is_complete().map(|is_complete| assert!(is_complete)))?,
            "cuDriverGetVersion" => timed(calls, || {
                let mut version = 0;
                // SAFETY: the pointer is valid.
                let code = unsafe { cuDriverGetVersion(&raw mut version) };
                assert_eq!(code, CUresult::CUDA_SUCCESS);
                Ok(())
            })?,
            spread => match numbers(spread) {
                Some((threads, streams)) => self.spread(calls, threads, streams)?,
                None => return Ok(None),
            },
        };
        Ok(Some(time))
    }

    /// Until all calls of all threads have run.
    fn spread(&self, calls: u32, threads: usize, streams: usize) -> Result<f64> {
        let barrier = Barrier::new(threads + 1);
        let (streams, step) = (&self.streams[..streams], threads.min(streams));
        std::thread::scope(|scope| {
            let enqueue = |first: usize| -> Result<()> {
                barrier.wait();
                let own = (first..).step_by(step).map(|index| &streams[index % streams.len()]);
                own.take(calls as usize / threads).try_for_each(|stream| Ok(stream.host_launch(count)?))
            };
            let workers: Vec<_> =
                (0..threads).map(|thread| scope.spawn(move || enqueue(thread % streams.len()))).collect();
            let start = Instant::now();
            barrier.wait();
            workers.into_iter().try_for_each(|worker| worker.join().expect("no panic"))?;
            streams.iter().try_for_each(|stream| stream.synchronize())?;
            Ok(since(start))
        })
    }
}

fn launch<L: Attributes>(fill: &Fill, stream: &Stream, config: &LaunchConfig<L>) -> Result<()> {
    // SAFETY: fills no word at all.
    unsafe { fill.launch(stream, config, (0, 0, 7)) }.map(drop)
}

/// Counted by `instructions`, which knows it by name.
#[inline(never)]
fn timed(calls: u32, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..calls {
        call()?;
    }
    Ok(since(start))
}

fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e9
}

/// Of a path "… threads, … streams".
fn numbers(path: &str) -> Option<(usize, usize)> {
    let (threads, streams) = path.split_once(" threads, ")?;
    Some((threads.parse().ok()?, streams.strip_suffix(" streams")?.parse().ok()?))
}
