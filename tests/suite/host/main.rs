//! What cuda-hostfn promises about host functions, on whatever driver there is: a real one with its GPU, or else the
//! simulated one.

mod captures;
mod enqueue;
mod faults;
mod field;
mod hook;
mod inside;
mod load;
mod lost;
mod order;
mod panics;
mod scope;
mod values;

use std::process::ExitCode;

use simulated_driver_client::Version;

fn main() -> ExitCode {
    let rows = [
        enqueue::TRIALS,
        captures::TRIALS,
        order::TRIALS,
        values::TRIALS,
        panics::TRIALS,
        inside::TRIALS,
        scope::TRIALS,
        hook::TRIALS,
        load::TRIALS,
        lost::TRIALS,
        field::TRIALS,
    ]
    .concat();
    tests::suite("host", Version::V13_2, lost::QUESTIONS, rows, faults::trials)
}
