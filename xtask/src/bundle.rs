//! `cargo xtask bundle`: what is to run on a GPU, as one folder that needs neither Rust nor a toolkit there.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::bench::hot_paths;
use crate::setup;

/// What is built, and how each of its programs is run on the other machine.
const PARTS: [Part; 12] = [
    Part { build: &["test", "--no-run", "--package", "cuda-hostfn", "--lib"], seconds: 60, arguments: "" },
    Part { build: &["test", "--no-run", "--package", "tests", "--test", "conformance"], seconds: 120, arguments: "" },
    Part { build: &["test", "--no-run", "--package", "tests", "--test", "device"], seconds: 240, arguments: "" },
    Part { build: &["test", "--no-run", "--package", "tests", "--test", "host"], seconds: 60, arguments: "" },
    Part { build: &["test", "--no-run", "--package", "tests", "--test", "graph"], seconds: 60, arguments: "" },
    Part { build: &["test", "--no-run", "--package", "tests", "--test", "executor"], seconds: 120, arguments: "" },
    Part { build: &["test", "--no-run", "--package", "tests", "--test", "allocations"], seconds: 60, arguments: "" },
    Part {
        build: &["bench", "--no-run", "--package", "tests", "--bench", "graphs"],
        seconds: 60,
        arguments: "--bench",
    },
    Part {
        build: &["bench", "--no-run", "--package", "tests", "--bench", "executor"],
        seconds: 120,
        arguments: "--bench",
    },
    Part { build: &["build", "--release", "--package", "cuda-hostfn", "--examples"], seconds: 60, arguments: "" },
    Part {
        build: &["build", "--release", "--locked", "--manifest-path", "examples/cudarc/Cargo.toml"],
        seconds: 60,
        arguments: "",
    },
    Part {
        build: &["build", "--release", "--package", "xtask", "--features", "probe", "--bin", "attribute-probe"],
        seconds: 120,
        arguments: "--output RESULTS/observations.json",
    },
];

const SCRIPT: &str = include_str!("bundle/run.sh");

/// Runs the hot paths beside those of straight C, which it builds there.
const HOT_PATHS: &str = include_str!("bundle/hot_paths.sh");

/// More than this does not travel everywhere.
const LIMIT: u64 = 64 << 20;

struct Part {
    build: &'static [&'static str],
    /// How long it may take.
    seconds: u32,
    /// `RESULTS` in them stands for the folder of the logs.
    arguments: &'static str,
}

/// Fills `bundle/` anew.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "bundle takes no arguments");
    setup::building()?;
    let folder = crate::workspace().join("bundle");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir(&folder)?;
    let mut programs = String::new();
    for part in PARTS {
        for (name, program) in executables(part.build)? {
            let copy = folder.join(&name);
            strip(&program, &copy)?;
            programs.push_str(&format!("{} {name} {}\n", part.seconds, part.arguments));
        }
    }
    strip(&executable(&hot_paths::OURS)?, &folder.join("hot_paths"))?;
    strip(&executable(&hot_paths::CUDARC)?, &folder.join("hot_paths_cudarc"))?;
    for file in [hot_paths::C_SOURCE, hot_paths::KERNEL] {
        let file = crate::workspace().join(file);
        fs::copy(&file, folder.join(file.file_name().context("a file")?))?;
    }
    programs.push_str("180 hot_paths.sh RESULTS\n");
    fs::write(folder.join("programs"), &programs)?;
    for (name, text) in [("run.sh", SCRIPT), ("hot_paths.sh", HOT_PATHS)] {
        let script = folder.join(name);
        fs::write(&script, text)?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    }

    let size = size(&folder)?;
    ensure!(size <= LIMIT, "the bundle has {size} bytes, more than {LIMIT}: bundle fewer programs");
    println!(
        "{}: {} programs, {:.1} MiB",
        folder.display(),
        programs.lines().count(),
        size as f64 / f64::from(1 << 20)
    );
    println!("Copy it to a machine with a GPU and run `run.sh RESULTS` there; RESULTS is a folder for the logs.");
    Ok(ExitCode::SUCCESS)
}

/// The one executable that a build gives.
pub(crate) fn executable(build: &[&str]) -> Result<PathBuf> {
    let mut found = executables(build)?;
    ensure!(found.len() == 1, "cargo {} gave {} executables, not one", build.join(" "), found.len());
    Ok(found.remove(0).1)
}

/// Builds, and asks cargo which executables came of it.
fn executables(build: &[&str]) -> Result<Vec<(String, PathBuf)>> {
    let mut cargo = crate::cargo();
    let output = cargo.args(build).arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "cargo {} failed", build.join(" "));
    let messages = String::from_utf8(output.stdout)?;
    let mut found = Vec::new();
    for message in messages.lines() {
        let message: Value = serde_json::from_str(message).context("cargo's messages are JSON")?;
        let Some(program) = message["executable"].as_str() else { continue };
        let name = message["target"]["name"].as_str().context("an executable has a target")?;
        let kind = message["target"]["kind"][0].as_str().unwrap_or_default();
        found.push((format!("{kind}-{name}"), PathBuf::from(program)));
    }
    if found.is_empty() {
        bail!("cargo {} gave no executable", build.join(" "));
    }
    Ok(found)
}

fn strip(program: &Path, copy: &Path) -> Result<()> {
    let status =
        Command::new("strip").arg("-o").args([copy, program]).status().context("cannot run strip (binutils)")?;
    ensure!(status.success(), "strip failed on {}", program.display());
    Ok(())
}

fn size(folder: &Path) -> Result<u64> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.metadata()?.len())).sum()
}
