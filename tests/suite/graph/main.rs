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

use libtest_mimic::{Arguments, Failed, Trial};
use simulated_driver_client::Version;
use tests::{Machine, children, trial_on};

/// Where there is no driver.
const SIMULATED: Version = Version::V13_2;

type Run = fn(&Machine) -> Result<(), Failed>;

fn main() -> ExitCode {
    if let Some(code) = children::answer(lost::QUESTIONS, |run| run(&Machine::find(SIMULATED)?)) {
        return code;
    }
    // Most panics here are meant; a trial that fails says so itself.
    std::panic::set_hook(Box::new(|panic| eprintln!("panic: {}", panic.payload_as_str().unwrap_or("no text"))));
    let machine = Machine::find(SIMULATED);
    if let Ok(machine) = &machine {
        println!("suite graph, on {machine}");
    }
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
    let trials = rows.into_iter().map(|(name, run)| trial_on(name, machine.clone(), run));
    let mut trials: Vec<Trial> = trials.collect();
    trials.extend(faults::trials(&machine));
    trials.extend(versions::trials(&machine));
    // Counters and the queue are the process's: what one trial leaves is not another's to find.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, trials).exit_code()
}
