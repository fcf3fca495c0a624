//! Closures called by an executor, beside the driver's own host functions: `cuLaunchHostFunc` as a C program calls it, and
//! through the crate. All take turns, round by round.

mod channels;
mod contestant;
mod latency;
mod processor;
mod rate;

use std::process::ExitCode;

use cuda_hostfn::sys::{CUresult, cuLaunchKernel};
use cuda_hostfn::{Context, Device, Kernel, Module, Result, Stream};
use simulated_driver_client::KERNELS;

/// What all measurements need.
#[derive(Debug)]
struct Bench {
    context: Context,
    nothing: Kernel<()>,
    /// `wait_until_equal_u32(address, value)`
    wait: Kernel<(u64, u32)>,
}

impl Bench {
    /// As C does.
    fn launch_nothing(&self, stream: &Stream) {
        let (function, stream, none) = (self.nothing.as_raw(), stream.as_raw(), std::ptr::null_mut());
        // SAFETY: both handles live; the kernel takes and touches nothing.
        let code = unsafe { cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, none, none) };
        assert_eq!(code, CUresult::CUDA_SUCCESS);
    }

    fn open() -> Result<Self> {
        let context = Context::primary(Device::get(0)?)?;
        let module = Module::from_ptx(&context, KERNELS)?;
        let (nothing, wait) = (module.kernel("nothing")?, module.kernel("wait_until_equal_u32")?);
        Ok(Self { context, nothing, wait })
    }
}

fn main() -> ExitCode {
    let bench = match Bench::open() {
        Ok(bench) => bench,
        Err(error) => {
            println!("did not run: {error}");
            return ExitCode::SUCCESS;
        }
    };
    if std::env::args().any(|argument| argument == channels::ARGUMENT) {
        channels::measure(&bench);
        return ExitCode::SUCCESS;
    }
    rate::measure(&bench);
    latency::measure(&bench);
    processor::measure(&bench);
    channels::measure_each();
    ExitCode::SUCCESS
}

/// Minimum and median.
fn summary(mut samples: Vec<f64>) -> (f64, f64) {
    samples.sort_by(f64::total_cmp);
    (samples[0], samples[samples.len() / 2])
}
