//! The driver of this machine, asked by `attribute-probe`.

use std::path::Path;
use std::process::Command;

use super::{Machine, Source, read};
use crate::error::Error;
use crate::plain::plain;

/// The probe's exit status where it has a record that says what went wrong.
const UNHEALTHY: i32 = 1;
/// And where there is no driver, or no device that it can ask.
const COULD_NOT_RUN: i32 = 2;

/// What came of asking.
#[derive(Debug)]
pub enum Live {
    Machines(Vec<Machine>),
    /// There is nobody to ask, for this reason.
    Nobody(String),
}

/// Asks the first device of this machine.
pub fn ask(probe: &Path) -> Result<Live, Error> {
    let failed = |what| Error::Probe { probe: probe.to_owned(), what };
    let output = Command::new(probe).output().map_err(|error| failed(error.to_string()))?;
    let stderr = plain(String::from_utf8_lossy(&output.stderr).trim().trim_start_matches("error: "), 500);
    match output.status.code() {
        Some(0 | UNHEALTHY) => {
            let text = String::from_utf8(output.stdout).map_err(|error| failed(error.to_string()))?;
            let machines = read::parse(&text, &Source::Live);
            machines.map(Live::Machines).map_err(|what| Error::Record { from: Source::Live, what })
        }
        Some(COULD_NOT_RUN) => Ok(Live::Nobody(stderr)),
        _ => Err(failed(format!("{}: {stderr}", output.status))),
    }
}
