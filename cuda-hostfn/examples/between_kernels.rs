//! A host function between two kernels: it sees what the first one wrote, and the second one waits for it.

use std::sync::Arc;

use cuda_hostfn::{LaunchConfig, Stream};

#[allow(dead_code, reason = "for several examples")]
mod common;

const LENGTH: u32 = 1024;

fn main() -> common::Result {
    let context = common::context()?;
    let fill = common::fill(&context)?;
    let words = Arc::new(common::Pinned::new(&context, LENGTH)?);
    let stream = Stream::new(&context)?;
    let config = LaunchConfig::new(8, 128);

    // SAFETY: the kernel writes `LENGTH` words, which are there until the stream is synchronised below.
    unsafe { fill.launch(&stream, &config, (words.address(), LENGTH, 1)) }?;
    let seen = words.clone();
    let sum = stream.host_task(move || seen.words().iter().sum::<u32>())?;
    // SAFETY: as above.
    unsafe { fill.launch(&stream, &config, (words.address(), LENGTH, 2)) }?;

    let between = sum.join()?;
    // That the function was called says that the first kernel is over; whether it succeeded, the stream tells.
    stream.synchronize()?;
    let after = words.words().iter().sum::<u32>();
    println!("between the kernels: {between}, after them: {after}");
    if (between, after) == (LENGTH, 2 * LENGTH) { Ok(()) } else { Err("out of order".into()) }
}
