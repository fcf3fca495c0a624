//! Host functions as futures: two streams, one task that waits for both.

use cuda_hostfn::{LaunchConfig, Stream};

#[allow(dead_code, reason = "for several examples")]
mod common;

const LENGTH: u32 = 512;

fn main() -> common::Result {
    pollster::block_on(run())
}

async fn run() -> common::Result {
    let context = common::context()?;
    let fill = common::fill(&context)?;
    let (first, second) = (Stream::new(&context)?, Stream::new(&context)?);

    // Both streams work at once; `.await` only waits. The words go along and come back.
    let mut tasks = Vec::new();
    for (stream, value) in [(&first, 1), (&second, 2)] {
        let words = common::Pinned::new(&context, LENGTH)?;
        // SAFETY: the words are there until the task gives its result, which is after the kernel.
        unsafe { fill.launch(stream, &LaunchConfig::new(4, 128), (words.address(), LENGTH, value)) }?;
        tasks.push(stream.host_task_with(words, |words| words.words().iter().sum::<u32>())?);
    }
    let mut sums = Vec::new();
    for task in tasks {
        sums.push(task.await?);
    }
    println!("sums: {sums:?}");
    if sums == [LENGTH, 2 * LENGTH] { Ok(()) } else { Err("not what the kernels wrote".into()) }
}
