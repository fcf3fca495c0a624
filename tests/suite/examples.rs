//! The examples of cuda-hostfn as a reader runs them, each in a process of its own: on the machine's device, or else on the
//! simulated one. Which there are, cargo says.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use cuda_hostfn::Device;
use cuda_sys::driver;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use simulated_driver_client::Version;
use tempfile::TempDir;
use tests::{check, trial_with, workspace};

const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let device = library();
    let programs = match built(&OURS) {
        Ok(programs) => programs,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    let trial = |(name, program): (String, PathBuf)| {
        trial_with(&name, device.clone(), move |library| run(&program, library.as_deref()))
    };
    let mut trials: Vec<Trial> = programs.into_iter().map(trial).collect();
    trials.push(trial_with(CUDARC_TRIAL, fetched().and(device), |library| {
        let programs = built(&CUDARC)?;
        let (_, program) = programs.first().ok_or("cargo built no program")?;
        run(program, library.as_deref())
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

const OURS: [&str; 3] = ["--package", "cuda-hostfn", "--examples"];
const CUDARC: [&str; 3] = ["--locked", "--manifest-path", "examples/cudarc/Cargo.toml"];
const CUDARC_TRIAL: &str = "attributes and host functions on cudarc's stream";

/// Another crate's sources, which the workspace itself does not need.
fn fetched() -> Result<(), String> {
    let fetch = Command::new(env!("CARGO")).arg("fetch").args(CUDARC).current_dir(workspace()).output();
    match fetch {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err("cudarc cannot be fetched".to_owned()),
    }
}

/// The library to name where there is no driver; nothing where there is one, with a device.
fn library() -> Result<Option<PathBuf>, String> {
    if driver::is_available() {
        let count = Device::count().map_err(|error| error.to_string())?;
        return if count > 0 { Ok(None) } else { Err("the driver has no device".to_owned()) };
    }
    simulated_driver_client::library(Version::V13_0).map(Some).map_err(|error| error.to_string())
}

/// The programs that cargo builds, by name.
fn built(arguments: &[&str]) -> Result<Vec<(String, PathBuf)>, String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--offline", "--message-format=json-render-diagnostics"]).args(arguments);
    cargo.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("builds"));
    let output = cargo.current_dir(workspace()).output().map_err(|error| format!("cargo does not start: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let messages = String::from_utf8_lossy(&output.stdout);
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
    // By the override for ours, and by the names that others load: one file, so one driver.
    let names = TempDir::new()?;
    if let Some(library) = library {
        for name in ["libcuda.so.1", "libcuda.so"] {
            std::os::unix::fs::symlink(library, names.path().join(name))?;
        }
        command.env(driver::OVERRIDE, library).env("LD_LIBRARY_PATH", names.path());
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
