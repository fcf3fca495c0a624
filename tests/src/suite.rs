//! Suites of host functions: on one device, with children for what ends its context, and trials of the simulation's alone.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use simulated_driver_client::{Client, Version};

use crate::{Machine, children, trial_on, trial_with};

/// A trial, or what a child does, by its name.
pub type Row = (&'static str, fn(&Machine) -> Result<(), Failed>);

/// A trial that asks the simulated driver for what no other does on demand.
pub type SimulatedRow = (&'static str, fn(&Machine, Client) -> Result<(), Failed>);

/// A suite's `main`: it answers the questions of children, or else runs the rows on the machine's device, and what `more`
/// has for that. Where there is no driver, one of that version is simulated.
pub fn suite(
    name: &str,
    simulated: Version,
    questions: &[Row],
    rows: Vec<Row>,
    more: impl FnOnce(&Result<Machine, String>) -> Vec<Trial>,
) -> ExitCode {
    if let Some(code) = children::answer(questions, |run| run(&Machine::find(simulated)?)) {
        return code;
    }
    // Most panics here are meant; a trial that fails says so itself.
    std::panic::set_hook(Box::new(|panic| eprintln!("panic: {}", panic.payload_as_str().unwrap_or("no text"))));
    let machine = Machine::find(simulated);
    if let Ok(machine) = &machine {
        println!("suite {name}, on {machine}");
    }
    let trials = rows.into_iter().map(|(name, run)| trial_on(name, machine.clone(), run));
    let mut trials: Vec<Trial> = trials.collect();
    trials.extend(more(&machine));
    // Counters, handlers and the queue are the process's: what one trial leaves is not another's to find.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// None on a real driver, which does nothing of this on demand: they are the simulation's.
pub fn simulated_trials(machine: &Result<Machine, String>, rows: &[SimulatedRow]) -> Vec<Trial> {
    if machine.is_ok() && Client::of_loaded_driver().is_none() {
        return Vec::new();
    }
    let trial = |&(name, run): &SimulatedRow| {
        let needed = machine.clone().and_then(|machine| match Client::of_loaded_driver() {
            Some(client) => Ok((machine, client)),
            None => Err("needs the simulated driver".to_owned()),
        });
        trial_with(name, needed, move |(machine, client)| {
            let result = run(&machine, client);
            client.calm();
            result
        })
    };
    rows.iter().map(trial).collect()
}
