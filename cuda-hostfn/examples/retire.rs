//! What has to live until a stream gets there: `retire` keeps it, `host_copy` copies and gives both buffers back.

use std::sync::Arc;

use cuda_hostfn::{LaunchConfig, Stream, host};

#[allow(dead_code, reason = "for several examples")]
mod common;

const LENGTH: u32 = 512;

fn main() -> common::Result {
    let context = common::context()?;
    let fill = common::fill(&context)?;
    let stream = Stream::new(&context)?;

    // A kernel's memory is let go of at once, and freed when the kernel is done: by an ordinary thread, since freeing is a
    // call into CUDA.
    let words = Arc::new(common::Pinned::new(&context, LENGTH)?);
    let watched = Arc::downgrade(&words);
    // SAFETY: the words are there until the stream gets to what is retired, which is after the kernel.
    unsafe { fill.launch(&stream, &LaunchConfig::new(4, 128), (words.address(), LENGTH, 1)) }?;
    stream.retire(words)?;
    println!("in flight: {}", host::outstanding());

    let copy = stream.host_copy(vec![0_u32; 4], [1, 2, 3, 4])?;
    let (copied, _from) = copy.join()?;
    println!("copied in stream order: {copied:?}");

    stream.synchronize()?;
    host::reclaim()?;
    match (copied == [1, 2, 3, 4], watched.upgrade()) {
        (true, None) => Ok(()),
        (_, kept) => Err(format!("copied {copied:?}, still kept: {}", kept.is_some()).into()),
    }
}
