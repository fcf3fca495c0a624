//! The command line.

use std::ffi::OsString;
use std::num::ParseIntError;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

pub(super) const HELP: &str = "\
attribute-probe: ask a CUDA driver which launch attributes it takes on streams, launches and graph kernel nodes

Usage: attribute-probe [OPTIONS]

Prints one JSON record, or an array of them for several devices, for `cargo xtask audit --observed FILE`. Needs a driver
and a device of compute capability 7.5 or newer; no toolkit. Takes a second or two for each device.

Options:
      --device N      Ask this device, 0 if not given; can be repeated
      --all-devices   Ask every device; those too old are named and left out
      --output FILE   Write the record there and not to standard output
      --timeout S     Give up on a device after so many seconds, 60 if not given
  -h, --help          Print this

The environment variable CUDA_SYS_DRIVER names a driver library to load instead of the installed one.
Exit status: 0 success, 1 a control failed or a sample broke the context (the record says which), 2 it could
not run, or not on every device that was to be asked (the others are recorded).
";

/// A run takes a second or two. Longer than this, and something hangs.
const TIMEOUT: u64 = 60;

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Task {
    Help,
    Ask {
        devices: Devices,
        output: Option<PathBuf>,
        timeout: Duration,
    },
    /// Be the process that talks to the driver: see `worker`.
    Work {
        device: u32,
        questions: Vec<usize>,
    },
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Devices {
    All,
    These(Vec<u32>),
}

pub(super) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Task, lexopt::Error> {
    let mut parser = lexopt::Parser::from_args(arguments);
    let (mut devices, mut all, mut output, mut timeout) = (Vec::new(), false, None, TIMEOUT);
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(Task::Help),
            Long("worker") => {
                let device = parser.value()?.parse()?;
                let questions = parser.value()?.parse_with(numbers)?;
                return Ok(Task::Work { device, questions });
            }
            Long("device") => {
                let device = parser.value()?.parse()?;
                if !devices.contains(&device) {
                    devices.push(device);
                }
            }
            Long("all-devices") => all = true,
            Long("timeout") => timeout = parser.value()?.parse()?,
            Long("output") => output = Some(parser.value()?.into()),
            other => return Err(other.unexpected()),
        }
    }
    let devices = match (all, devices.as_slice()) {
        (true, []) => Devices::All,
        (true, _) => return Err("--all-devices asks every device: leave --device out".into()),
        (false, []) => Devices::These(vec![0]),
        (false, _) => Devices::These(devices),
    };
    Ok(Task::Ask { devices, output, timeout: Duration::from_secs(timeout) })
}

/// Separated by commas.
fn numbers(text: &str) -> Result<Vec<usize>, ParseIntError> {
    text.split(',').filter(|number| !number.is_empty()).map(str::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Task, String> {
        parse(arguments.iter().map(OsString::from)).map_err(|error| error.to_string())
    }

    #[test]
    fn devices() {
        let asks = |devices| Ok(Task::Ask { devices, output: None, timeout: Duration::from_secs(TIMEOUT) });
        assert_eq!(parsed(&[]), asks(Devices::These(vec![0])));
        assert_eq!(parsed(&["--device", "2", "--device=1", "--device", "2"]), asks(Devices::These(vec![2, 1])));
        assert_eq!(parsed(&["--all-devices"]), asks(Devices::All));
        assert!(parsed(&["--all-devices", "--device", "0"]).unwrap_err().contains("leave --device out"));
    }

    #[test]
    fn a_worker_is_told_its_questions() {
        let works = |questions| Ok(Task::Work { device: 1, questions });
        assert_eq!(parsed(&["--worker", "1", "3,4,9"]), works(vec![3, 4, 9]));
        assert_eq!(parsed(&["--worker", "1", ""]), works(vec![]));
    }

    #[test]
    fn mistakes_are_named() {
        assert!(parsed(&["--device", "first"]).unwrap_err().contains("first"));
        assert!(parsed(&["--output"]).unwrap_err().contains("--output"));
        assert!(parsed(&["--everything"]).unwrap_err().contains("--everything"));
        assert!(parsed(&["0"]).unwrap_err().contains('0'));
    }
}
