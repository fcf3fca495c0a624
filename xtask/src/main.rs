//! `cargo xtask`: everything a person types in this workspace. This program is stage one: it starts on a bare machine.

mod audit_stage;
mod bench;
mod bindings;
mod bundle;
mod cli;
mod doctor;
mod driver;
#[path = "../../cuda-sys/build/find.rs"]
mod find;
#[path = "../../cuda-sys/build/libclang.rs"]
mod libclang;
mod lint;
mod setup;
mod test;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use cli::Task;

/// Neither success nor a finding: it could not run.
const COULD_NOT_RUN: u8 = 2;

fn main() -> ExitCode {
    let task = match cli::parse(std::env::args_os().skip(1)) {
        Ok(task) => task,
        Err(error) => {
            eprintln!("error: {error:#}\nSee `cargo xtask --help`.");
            return COULD_NOT_RUN.into();
        }
    };
    let outcome = match task {
        Task::Help(text) => {
            print!("{text}");
            Ok(ExitCode::SUCCESS)
        }
        Task::Setup(options) => setup::run(&options),
        Task::Audit(arguments) => audit_stage::run(&arguments),
        Task::Test(arguments) => test::run(&arguments),
        Task::Lint(arguments) => lint::run(&arguments),
        Task::Bench(arguments) => bench::run(&arguments),
        Task::Bundle(arguments) => bundle::run(&arguments),
        Task::Doctor(arguments) => doctor::run(&arguments),
        Task::Bindings(arguments) => bindings::run(&arguments),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        COULD_NOT_RUN.into()
    })
}

/// The workspace's root.
fn workspace() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

/// The cargo that runs this, at the workspace's root.
fn cargo() -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.current_dir(workspace());
    command
}

/// Where cargo builds.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
}
