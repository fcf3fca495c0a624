//! How a thread waits for a stream: the attribute that is for streams alone.

use std::time::Instant;

use cuda_hostfn::attribute::SynchronizationPolicy;
use cuda_hostfn::{LaunchConfig, Stream, StreamOptions};

#[allow(dead_code, reason = "for several examples")]
mod common;

fn main() -> common::Result {
    let context = common::context()?;
    let fill = common::fill(&context)?;
    let words = common::Pinned::new(&context, 1024)?;

    let fresh = Stream::new(&context)?;
    println!("a fresh stream: {:?}", fresh.synchronization_policy()?);

    for policy in [SynchronizationPolicy::Spin, SynchronizationPolicy::Yield, SynchronizationPolicy::BlockingSync] {
        let stream = StreamOptions::new().synchronization_policy(policy).create(&context)?;
        // SAFETY: the kernel writes the 1024 words, which are there until the end of this function.
        unsafe { fill.launch(&stream, &LaunchConfig::new(8, 128), (words.address(), 1024, 1)) }?;
        let start = Instant::now();
        stream.synchronize()?;
        println!("{:?}: waited {:?}", stream.synchronization_policy()?, start.elapsed());
    }

    // It can be changed at any time.
    fresh.set_attribute(SynchronizationPolicy::BlockingSync)?;
    match fresh.attribute::<SynchronizationPolicy>()? {
        SynchronizationPolicy::BlockingSync => Ok(()),
        other => Err(format!("the driver says {other:?}").into()),
    }
}
