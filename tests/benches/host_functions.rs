//! What closures cost over a straight loop of `cuLaunchHostFunc`, in rounds in which all take turns. Of every variant:
//! the time to enqueue a call, and the time until all are done, reclaimed values included, divided by the raw loop's.

use std::ffi::c_void;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cuda_hostfn::sys::{CUresult, CUstream, cuLaunchHostFunc, cuStreamSynchronize};
use cuda_hostfn::{Context, Device, Stream, host};

const ROUNDS: usize = 200;

/// As many as fit into a stream without the driver waiting.
const CALLS: usize = 500;

type Run = fn(&Stream, &Arc<AtomicU64>);

const VARIANTS: [(&str, Run); 7] = [
    ("raw", raw),
    ("raw again", raw),
    ("host_launch_raw", launch_raw),
    ("host_launch", launch),
    ("host_launch, captures an Arc", launch_with_drop),
    ("host_task, detached", task),
    ("retire an Arc", retire),
];

unsafe extern "C" fn add(number: *mut c_void) {
    // SAFETY: an atomic that outlives the program's work.
    unsafe { &*number.cast::<AtomicU64>() }.fetch_add(1, Ordering::Relaxed);
}

fn pointer(number: &Arc<AtomicU64>) -> *mut c_void {
    Arc::as_ptr(number).cast_mut().cast()
}

fn raw(stream: &Stream, number: &Arc<AtomicU64>) {
    let (raw, number): (CUstream, _) = (stream.as_raw(), pointer(number));
    for _ in 0..CALLS {
        // SAFETY: both live until the stream is done.
        assert_eq!(unsafe { cuLaunchHostFunc(raw, Some(add), number) }, CUresult::CUDA_SUCCESS);
    }
}

fn launch_raw(stream: &Stream, number: &Arc<AtomicU64>) {
    for _ in 0..CALLS {
        // SAFETY: the number lives until the stream is done.
        unsafe { stream.host_launch_raw(Some(add), pointer(number)) }.expect("enqueued");
    }
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

fn count() {
    NUMBER.fetch_add(1, Ordering::Relaxed);
}

fn launch(stream: &Stream, _: &Arc<AtomicU64>) {
    for _ in 0..CALLS {
        stream.host_launch(count).expect("enqueued");
    }
}

fn launch_with_drop(stream: &Stream, number: &Arc<AtomicU64>) {
    for _ in 0..CALLS {
        let number = number.clone();
        let call = move || {
            number.fetch_add(1, Ordering::Relaxed);
        };
        stream.host_launch(call).expect("enqueued");
    }
}

fn task(stream: &Stream, _: &Arc<AtomicU64>) {
    for _ in 0..CALLS {
        drop(stream.host_task(count).expect("enqueued"));
    }
}

fn retire(stream: &Stream, number: &Arc<AtomicU64>) {
    for _ in 0..CALLS {
        stream.retire(number.clone()).expect("enqueued");
    }
}

#[derive(Clone, Copy)]
struct Sample {
    enqueued: Duration,
    drained: Duration,
}

fn measure(run: Run, stream: &Stream, number: &Arc<AtomicU64>) -> Sample {
    let start = Instant::now();
    run(stream, black_box(number));
    let enqueued = start.elapsed();
    // SAFETY: the handle lives.
    assert_eq!(unsafe { cuStreamSynchronize(stream.as_raw()) }, CUresult::CUDA_SUCCESS);
    host::reclaim().expect("an ordinary thread");
    Sample { enqueued, drained: start.elapsed() }
}

fn main() {
    let context = match Device::get(0).and_then(Context::primary) {
        Ok(context) => context,
        Err(error) => return println!("did not run: {error}"),
    };
    let stream = Stream::new(&context).expect("a stream");
    let number = Arc::new(AtomicU64::new(0));
    let mut samples: [Vec<Sample>; VARIANTS.len()] = Default::default();
    for round in 0..ROUNDS + 10 {
        for turn in 0..VARIANTS.len() {
            let variant = (round + turn) % VARIANTS.len();
            let sample = measure(VARIANTS[variant].1, &stream, &number);
            if round >= 10 {
                samples[variant].push(sample);
            }
        }
    }
    println!("{:30} {:>25} {:>25}   against raw: min, median", "ns a call: min, median", "enqueued", "drained");
    for ((name, _), own) in VARIANTS.iter().zip(&samples) {
        let of = |what: fn(&Sample) -> Duration| (numbers(own, what), numbers(&samples[0], what));
        let (enqueued, drained) = (of(|sample| sample.enqueued), of(|sample| sample.drained));
        let times = |((min, median), (raw_min, raw_median))| format!("{:.3} {:.3}", min / raw_min, median / raw_median);
        let text = |((min, median), _)| format!("{min:.0} {median:.0}");
        let (enqueued_times, drained_times) = (times(enqueued), times(drained));
        println!(
            "{name:30} {:>25} {:>25}   enqueued {enqueued_times}, drained {drained_times}",
            text(enqueued),
            text(drained)
        );
    }
}

/// Nanoseconds a call: the minimum and the median.
fn numbers(samples: &[Sample], what: fn(&Sample) -> Duration) -> (f64, f64) {
    let mut times: Vec<f64> = samples.iter().map(|sample| what(sample).as_secs_f64() * 1e9 / CALLS as f64).collect();
    times.sort_by(f64::total_cmp);
    (times[0], times[times.len() / 2])
}
