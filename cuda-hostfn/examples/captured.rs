//! A host function that is captured: the graph owns the closure, and calls it at each launch.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_hostfn::{CaptureMode, InstantiateOptions, LaunchConfig, Stream, host};

#[allow(dead_code, reason = "for several examples")]
mod common;

const LENGTH: u32 = 256;

fn main() -> common::Result {
    let context = common::context()?;
    let fill = common::fill(&context)?;
    let words = common::Pinned::new(&context, LENGTH)?;
    let stream = Stream::new(&context)?;

    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    stream.begin_capture(CaptureMode::ThreadLocal)?;
    // SAFETY: the kernel writes `LENGTH` words, which are there until the end of this function, as is its module.
    unsafe { fill.launch(&stream, &LaunchConfig::new(2, 128), (words.address(), LENGTH, 3)) }?;
    stream.host_launch(move || _ = counted.fetch_add(1, Ordering::Relaxed))?;
    let executable = stream.end_capture()?.instantiate(InstantiateOptions::new())?;

    for _ in 0..3 {
        executable.launch(&stream)?;
    }
    stream.synchronize()?;
    println!("called {} times, by a graph that is gone", calls.load(Ordering::Relaxed));

    // The closure goes with the last executable graph; the driver says when, and an ordinary thread drops it.
    drop(executable);
    while Arc::strong_count(&calls) > 1 {
        host::reclaim()?;
        std::thread::yield_now();
    }
    if calls.load(Ordering::Relaxed) == 3 { Ok(()) } else { Err("not called three times".into()) }
}
