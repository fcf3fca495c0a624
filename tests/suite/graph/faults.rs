//! What only the simulated driver does on demand: every call of a life with graphs fails once, and streams run in disorder.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cuda_hostfn::sys::CUresult;
use cuda_hostfn::{Graph, host};
use libtest_mimic::{Failed, Trial};
use simulated_driver_client::{Client, Kind, When};
use tests::{Drops, Machine, SimulatedRow, check, equal, simulated_trials, soon, touch};

use crate::life::{FUNCTIONS, Life};
use crate::{owners, replaced, replays, updates};

const TRIALS: &[SimulatedRow] = &[
    ("faults: a closure that is refused comes back, and the graph runs as it was", refused),
    ("faults: every call fails once, and nothing is left behind", every_call),
    ("faults: every call does its work and fails, and every closure is dropped once", every_call_after_its_work),
    ("faults: the other trials in disorder", disorder),
];

pub fn trials(machine: &Result<Machine, String>) -> Vec<Trial> {
    simulated_trials(machine, TRIALS)
}

fn counts(driver: Client) -> Vec<(Kind, u64)> {
    Kind::ALL.into_iter().map(|kind| (kind, driver.alive(kind))).collect()
}

/// Lives once for each call of each function, which then fails. How many lives that were.
fn fail_each(
    machine: &Machine,
    driver: Client,
    when: When,
    after: impl Fn(&str) -> Result<(), Failed>,
) -> Result<u32, Failed> {
    let mut lives = 0;
    let mut never_called = Vec::new();
    for function in FUNCTIONS {
        for nth in 1.. {
            let what = format!("{function}, call {nth}");
            let life = Life::new(machine);
            let before = driver.calls(function);
            driver.fail(function, nth, CUresult::CUDA_ERROR_OUT_OF_MEMORY, when);
            let result = life.live();
            let calls = driver.calls(function) - before;
            driver.calm();
            check(driver.settle(Duration::from_secs(10)), || format!("{what}: does not settle"))?;
            let made = life.made();
            soon(&what, || life.drops.count() >= made)?;
            equal(&what, &life.drops.count(), &made)?;
            check(life.drops.all_here(), || format!("{what}: dropped on another thread"))?;
            after(&what)?;
            lives += 1;
            if calls < nth {
                result.map_err(|error| format!("{what}: {error}"))?;
                if nth == 1 {
                    never_called.push(*function);
                }
                break;
            }
        }
    }
    // Of functions in two versions, one is called; and nothing was refused, so that one is never released.
    check(never_called.len() <= 6, || format!("never called: {never_called:?}"))?;
    Ok(lives)
}

fn every_call(machine: &Machine, driver: Client) -> Result<(), Failed> {
    host::reclaim()?;
    let before = counts(driver);
    let lives = fail_each(machine, driver, When::Before, |what| {
        host::reclaim()?;
        equal(what, &counts(driver), &before)
    })?;
    check(lives > 150, || format!("{lives} lives"))
}

/// Handles that the driver made and reported as failed are nobody's; what they own is dropped all the same.
fn every_call_after_its_work(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let lives = fail_each(machine, driver, When::After, |_| Ok(()))?;
    check(lives > 150, || format!("{lives} lives"))
}

/// Adds and replaces closures, with a call that fails on the way; then the graph runs.
fn refused(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let objects = ["cuUserObjectCreate", "cuGraphRetainUserObject"];
    let steps = [
        &[objects[0], objects[1], "cuGraphAddHostNode"],
        &[objects[0], objects[1], "cuGraphHostNodeSetParams"],
        &["cuGraphExecHostNodeSetParams"][..],
    ];
    for (step, functions) in steps.into_iter().enumerate() {
        for (function, when) in
            functions.iter().flat_map(|function| [(function, When::Before), (function, When::After)])
        {
            let what = format!("{function} {when:?}");
            let (calls, drops) = (Arc::new(AtomicU32::new(0)), Drops::default());
            let closure = |weight| {
                let (calls, value) = (calls.clone(), drops.value());
                move || {
                    touch(&value);
                    calls.fetch_add(weight, Ordering::Relaxed);
                }
            };
            let graph = Graph::new(&machine.context)?;
            let node = graph.add_host_node(&[], closure(1))?;
            let mut executable = graph.instantiate(Default::default())?;
            driver.fail(function, 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY, when);
            let result = match step {
                0 => graph.add_host_node(&[], closure(100)).map(drop),
                1 => node.replace(closure(100)),
                _ => executable.replace_host_node(node, closure(100)),
            };
            let refused = result.unwrap_err();
            let code = refused.error().code();
            equal(&what, &code, &Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY))?;
            if step < 2 {
                executable = graph.instantiate(Default::default())?;
            }
            executable.launch(&stream)?;
            stream.synchronize()?;
            // A call that did its work has left a node that does nothing.
            let is_replaced = when == When::After && step > 0 && function.ends_with("SetParams");
            equal(&what, &calls.load(Ordering::Relaxed), &u32::from(!is_replaced))?;
            let is_added = when == When::After && *function == "cuGraphAddHostNode";
            equal(&what, &graph.nodes()?.len(), &(1 + usize::from(is_added)))?;
            equal(&what, &drops.count(), &0)?;
            drop((refused, graph, executable));
            soon(&what, || drops.count() == 2)?;
        }
    }
    Ok(())
}

fn disorder(machine: &Machine, driver: Client) -> Result<(), Failed> {
    let seeds = 1..=4;
    for seed in seeds {
        driver.schedule(seed, Duration::from_micros(50));
        let rows = [owners::TRIALS, replaced::TRIALS, updates::TRIALS].concat();
        for (name, trial) in rows.into_iter().chain(replays::TRIALS[1..].iter().copied()) {
            trial(machine)
                .map_err(|failed| format!("seed {seed}, {name}: {}", failed.message().unwrap_or_default()))?;
        }
    }
    Ok(())
}
