//! What cuda-hostfn promises about executors, on whatever driver there is: a real one with its GPU, or else the simulated
//! one.

mod calls;
mod captures;
mod faults;
mod life;
mod load;
mod lost;
mod rights;

use std::process::ExitCode;

use cuda_hostfn::{ExecutorOptions, HostExecutor};
use simulated_driver_client::Version;
use tests::Machine;

fn main() -> ExitCode {
    let rows = [calls::TRIALS, rights::TRIALS, captures::TRIALS, life::TRIALS, load::TRIALS, lost::TRIALS].concat();
    tests::suite("executor", Version::V13_2, lost::QUESTIONS, rows, faults::trials)
}

/// One with two workers.
fn executor(machine: &Machine) -> cuda_hostfn::Result<HostExecutor> {
    HostExecutor::new(&machine.context, ExecutorOptions::new().workers(2))
}
