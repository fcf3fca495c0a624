//! An executor: kernels and closures in turn, in several streams that do not wait for each other; the closures call CUDA.

use std::sync::Arc;

use cuda_hostfn::host::Method;
use cuda_hostfn::{ExecutorOptions, HostExecutor, LaunchConfig, Stream};

#[allow(dead_code, reason = "for several examples")]
mod common;

const LENGTH: u32 = 512;
const ROUNDS: u32 = 100;

fn main() -> common::Result {
    let context = common::context()?;
    let fill = common::fill(&context)?;
    // Where driver or device cannot, the driver's thread calls the closures.
    let executor = HostExecutor::new_or_driver(&context, ExecutorOptions::new().workers(2))?;
    println!("closures are called through {:?}", executor.method());

    let streams = [Stream::new(&context)?, Stream::new(&context)?];
    let words = streams.iter().map(|_| common::Pinned::new(&context, LENGTH)).collect::<Result<Vec<_>, _>>()?;
    let words: Vec<_> = words.into_iter().map(Arc::new).collect();
    let mut checks = Vec::new();
    for round in 1..=ROUNDS {
        for (stream, words) in streams.iter().zip(&words) {
            // SAFETY: the kernel writes `LENGTH` words, which live until the streams are synchronised.
            unsafe { fill.launch(stream, &LaunchConfig::new(4, 128), (words.address(), LENGTH, round)) }?;
            let words = words.clone();
            // The stream waits for the closure: the next kernel does not write before this has looked.
            checks.push(executor.host_task(stream, move || words.words().into_iter().all(|word| word == round))?);
        }
    }
    let mut right = 0;
    for check in checks {
        right += u32::from(check.join()?);
    }
    println!("{right} of {} rounds seen as they were", 2 * ROUNDS);

    let inside = context.clone();
    let task = executor.host_task(&streams[0], move || Stream::new(&inside).and_then(|stream| stream.synchronize()))?;
    let result = task.join()?;
    println!("CUDA in a closure: {result:?}");
    streams.iter().try_for_each(|stream| stream.synchronize())?;
    let is_allowed = executor.method() != Method::HostFunctions;
    if right == 2 * ROUNDS && result.is_ok() == is_allowed { Ok(()) } else { Err("not as expected".into()) }
}
