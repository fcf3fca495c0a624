//! Host functions are called after the work before them and before the work after them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_hostfn::LaunchConfig;
use libtest_mimic::Failed;
use tests::{Machine, Row, check, equal};

pub const TRIALS: &[Row] = &[
    ("order: a closure sees what the kernel before it wrote, and no later one", kernels),
    ("order: closures of a stream are called in turn", closures),
    ("order: two streams keep their own data", two_streams),
];

fn kernels(machine: &Machine) -> Result<(), Failed> {
    const LENGTH: u32 = 256;
    const ROUNDS: u32 = 200;
    let stream = machine.stream()?;
    let words = Arc::new(machine.pinned(LENGTH as usize)?);
    let wrong = Arc::new(AtomicU32::new(0));
    for round in 1..=ROUNDS {
        // SAFETY: the words are there until the stream is done.
        unsafe {
            machine.fill.launch(&stream, &LaunchConfig::new(1, LENGTH), (words.device_address(), LENGTH, round))
        }?;
        let (words, wrong) = (words.clone(), wrong.clone());
        stream.host_launch(move || {
            let differing = words.words().iter().filter(|word| word.load(Ordering::Relaxed) != round).count();
            wrong.fetch_add(u32::try_from(differing).unwrap_or(u32::MAX), Ordering::Relaxed);
            // The kernel after this one has to overwrite it.
            words.words().iter().for_each(|word| word.store(u32::MAX, Ordering::Relaxed));
        })?;
    }
    stream.synchronize()?;
    equal("words that were not as written", &wrong.load(Ordering::Relaxed), &0)
}

fn closures(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let next = Arc::new(AtomicU32::new(0));
    let tasks = (0..500).map(|expected| {
        let next = next.clone();
        stream.host_task(move || next.fetch_add(1, Ordering::Relaxed) == expected)
    });
    for task in tasks.collect::<Vec<_>>() {
        check(task?.join()?, || "out of turn".to_owned())?;
    }
    Ok(())
}

fn two_streams(machine: &Machine) -> Result<(), Failed> {
    let streams = [machine.stream()?, machine.stream()?];
    let words = [Arc::new(machine.pinned(1)?), Arc::new(machine.pinned(1)?)];
    let mut tasks = Vec::new();
    for round in 0..200_u32 {
        for (index, (stream, words)) in (0..).zip(streams.iter().zip(&words)) {
            let value = 2 * round + index;
            // SAFETY: the words are there until the stream is done.
            unsafe { machine.fill.launch(stream, &LaunchConfig::new(1, 1), (words.device_address(), 1, value)) }?;
            let words = words.clone();
            tasks.push((value, stream.host_task(move || words.words()[0].load(Ordering::Relaxed))?));
        }
    }
    for (value, task) in tasks {
        equal("the stream's own word", &task.join()?, &value)?;
    }
    Ok(())
}
