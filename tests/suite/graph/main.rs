//! What cuda-hostfn promises about captures and graphs with host functions in them, on whatever driver there is: a real one
//! with its GPU, or else the simulated one.

mod build;
mod captures;
mod faults;
mod life;
mod lost;
mod owners;
mod replaced;
mod replays;
mod updates;
mod versions;

use std::process::ExitCode;

use simulated_driver_client::Version;

fn main() -> ExitCode {
    let rows = [
        captures::TRIALS,
        build::TRIALS,
        replays::TRIALS,
        owners::TRIALS,
        replaced::TRIALS,
        updates::TRIALS,
        lost::TRIALS,
    ]
    .concat();
    tests::suite("graph", Version::V13_2, lost::QUESTIONS, rows, |machine| {
        [faults::trials(machine), versions::trials(machine)].into_iter().flatten().collect()
    })
}
