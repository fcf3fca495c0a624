//! `cargo xtask lint`: everything about the code that needs no run of it.

mod field_cases;
mod targets;
mod tidy;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use crate::{bindings, setup};

const CHECKS: [&[&str]; 4] = [
    &["fmt", "--all", "--check"],
    &[
        "clippy",
        "--workspace",
        "--all-targets",
        "--features",
        "xtask/audit,xtask/bindings,xtask/probe",
        "--",
        "-D",
        "warnings",
    ],
    &["clippy", "--package", "cuda-hostfn", "--features", "cuda-sys/link", "--", "-D", "warnings"],
    &["doc", "--workspace", "--no-deps"],
];

/// Runs every check, and fails if one does.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "lint takes no arguments");
    setup::building()?;
    let mut clean = true;
    for check in CHECKS {
        eprintln!("cargo {}", check.join(" "));
        let status =
            crate::cargo().args(check).env("RUSTDOCFLAGS", "-D warnings").status().context("cannot run cargo")?;
        clean &= status.success();
    }
    clean &= targets::compile()?;
    clean &= tidy::is_tidy(&crate::workspace())?;
    clean &= field_cases::are_shown(&crate::workspace())?;
    eprintln!("cargo xtask bindings --check");
    clean &= bindings::are_current(false)?;
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
