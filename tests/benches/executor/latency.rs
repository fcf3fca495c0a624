//! From the end of a kernel to the start of the closure behind it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cuda_hostfn::host::Waiting;
use cuda_hostfn::{ExecutorOptions, HostExecutor, LaunchConfig, Stream};
use tests::Pinned;

use crate::Bench;

const SAMPLES: usize = 301;

/// How long the kernel runs before it is told to end.
const KERNELS: [Duration; 2] = [Duration::from_micros(50), Duration::from_millis(10)];

static START: OnceLock<Instant> = OnceLock::new();
/// In nanoseconds after `START`.
static CALLED_AT: AtomicU64 = AtomicU64::new(0);
static IS_CALLED: AtomicBool = AtomicBool::new(false);

fn now() -> u64 {
    START.get_or_init(Instant::now).elapsed().as_nanos().try_into().expect("not for centuries")
}

fn note() {
    CALLED_AT.store(now(), Ordering::Relaxed);
    IS_CALLED.store(true, Ordering::Release);
}

pub(crate) fn measure(bench: &Bench) {
    println!("\nfrom the word that ends a kernel to the closure behind it, us: median, 99 of 100\n");
    print!("{:42}", "");
    KERNELS.iter().for_each(|length| print!(" {:>22}", format!("after {length:?}")));
    println!();
    let stream = Stream::new(&bench.context).expect("a stream");
    let word = Pinned::new(&bench.context, 1).expect("memory");
    let executor = |waiting| {
        HostExecutor::new(&bench.context, ExecutorOptions::new().workers(1).waiting(waiting)).expect("an executor")
    };
    row("host_launch", || stream.host_launch(note).expect("enqueued"), bench, &stream, &word);
    for (name, waiting) in [("executor, Spin", Waiting::Spin), ("executor, default", Waiting::default())] {
        let executor = executor(waiting);
        row(name, || executor.host_launch(&stream, note).expect("enqueued"), bench, &stream, &word);
    }
}

fn row(name: &str, enqueue: impl Fn(), bench: &Bench, stream: &Stream, word: &Pinned) {
    print!("{name:42}");
    for length in KERNELS {
        let samples = (0..SAMPLES).map(|_| sample(&enqueue, bench, stream, word, length));
        let mut samples: Vec<f64> = samples.collect();
        samples.sort_by(f64::total_cmp);
        print!(" {:>22}", format!("{:.1} {:.1}", samples[SAMPLES / 2], samples[SAMPLES * 99 / 100]));
    }
    println!();
}

fn sample(enqueue: &impl Fn(), bench: &Bench, stream: &Stream, word: &Pinned, length: Duration) -> f64 {
    IS_CALLED.store(false, Ordering::Relaxed);
    word.words()[0].store(0, Ordering::SeqCst);
    // SAFETY: the kernel reads the word, which lives until the stream is done.
    unsafe { bench.wait.launch(stream, &LaunchConfig::new(1, 1), (word.device_address(), 1)) }.expect("launched");
    enqueue();
    std::thread::sleep(length);
    let told = now();
    word.words()[0].store(1, Ordering::SeqCst);
    while !IS_CALLED.load(Ordering::Acquire) {
        std::hint::spin_loop();
    }
    stream.synchronize().expect("no fault");
    CALLED_AT.load(Ordering::Relaxed).saturating_sub(told) as f64 / 1e3
}
