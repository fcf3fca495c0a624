//! `cargo xtask test`: the whole suite, all that this machine can run, and what it could not.

mod matrix;
mod runs;
mod tally;
mod valgrind;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::find::Version;
use crate::setup;
use tally::Tally;

/// The headers that every run covers: each in which something of ours changed, the oldest and the newest.
const HEADERS: [Version; 6] =
    [Version(11080), Version(12000), Version(12040), Version(12090), Version(13000), Version(13050)];

/// Disorders that every run covers. `CUDA_TESTS_SEED` repeats one of them, or has another.
const SEEDS: [u64; 3] = [1, 2, 3];

/// Provisions what the suite needs, runs it, and closes with a summary.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    let (mut versions, mut valgrind) = (HEADERS.to_vec(), false);
    for argument in arguments {
        match argument.to_str() {
            Some("--all-cuda") => versions = setup::supported()?,
            Some("--valgrind") => valgrind = true,
            _ => bail!("test takes `--all-cuda` and `--valgrind`, and nothing else"),
        }
    }
    setup::building_and(&versions)?;
    let includes = setup::headers(&versions)?;
    let drivers = setup::drivers()?;

    let mut tallies = vec![runs::workspace()?];
    for seed in SEEDS {
        tallies.push(runs::disorder(seed)?);
    }
    tallies.push(runs::models()?);
    matrix::clear()?;
    for (version, include) in versions.iter().zip(includes) {
        tallies.push(runs::header(*version, include)?);
    }
    tallies.push(runs::per_thread_default_stream()?);
    let no_memcheck = match valgrind {
        true if valgrind::is_installed() => {
            tallies.push(valgrind::memcheck()?);
            None
        }
        true => Some(valgrind::NOT_INSTALLED),
        false => Some(valgrind::NOT_ASKED_FOR),
    };

    println!("\n{}", matrix::text(&versions, &drivers));
    println!("{:<34}{:>8}{:>8}{:>12}", "suite", "passed", "failed", "did not run");
    for tally in &tallies {
        println!("{tally}");
    }
    for suite in tallies.iter().flat_map(|tally| &tally.drivers) {
        println!("suite {suite}");
    }
    for driver in &drivers {
        if let Err(why) = &driver.library {
            println!("did not run: {why}");
        }
    }
    if let Some(why) = no_memcheck {
        println!("did not run: {why}");
    }
    for (why, tests) in tally::reasons(tallies.iter().flat_map(|tally| &tally.not_run)) {
        println!("did not run: {} ({why})", tests.join(", "));
    }
    for (tally, test) in tallies.iter().flat_map(|tally| tally.failures.iter().map(move |test| (tally, test))) {
        println!("failed: {test} ({})", tally.name);
    }
    let total: Tally = tallies.into_iter().sum();
    println!("\n{} passed, {} failed, {} skipped", total.passed, total.failed, total.not_run.len());
    Ok(if total.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
