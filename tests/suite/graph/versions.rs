//! Older drivers, which lack functions that newer ones have: this executable again, on the simulation of another version.

use std::env;
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use simulated_driver_client::Client;
use simulated_driver_client::Version;
use tests::{Machine, SIMULATED, check, trial_with};

/// What a driver of a version has to do. Before 12.0, there is no `cuGraphAddKernelNode` of today.
const VERSIONS: [(Version, &[&str]); 2] = [
    (Version::V11_4, &["replaced:", "updates:", "clone", "kernel node"]),
    (Version::V12_2, &["build:", "replaced:", "updates:"]),
];

/// None on a real driver, which has the version that it has.
pub fn trials(machine: &Result<Machine, String>) -> Vec<Trial> {
    if machine.is_ok() && Client::of_loaded_driver().is_none() || env::var_os(SIMULATED).is_some() {
        return Vec::new();
    }
    let trial = |(version, filters): (Version, &'static [&str])| {
        let name = format!("versions: a driver of CUDA {version}");
        trial_with(&name, machine.clone(), move |_| filters.iter().try_for_each(|filter| run(version, filter)))
    };
    VERSIONS.into_iter().map(trial).collect()
}

fn run(version: Version, filter: &str) -> Result<(), Failed> {
    let output = Command::new(env::current_exe()?).arg(filter).env(SIMULATED, version.to_string()).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    check(output.status.success(), || format!("{version}, {filter}: {said}"))?;
    check(!said.contains("running 0 tests"), || format!("{version}, {filter}: none ran"))
}
