//! Who calls the closures.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cuda_hostfn::sys::{CUresult, cuLaunchHostFunc};
use cuda_hostfn::{HostExecutor, Stream};

/// How many closures have run.
pub(crate) static CALLED: AtomicU64 = AtomicU64::new(0);

/// How long each takes, in nanoseconds.
static WORK: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Contestant<'e> {
    /// `cuLaunchHostFunc` with a static, as C does.
    Raw,
    /// `StreamRef::host_launch`
    Driver,
    Executor(&'e HostExecutor),
}

impl Contestant<'_> {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Raw => "cuLaunchHostFunc",
            Self::Driver => "host_launch",
            Self::Executor(_) => "executor",
        }
    }

    /// Puts one closure into the stream.
    #[inline]
    pub(crate) fn enqueue(self, stream: &Stream) {
        match self {
            Self::Raw => {
                // SAFETY: the stream lives; the function takes nothing.
                let code = unsafe { cuLaunchHostFunc(stream.as_raw(), Some(function), std::ptr::null_mut()) };
                assert_eq!(code, CUresult::CUDA_SUCCESS);
            }
            Self::Driver => stream.host_launch(work).expect("enqueued"),
            Self::Executor(executor) => executor.host_launch(stream, work).expect("enqueued"),
        }
    }
}

/// Sets how long closures take from now on.
pub(crate) fn set_work(length: Duration) {
    WORK.store(length.as_nanos().try_into().expect("short"), Ordering::Relaxed);
}

unsafe extern "C" fn function(_: *mut c_void) {
    work();
}

fn work() {
    let length = WORK.load(Ordering::Relaxed);
    if length > 0 {
        let start = Instant::now();
        while start.elapsed() < Duration::from_nanos(length) {
            std::hint::spin_loop();
        }
    }
    CALLED.fetch_add(1, Ordering::Relaxed);
}
