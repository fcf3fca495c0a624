//! What cuda-hostfn promises, on a device. Where there is none, every trial says that it did not run.

mod handles;
mod launches;
mod machine;
mod nodes;
mod streams;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use machine::Machine;
use tests::trial_with;

type Run = fn(&Machine) -> Result<(), Failed>;

fn main() -> ExitCode {
    let machine = Machine::find();
    if let Ok(machine) = &machine {
        eprintln!("on {machine}");
    }
    let rows = [handles::TRIALS, streams::TRIALS, launches::TRIALS, nodes::TRIALS].concat();
    let trials = rows.into_iter().map(|(name, run)| trial_with(name, machine.clone(), move |machine| run(&machine)));
    let trials: Vec<Trial> = trials.collect();
    // A device's context is shared: what one trial captures or invalidates is not another's to trip over.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, trials).exit_code()
}
