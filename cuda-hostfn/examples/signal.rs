//! A host function that only signals. The work is done by a thread that may take its time and call CUDA: all streams of
//! a process share the driver's one thread, and CUDA cannot be called there.

use std::sync::mpsc::channel;
use std::thread;

use cuda_hostfn::{Event, LaunchConfig, Stream};

#[allow(dead_code, reason = "for several examples")]
mod common;

const LENGTH: u32 = 512;
const ROUNDS: u32 = 4;

fn main() -> common::Result {
    let context = common::context()?;
    let fill = common::fill(&context)?;
    let stream = Stream::new(&context)?;

    let (signal, signalled) = channel();
    let consumer = thread::spawn(move || {
        let mut counts = Vec::new();
        for (round, words, done) in signalled {
            let (words, done): (common::Pinned, Event) = (words, done);
            // In the host function, this call would be refused, and so would be the freeing of the words.
            assert!(done.is_complete()?, "the kernel came before the signal");
            counts.push(words.words().into_iter().filter(|&word| word == round).count());
        }
        Ok::<_, cuda_hostfn::Error>(counts)
    });

    for round in 1..=ROUNDS {
        let (words, done) = (common::Pinned::new(&context, LENGTH)?, Event::new(&context)?);
        // SAFETY: the kernel writes `LENGTH` words; the consumer gets them, and frees them, after the kernel.
        unsafe { fill.launch(&stream, &LaunchConfig::new(4, 128), (words.address(), LENGTH, round)) }?;
        done.record(&stream)?;
        let signal = signal.clone();
        let mut result = Some((round, words, done));
        stream.host_launch(move || result.take().into_iter().for_each(|result| _ = signal.send(result)))?;
    }
    drop(signal);
    stream.synchronize()?;
    // The closures hold the other ends of the channel; they are dropped by an ordinary thread.
    cuda_hostfn::host::reclaim()?;
    let counts = consumer.join().expect("the consumer does not panic")?;
    println!("words of each round: {counts:?}");
    if counts == [LENGTH as usize; ROUNDS as usize] { Ok(()) } else { Err("a signal came too early".into()) }
}
