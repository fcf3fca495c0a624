//! What cuda-hostfn promises, on the machine's device, or else on the simulated one.

mod errors;
mod expect;
mod field;
mod handles;
mod launches;
mod nodes;
mod streams;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use simulated_driver_client::Version;
use tests::{Machine, trial_on};

/// Where there is no driver.
const SIMULATED: Version = Version::V13_0;

type Run = fn(&Machine) -> Result<(), Failed>;

fn main() -> ExitCode {
    let machine = Machine::find(SIMULATED);
    if let Ok(machine) = &machine {
        println!("suite device, on {machine}");
    }
    let compiler = machine.clone().and_then(|machine| match machine.is_simulated() {
        true => Err("the simulated driver has no compiler".to_owned()),
        false => Ok(machine),
    });
    let rows =
        [handles::TRIALS, streams::TRIALS, launches::TRIALS, nodes::TRIALS, errors::TRIALS, field::TRIALS].concat();
    let trial = |machine: &Result<Machine, String>, name: &str, run: Run| trial_on(name, machine.clone(), run);
    let mut trials: Vec<Trial> = rows.into_iter().map(|(name, run)| trial(&machine, name, run)).collect();
    let compiled = handles::COMPILER_TRIALS.iter().chain(field::COMPILER_TRIALS);
    trials.extend(compiled.map(|(name, run)| trial(&compiler, name, *run)));
    // A device's context is shared: what one trial captures or invalidates is not another's to trip over.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, trials).exit_code()
}
