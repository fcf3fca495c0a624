//! A launch with attributes: cooperative, in clusters, urgent. And what is refused before the driver is called.

use cuda_hostfn::attribute::{ClusterDimension, Cooperative};
use cuda_hostfn::{Error, LaunchConfig, Stream};

#[allow(dead_code, reason = "for several examples")]
mod common;

const LENGTH: u32 = 2048;

fn main() -> common::Result {
    let context = common::context()?;
    let fill = common::fill(&context)?;
    let words = common::Pinned::new(&context, LENGTH)?;
    let stream = Stream::new(&context)?;

    // An attribute that not every device has: `None` is as if it had not been added.
    let has_clusters = context.device().compute_capability()? >= (9, 0);
    let config = LaunchConfig::new(16, 128)
        .attribute(Cooperative(true))
        .attribute(context.priority_range()?.highest())
        .attribute(has_clusters.then(|| ClusterDimension::new(2, 1, 1)).transpose()?);
    // SAFETY: the kernel writes `LENGTH` words, which are there until the end of this function.
    unsafe { fill.launch(&stream, &config, (words.address(), LENGTH, 7)) }?;
    stream.synchronize()?;
    let written = words.words().iter().filter(|&&word| word == 7).count();
    println!("{written} of {LENGTH} words, in clusters of two: {has_clusters}");

    // A cluster of three does not divide a grid of 16 blocks.
    let config = LaunchConfig::new(16, 128).attribute(ClusterDimension::new(3, 1, 1)?);
    // SAFETY: as above.
    match unsafe { fill.launch(&stream, &config, (words.address(), LENGTH, 8)) } {
        Err(Error::Invalid(rule)) => println!("refused: {rule}"),
        other => return Err(format!("not refused: {other:?}").into()),
    }
    if written == LENGTH as usize { Ok(()) } else { Err("the kernel did not write them all".into()) }
}
