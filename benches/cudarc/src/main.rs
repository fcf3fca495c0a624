//! The hot paths through cudarc, as far as it has them: a contender of `tests/benches/hot_paths`, whose `hot_paths.c`
//! says what each path is. A host function is what cudarc's users write: a boxed closure that the callback frees.

use std::ffi::c_void;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use cudarc::driver::sys::{CUevent_flags, CUgraphInstantiate_flags, CUstreamCaptureMode, cuDriverGetVersion, cuStreamQuery};
use cudarc::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaGraph, CudaStream, DriverError, LaunchConfig, PushKernelArg, result,
};
use cudarc::nvrtc::Ptx;

type Failure = Box<dyn std::error::Error>;

const NODES: u32 = 100;

static NUMBER: AtomicU64 = AtomicU64::new(0);

fn count() {
    NUMBER.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn call<F: FnOnce()>(closure: *mut c_void) {
    // SAFETY: boxed by `host_launch`, and called once.
    let closure = unsafe { Box::from_raw(closure.cast::<F>()) };
    closure();
}

fn host_launch<F: FnOnce() + Send + 'static>(stream: &CudaStream, closure: F) -> Result<(), DriverError> {
    // Not of size 0, so that it is allocated as any closure with captures.
    let data = Box::into_raw(Box::new(closure)).cast();
    // SAFETY: `call` takes what `data` is.
    unsafe { result::stream::launch_host_function(stream.cu_stream(), call::<F>, data) }
}

struct Paths {
    stream: Arc<CudaStream>,
    fill: CudaFunction,
    event: CudaEvent,
    graph: CudaGraph,
}

fn main() -> Result<(), Failure> {
    let paths = Paths::new()?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (calls, path) = line.split_once(' ').ok_or("no path")?;
        let calls: u32 = calls.parse()?;
        match paths.run(path, calls)? {
            Some(time) => println!("{:.3}", time / f64::from(calls)),
            None => println!("-"),
        }
        std::io::stdout().flush()?;
    }
    Ok(())
}

unsafe extern "C" fn count_one(_: *mut c_void) {
    count();
}

impl Paths {
    fn new() -> Result<Self, Failure> {
        let context = CudaContext::new(0)?;
        let stream = context.new_stream()?;
        let module = context.load_module(Ptx::from_src(include_str!("../../../cuda-hostfn/tests/fill.ptx")))?;
        let fill = module.load_function("fill")?;
        let event = context.new_event(Some(CUevent_flags::CU_EVENT_DISABLE_TIMING))?;
        stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        for _ in 0..NODES {
            // SAFETY: the function needs nothing.
            unsafe { result::stream::launch_host_function(stream.cu_stream(), count_one, std::ptr::null_mut()) }?;
        }
        let none = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        let graph = stream.end_capture(none)?.ok_or("no graph")?;
        Ok(Self { stream, fill, event, graph })
    }

    /// Nanoseconds of all calls.
    fn run(&self, path: &str, calls: u32) -> Result<Option<f64>, Failure> {
        let Self { stream, fill, event, graph } = self;
        let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
        let time = match path {
            "launch, no attribute" => timed(calls, || {
                let (address, length, value) = (0_u64, 0_u32, 7_u32);
                // SAFETY: fills no word at all.
                unsafe { stream.launch_builder(fill).arg(&address).arg(&length).arg(&value).launch(config) }.map(drop)
            })?,
            "host_launch" => timed(calls, || host_launch(stream, count_with(1)))?,
            "host_launch, drained" => {
                let start = Instant::now();
                timed(calls, || host_launch(stream, count_with(1)))?;
                stream.synchronize()?;
                since(start)
            }
            "host_launch, round trip" => timed(calls, || {
                host_launch(stream, count_with(1))?;
                stream.synchronize()
            })?,
            "replayed host node" => timed(calls / NODES, || {
                graph.launch()?;
                stream.synchronize()
            })?,
            "event record" => timed(calls, || event.record(stream))?,
            // SAFETY: the stream lives.
            "stream query" => timed(calls, || unsafe { cuStreamQuery(stream.cu_stream()) }.result())?,
            "cuDriverGetVersion" => timed(calls, || {
                let mut version = 0;
                // SAFETY: the pointer is valid.
                unsafe { cuDriverGetVersion(&mut version) }.result()
            })?,
            _ => return Ok(None),
        };
        stream.synchronize()?;
        Ok(Some(time))
    }
}

/// A closure that captures something, as most do.
fn count_with(number: u64) -> impl FnOnce() + Send + 'static {
    move || {
        NUMBER.fetch_add(number, Ordering::Relaxed);
    }
}

fn timed(calls: u32, mut call: impl FnMut() -> Result<(), DriverError>) -> Result<f64, DriverError> {
    let start = Instant::now();
    for _ in 0..calls {
        call()?;
    }
    Ok(since(start))
}

fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e9
}
