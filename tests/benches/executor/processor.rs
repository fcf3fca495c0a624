//! What waiting costs: processor time while a long kernel runs before a closure, and when nothing is in flight.

use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;
use std::time::Duration;

use cuda_hostfn::host::Waiting;
use cuda_hostfn::{ExecutorOptions, HostExecutor, LaunchConfig, Stream};
use tests::Pinned;

use crate::Bench;

const LENGTH: Duration = Duration::from_millis(500);

/// Of all threads of the process, those of the driver among them.
pub(crate) fn processor_time() -> Duration {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is valid for a write.
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) }, 0);
    // SAFETY: written by the call.
    let usage = unsafe { usage.assume_init() };
    let time = |time: libc::timeval| {
        Duration::new(
            time.tv_sec.try_into().expect("past"),
            (time.tv_usec * 1000).try_into().expect("less than a second"),
        )
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

pub(crate) fn measure(bench: &Bench) {
    println!("\nprocessor seconds of the process in a second of waiting, 8 workers\n");
    println!("{:42} {:>22} {:>16}", "", "for a kernel's end", "nothing in flight");
    let stream = Stream::new(&bench.context).expect("a stream");
    let word = Pinned::new(&bench.context, 1).expect("memory");
    row("host_launch", || stream.host_launch(|| ()).expect("enqueued"), bench, &stream, &word);
    for (name, waiting) in [("executor, Spin", Waiting::Spin), ("executor, default", Waiting::default())] {
        let options = ExecutorOptions::new().workers(8).waiting(waiting);
        let executor = HostExecutor::new(&bench.context, options).expect("an executor");
        row(name, || executor.host_launch(&stream, || ()).expect("enqueued"), bench, &stream, &word);
    }
}

fn row(name: &str, enqueue: impl Fn(), bench: &Bench, stream: &Stream, word: &Pinned) {
    word.words()[0].store(0, Ordering::SeqCst);
    // SAFETY: the kernel reads the word, which lives until the stream is done.
    unsafe { bench.wait.launch(stream, &LaunchConfig::new(1, 1), (word.device_address(), 1)) }.expect("launched");
    enqueue();
    let waiting = share();
    word.words()[0].store(1, Ordering::SeqCst);
    stream.synchronize().expect("no fault");
    std::thread::sleep(Duration::from_millis(20));
    println!("{name:42} {waiting:>22.3} {:>16.3}", share());
}

fn share() -> f64 {
    let before = processor_time();
    std::thread::sleep(LENGTH);
    (processor_time() - before).as_secs_f64() / LENGTH.as_secs_f64()
}
