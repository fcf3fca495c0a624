//! The simulated driver's own, of which a real one knows nothing: faults and disorder on demand, versions, and mistakes
//! that it tells.

mod failures;
mod faults;
mod handles;
mod memory_operations;
mod order;
#[path = "../raw.rs"]
mod raw;
mod versions;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use simulated_driver_client::Version;
use tests::children;

use raw::{Driver, trials_of};

fn main() -> ExitCode {
    if let Some(code) = children::answer(&versions::QUESTIONS, |&version| versions::check(version)) {
        return code;
    }
    let loaded = simulated_driver_client::load(Version::default()).map(drop).map_err(|error| error.to_string());
    if let Some(code) = children::answer(faults::TRIALS, |run| {
        loaded.clone()?;
        run(&Driver::open());
        Ok(())
    }) {
        return code;
    }
    println!("suite simulation, on the simulated driver, header of {}", cuda_sys::CUDA_VERSION);
    let areas = [
        ("failures", failures::TRIALS),
        ("handles", handles::TRIALS),
        ("memory operations", memory_operations::TRIALS),
        ("order", order::TRIALS),
    ];
    let mut all: Vec<Trial> = areas.into_iter().flat_map(|(area, rows)| trials_of(area, rows, &loaded)).collect();
    all.extend(children::trials("faults", faults::TRIALS, &loaded));
    all.extend(children::trials("versions", &versions::QUESTIONS, &Ok(())));
    all.push(Trial::test("versions: there is no other", versions::no_other));
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, all).exit_code()
}
