//! What cuda-hostfn promises about executors, on whatever driver there is: a real one with its GPU, or else the simulated
//! one.

mod calls;

use std::process::ExitCode;

use simulated_driver_client::Version;

fn main() -> ExitCode {
    let rows = [calls::TRIALS].concat();
    tests::suite("executor", Version::V13_2, &[], rows, |_| Vec::new())
}
