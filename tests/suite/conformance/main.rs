//! What the simulated driver claims of drivers, asked of whatever driver there is: a real one with its GPU, or else the
//! simulated one. A difference is mended in the simulation.

mod attributes;
mod by_name;
mod capture;
mod contexts;
mod events;
mod faults;
mod graphs;
mod host_functions;
mod many_threads;
mod memory;
mod memory_operations;
#[path = "../raw.rs"]
mod raw;
mod streams;
mod user_objects;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use simulated_driver_client::Version;
use tests::{Machine, children};

use raw::{Driver, trials_of};

/// Where there is no driver: as old as the one that was measured.
const SIMULATED: Version = Version::V13_0;

fn main() -> ExitCode {
    // A kernel that is loaded when it is first launched would wait for those that run and wait for it.
    // SAFETY: no other thread is there yet.
    unsafe { std::env::set_var("CUDA_MODULE_LOADING", "EAGER") };
    let machine = Machine::find(SIMULATED);
    let found = machine.as_ref().map(drop).map_err(Clone::clone);
    let title = machine.as_ref().map(ToString::to_string).ok();
    let recorded = machine.as_ref().map_err(Clone::clone).and_then(attributes::are_recorded);
    // Its context is not the trials', and unloading its module would wait for what a child leaves running.
    drop(machine);
    if let Some(code) = children::answer(faults::TRIALS, |run| {
        found.clone()?;
        run(&Driver::open());
        Ok(())
    }) {
        return code;
    }
    if let Some(machine) = title {
        println!("suite conformance, on {machine}");
    }
    let areas = [
        ("contexts", contexts::TRIALS),
        ("streams", streams::TRIALS),
        ("memory", memory::TRIALS),
        ("memory operations", memory_operations::TRIALS),
        ("events", events::TRIALS),
        ("host functions", host_functions::TRIALS),
        ("capture", capture::TRIALS),
        ("graphs", graphs::TRIALS),
        ("user objects", user_objects::TRIALS),
        ("attributes", attributes::TRIALS),
        ("by name", by_name::TRIALS),
        ("many threads", many_threads::TRIALS),
    ];
    let mut all: Vec<Trial> = areas.into_iter().flat_map(|(area, rows)| trials_of(area, rows, &found)).collect();
    all.extend(trials_of("attributes", attributes::RECORDED, &recorded));
    all.extend(children::trials("faults", faults::TRIALS, &found));
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, all).exit_code()
}
