//! How many streams can wait for closures at once: the device's channels, of which `CUDA_DEVICE_MAX_CONNECTIONS` says how
//! many the driver uses, are shared by all streams.

use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cuda_hostfn::{ExecutorOptions, HostExecutor, Stream};

use crate::Bench;

/// Asks for this measurement alone.
pub(crate) const ARGUMENT: &str = "--channels";
const VARIABLE: &str = "CUDA_DEVICE_MAX_CONNECTIONS";

/// More than a driver has channels for by default.
const STREAMS: usize = 40;

static STARTED: AtomicUsize = AtomicUsize::new(0);
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// What is read once, when CUDA begins, needs processes of its own.
pub(crate) fn measure_each() {
    println!("\nof closures in {STREAMS} streams that wait for each other, so many run at once\n");
    for connections in [None, Some("1"), Some("2"), Some("8"), Some("32")] {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.arg(ARGUMENT).env_remove(VARIABLE);
        if let Some(number) = connections {
            command.env(VARIABLE, number);
        }
        print!("{VARIABLE:30} {:10}", connections.unwrap_or("unset"));
        std::io::Write::flush(&mut std::io::stdout()).expect("written");
        assert!(command.status().expect("started").success());
    }
}

pub(crate) fn measure(bench: &Bench) {
    let executor = HostExecutor::new(&bench.context, ExecutorOptions::new().workers(STREAMS)).expect("an executor");
    let streams: Vec<Stream> = (0..STREAMS).map(|_| Stream::new(&bench.context).expect("a stream")).collect();
    for stream in &streams {
        let wait = || {
            STARTED.fetch_add(1, Ordering::SeqCst);
            while !IS_OVER.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        executor.host_launch(stream, wait).expect("enqueued");
    }
    println!(" {:>3}", most());
    IS_OVER.store(true, Ordering::SeqCst);
}

/// How many start before any is over.
fn most() -> usize {
    let (mut most, mut since) = (0, Instant::now());
    while most < STREAMS && since.elapsed() < Duration::from_millis(300) {
        let started = STARTED.load(Ordering::SeqCst);
        if started != most {
            (most, since) = (started, Instant::now());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    most
}
