//! The examples of cuda-hostfn as a reader runs them, each in a process of its own: on the machine's device, or else on the
//! simulated one. Which there are, cargo says.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use cuda_hostfn::Device;
use cuda_sys::driver;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use simulated_driver::{Version, client};
use tests::{check, trial_with, workspace};

const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let device = library();
    let trials = match built() {
        Ok(programs) => programs
            .into_iter()
            .map(|(name, program)| trial_with(&name, device.clone(), move |library| run(&program, library.as_deref()))),
        Err(error) => {
            eprintln!("{}", error.message().unwrap_or("the examples do not build"));
            return ExitCode::FAILURE;
        }
    };
    libtest_mimic::run(&Arguments::from_args(), trials.collect::<Vec<Trial>>()).exit_code()
}

/// The library to name where there is no driver; nothing where there is one, with a device.
fn library() -> Result<Option<PathBuf>, String> {
    if driver::is_available() {
        let count = Device::count().map_err(|error| error.to_string())?;
        return if count > 0 { Ok(None) } else { Err("the driver has no device".to_owned()) };
    }
    client::library(Version::V13_0).map(Some).map_err(|error| error.to_string())
}

/// The examples' names, and their executables.
fn built() -> Result<Vec<(String, PathBuf)>, Failed> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--offline", "--package", "cuda-hostfn", "--examples"]);
    cargo.arg("--message-format=json-render-diagnostics").current_dir(workspace());
    cargo.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("builds"));
    let output = cargo.stderr(Stdio::piped()).output()?;
    check(output.status.success(), || String::from_utf8_lossy(&output.stderr).into_owned())?;
    let messages = String::from_utf8(output.stdout)?;
    let programs = messages.lines().filter_map(|message| {
        let message: Value = serde_json::from_str(message).ok()?;
        let program = PathBuf::from(message["executable"].as_str()?);
        Some((message["target"]["name"].as_str()?.to_owned(), program))
    });
    Ok(programs.collect())
}

/// An example says by its exit status whether what it shows came true.
fn run(program: &Path, library: Option<&Path>) -> Result<(), Failed> {
    let mut command = Command::new(program);
    if let Some(library) = library {
        command.env(driver::OVERRIDE, library);
    }
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let deadline = Instant::now() + PATIENCE;
    while child.try_wait()?.is_none() {
        if Instant::now() > deadline {
            child.kill()?;
            return Err(format!("it did not end in {} s", PATIENCE.as_secs()).into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output()?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    check(output.status.success(), || text(&output.stdout) + &text(&output.stderr))
}
