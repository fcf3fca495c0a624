//! `attribute-probe`. A process that watches starts one that talks to the driver, collects what it says, and writes the
//! record; the driver can crash or hang the one without the other.

mod arguments;
mod bytes;
mod cuda;
mod device;
mod limits;
mod message;
mod plan;
mod record;
mod samples;
mod surfaces;
mod verdict;
mod watch;
mod worker;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use std::{fs, io};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::observations::{Machine, Verdict};
use arguments::{Devices, Task};
use message::Refusal;

/// A control failed, or a sample broke the context.
const UNHEALTHY: u8 = 1;
/// No driver, no device, or nowhere to write.
const COULD_NOT_RUN: u8 = 2;

pub(crate) fn main() -> ExitCode {
    let outcome = match arguments::parse(std::env::args_os().skip(1)) {
        Ok(Task::Help) => {
            print!("{}", arguments::HELP);
            Ok(ExitCode::SUCCESS)
        }
        Ok(Task::Ask { devices, output, timeout }) => ask(&devices, output.as_deref(), timeout),
        Ok(Task::Work { device, questions }) => {
            worker::run(device, &questions).map(|()| ExitCode::SUCCESS).map_err(Into::into)
        }
        Err(error) => Err(anyhow::anyhow!("{error}\nSee `attribute-probe --help`.")),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        COULD_NOT_RUN.into()
    })
}

fn ask(devices: &Devices, output: Option<&Path>, timeout: Duration) -> Result<ExitCode> {
    let mut machines = Vec::new();
    let (mut healthy, mut all_asked) = (true, true);
    let mut ordinals = match devices {
        Devices::All => vec![0],
        Devices::These(ordinals) => ordinals.clone(),
    };
    let mut next = 0;
    while let Some(&ordinal) = ordinals.get(next) {
        next += 1;
        let outcome = watch::ask(ordinal, timeout);
        if *devices == Devices::All && next == 1 {
            ordinals = (0..outcome.devices).collect();
        }
        let answers = match outcome.answers {
            Ok(answers) => answers,
            Err(Refusal { why, too_old: true }) if *devices == Devices::All => {
                eprintln!("device {ordinal} is left out: {why}");
                continue;
            }
            Err(Refusal { why, .. }) => {
                eprintln!("error: cannot ask device {ordinal}: {why}");
                all_asked = false;
                continue;
            }
        };
        let machine = record::machine(&answers);
        let complaints = watch::complaints(&answers);
        complaints.iter().for_each(|complaint| eprintln!("device {ordinal}: {complaint}"));
        healthy &= complaints.is_empty() && controls_hold(ordinal, &machine);
        summarise(ordinal, &machine);
        machines.push(machine);
    }
    match machines.as_slice() {
        [] if all_asked => bail!("no device is new enough to be asked"),
        [] => {}
        [machine] => write(machine, output)?,
        machines => write(machines, output)?,
    }
    Ok(match (all_asked, healthy) {
        (false, _) => COULD_NOT_RUN.into(),
        (true, false) => UNHEALTHY.into(),
        (true, true) => ExitCode::SUCCESS,
    })
}

fn controls_hold(ordinal: u32, machine: &Machine) -> bool {
    let controls = &machine.controls;
    let hold = verdict::hold(controls);
    if !hold {
        eprintln!(
            "device {ordinal}: nothing in its record can be relied on: a launch without attributes gives {}, and one \
             with an id that was never assigned gives {}",
            controls.no_attributes, controls.unassigned_id
        );
    }
    hold
}

fn summarise(ordinal: u32, machine: &Machine) {
    let samples: usize = machine.observed.iter().map(|observation| observation.samples.len()).sum();
    let accepted = machine.observed.iter().filter(|observation| observation.verdict == Verdict::Accepted).count();
    eprintln!(
        "device {ordinal}: {}, compute capability {}, driver {}: {samples} calls recorded, {accepted} of {} places \
         accept",
        machine.device,
        machine.compute_capability,
        machine.driver,
        machine.observed.len()
    );
}

fn write<T: Serialize + ?Sized>(record: &T, output: Option<&Path>) -> Result<()> {
    let mut text = serde_json::to_string_pretty(record)?;
    text.push('\n');
    match output {
        Some(file) => fs::write(file, text).with_context(|| format!("cannot write {}", file.display())),
        None => io::Write::write_all(&mut io::stdout().lock(), text.as_bytes()).context("cannot write the record"),
    }
}
