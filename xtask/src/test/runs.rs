//! What `cargo xtask test` runs, each a run of cargo of its own.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::matrix;
use super::tally::Tally;
use crate::find::Version;

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

/// The suites that run on a device. They are also run on the simulated driver in disorder, and under valgrind.
pub(super) const ON_DEVICES: [&str; 8] =
    ["--package", "tests", "--test", "device", "--test", "host", "--test", "executor"];

/// Everything, with the headers that an ordinary build takes.
pub(super) fn workspace() -> Result<Tally> {
    let mut cargo = crate::cargo();
    cargo.args(["test", "--workspace", "--features", "xtask/audit,xtask/bindings,xtask/probe", "--no-fail-fast"]);
    tally("the whole workspace", &mut cargo)
}

/// The suites on the simulated driver, whose streams take turns as a seed has it.
pub(super) fn disorder(seed: u64) -> Result<Tally> {
    let mut cargo = crate::cargo();
    cargo.arg("test").args(ON_DEVICES).arg("--no-fail-fast").env("CUDA_TESTS_SEED", seed.to_string());
    tally(&format!("disorder of seed {seed}"), &mut cargo)
}

/// The protocols of host functions, in every order that threads can take.
pub(super) fn models() -> Result<Tally> {
    let mut cargo = elsewhere("models");
    cargo.args(["--package", "cuda-hostfn", "--lib", "models"]).env("RUSTFLAGS", "--cfg loom");
    tally("models of the protocols (loom)", &mut cargo)
}

/// What depends on the header, with this one, and no warning is let pass.
pub(super) fn header(version: Version, include: PathBuf) -> Result<Tally> {
    let mut cargo = elsewhere("headers");
    cargo.args(LAYERS).env("CUDA_SYS_INCLUDE_DIR", include).env(matrix::FOLDER_VARIABLE, matrix::folder());
    tally(&format!("header {version}"), &mut cargo)
}

pub(super) fn per_thread_default_stream() -> Result<Tally> {
    let mut cargo = elsewhere("headers");
    cargo.args(LAYERS).args(["--features", "cuda-sys/per-thread-default-stream"]);
    tally("feature per-thread-default-stream", &mut cargo)
}

/// A build that leaves the ordinary one as it is.
fn elsewhere(folder: &str) -> Command {
    let mut cargo = crate::cargo();
    cargo.arg("test").env("RUSTFLAGS", "-D warnings").env("CARGO_TARGET_DIR", crate::target().join(folder));
    cargo
}

pub(super) fn tally(name: &str, command: &mut Command) -> Result<Tally> {
    eprintln!("\n== {name}");
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot run cargo")?;
    let tally = Tally::read(name, child.stdout.take().context("the output is piped")?)?;
    Ok(tally.closed(child.wait()?.success()))
}
