//! `cargo xtask bench`: the hot paths on the machine's driver, or the simulated one; instructions; cold builds. Quote ratios
//! within one run.

mod builds;
pub(crate) mod hot_paths;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::setup;

/// Runs every benchmark. `--bless` takes what is counted as the baseline of this toolchain.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    let bless = match arguments {
        [] => false,
        [bless] if bless == "--bless" => true,
        _ => bail!("bench takes `--bless` and nothing else"),
    };
    let headers = setup::building()?;
    let hot_paths = hot_paths::HotPaths::build()?;
    hot_paths.compare(&headers.include)?;
    println!();
    let has_not_grown = hot_paths.count_instructions(bless)?;
    println!();
    builds::time()?;
    Ok(if has_not_grown { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
