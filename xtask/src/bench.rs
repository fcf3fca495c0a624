//! `cargo xtask bench`: what a machine without a GPU can measure. Quote ratios within one run.

use std::ffi::OsString;
use std::fs;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::setup;

/// What is built from nothing, and timed.
const COLD_BUILDS: [(&str, &[&str]); 2] = [
    ("xtask, stage one", &["build", "--package", "xtask", "--bin", "xtask"]),
    ("cuda-sys, from headers", &["build", "--package", "cuda-sys"]),
];

/// Runs every benchmark.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "bench takes no arguments");
    setup::building()?;
    let driver = setup::drivers()?.into_iter().find_map(|driver| driver.library.ok());
    let mut bench = crate::cargo();
    bench.args(["bench", "--package", "tests"]);
    match (std::env::var_os("CUDA_SYS_DRIVER"), driver) {
        (None, Some(library)) => {
            println!("calls are measured on {}", library.display());
            bench.env("CUDA_SYS_DRIVER", library);
        }
        (Some(library), _) => println!("calls are measured on {}", library.display()),
        (None, None) => println!("calls are measured on the installed driver"),
    }
    ensure!(bench.status().context("cannot run cargo")?.success(), "the benchmarks failed");

    let folder = crate::target().join("cold");
    for (name, command) in COLD_BUILDS {
        let _ = fs::remove_dir_all(&folder);
        let start = Instant::now();
        let status = crate::cargo().args(command).arg("--quiet").env("CARGO_TARGET_DIR", &folder).status()?;
        ensure!(status.success(), "{name} does not build");
        println!("cold build of {name}: {:.1} s", start.elapsed().as_secs_f64());
    }
    Ok(ExitCode::SUCCESS)
}
