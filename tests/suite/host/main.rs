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
        println!("suite host, on {machine}");
    }
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
    let trials = rows.into_iter().map(|(name, run)| trial_on(name, machine.clone(), run));
    let mut trials: Vec<Trial> = trials.collect();
    trials.extend(faults::trials(&machine));
    // Counters, handlers and the queue are the process's: what one trial leaves is not another's to find.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, trials).exit_code()
}
