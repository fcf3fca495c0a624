//! Which machines the report has.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::live::{self, Live};
use super::{Machine, Source, read};
use crate::args::Args;
use crate::error::Error;

/// Whether this report asked the driver of the machine it was made on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Asked {
    pub asked: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The machines that the arguments ask for; without any the live driver, else the records in `recorded`.
pub fn select(args: &Args, recorded: &Path) -> Result<(Vec<Machine>, Asked), Error> {
    let (live, asked) = match wants_live(args) {
        Err(why) => (Vec::new(), Asked { asked: false, why: Some(why.to_owned()) }),
        Ok(probe) => match live::ask(probe)? {
            Live::Machines(machines) => (machines, Asked { asked: true, why: None }),
            Live::Nobody(why) => (Vec::new(), Asked { asked: false, why: Some(why) }),
        },
    };
    if let Some(file) = args.record.as_deref().filter(|_| !asked.asked) {
        return Err(Error::NothingToRecord { file: file.to_owned(), why: asked.why.unwrap_or_default() });
    }
    let mut machines = live;
    let files =
        if args.observed.is_empty() && machines.is_empty() { committed(recorded)? } else { args.observed.clone() };
    for file in files {
        machines.extend(read::file(&file)?);
    }
    apart(&machines)?;
    Ok((machines, asked))
}

/// The probe to run, or why none is.
fn wants_live(args: &Args) -> Result<&Path, &'static str> {
    if args.reference.is_some() {
        return Err("this page is made from docs/observations");
    }
    if !args.observed.is_empty() && args.record.is_none() {
        return Err("--observed names them");
    }
    args.probe.as_deref().ok_or("this machine shows no NVIDIA device")
}

/// The records that the workspace carries, by name.
fn committed(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let unreadable =
        |error: std::io::Error| Error::Record { from: Source::File(folder.to_owned()), what: error.to_string() };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// A machine has one column.
fn apart(machines: &[Machine]) -> Result<(), Error> {
    let key = |machine: &Machine| {
        let record = &machine.record;
        (record.device.clone(), record.driver.clone(), record.kernel_driver.clone())
    };
    for (index, machine) in machines.iter().enumerate() {
        if let Some(first) = machines[..index].iter().find(|other| key(other) == key(machine)) {
            return Err(Error::SameMachine {
                machine: machine.to_string(),
                first: first.source.clone(),
                second: machine.source.clone(),
            });
        }
    }
    Ok(())
}
