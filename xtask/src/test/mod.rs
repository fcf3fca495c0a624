//! `cargo xtask test`: the whole suite, all that this machine can run, and what it could not.

mod matrix;
mod tally;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};

use crate::find::Version;
use crate::setup;
use tally::Tally;

/// The headers that every run covers: each in which something of ours changed, the oldest and the newest.
const HEADERS: [Version; 6] =
    [Version(11080), Version(12000), Version(12040), Version(12090), Version(13000), Version(13050)];

/// What depends on the header, and on how the driver is reached.
const LAYERS: [&str; 12] = [
    "--package",
    "cuda-sys",
    "--package",
    "cuda-hostfn",
    "--package",
    "tests",
    "--lib",
    "--test",
    "drivers",
    "--test",
    "oracle",
    "--no-fail-fast",
];

/// Provisions what the suite needs, runs it, and closes with a summary.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    let versions = match arguments {
        [] => HEADERS.to_vec(),
        [all] if all == "--all-cuda" => setup::supported()?,
        _ => bail!("test takes `--all-cuda`, to cover every header, and nothing else"),
    };
    setup::building_and(&versions)?;
    let includes = setup::headers(&versions)?;
    let drivers = setup::drivers()?;

    let mut tallies = vec![workspace()?];
    matrix::clear()?;
    for (version, include) in versions.iter().zip(includes) {
        tallies.push(header(*version, include)?);
    }
    tallies.push(per_thread_default_stream()?);

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

/// Everything, with the headers that an ordinary build takes.
fn workspace() -> Result<Tally> {
    let mut cargo = crate::cargo();
    cargo.args(["test", "--workspace", "--features", "xtask/audit,xtask/bindings,xtask/probe", "--no-fail-fast"]);
    tally("the whole workspace", cargo)
}

/// What depends on the header, with this one, and no warning is let pass.
fn header(version: Version, include: PathBuf) -> Result<Tally> {
    let mut cargo = elsewhere("test");
    cargo.args(LAYERS).env("CUDA_SYS_INCLUDE_DIR", include).env(matrix::FOLDER_VARIABLE, matrix::folder());
    tally(&format!("header {version}"), cargo)
}

fn per_thread_default_stream() -> Result<Tally> {
    let mut cargo = elsewhere("test");
    cargo.args(LAYERS).args(["--features", "cuda-sys/per-thread-default-stream"]);
    tally("feature per-thread-default-stream", cargo)
}

/// A build that leaves the ordinary one as it is.
fn elsewhere(command: &str) -> Command {
    let mut cargo = crate::cargo();
    cargo.arg(command).env("RUSTFLAGS", "-D warnings").env("CARGO_TARGET_DIR", crate::target().join("headers"));
    cargo
}

fn tally(name: &str, mut command: Command) -> Result<Tally> {
    eprintln!("\n== {name}");
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot run cargo")?;
    let tally = Tally::read(name, child.stdout.take().context("the output is piped")?)?;
    Ok(tally.closed(child.wait()?.success()))
}
