//! A record: parsed, made harmless, and checked before anything relies on it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;

use super::{Machine, Source, check};
use crate::error::Error;
use crate::observations::{self as record, SCHEMA};
use crate::plain::plain;

/// A record has some hundred kilobytes.
const LIMIT: u64 = 8 << 20;

/// What can be read of a record of any schema.
#[derive(Deserialize)]
struct Numbered {
    schema: Option<serde_json::Value>,
}

/// The records in a file: one, or a list.
pub fn file(path: &Path) -> Result<Vec<Machine>, Error> {
    let refused = |what| Error::Record { from: Source::File(path.to_owned()), what };
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(LIMIT + 1).read_to_string(&mut text))
        .map_err(|error| refused(error.to_string()))?;
    if text.len() as u64 > LIMIT {
        return Err(refused(format!("it has more than {LIMIT} bytes, and no record has")));
    }
    parse(&text, &Source::File(path.to_owned())).map_err(refused)
}

/// The records in a text.
pub fn parse(text: &str, source: &Source) -> Result<Vec<Machine>, String> {
    let records: Vec<record::Machine> = if text.trim_start().starts_with('[') {
        numbered::<Vec<Numbered>>(text)?.iter().try_for_each(Numbered::check)?;
        typed(text)?
    } else {
        numbered::<Numbered>(text)?.check()?;
        vec![typed(text)?]
    };
    if records.is_empty() {
        return Err("the list of records is empty".to_owned());
    }
    records.into_iter().map(|record| machine(record, source)).collect()
}

fn machine(mut record: record::Machine, source: &Source) -> Result<Machine, String> {
    clean(&mut record);
    let driver = check::check(&record)?;
    record.schema = None;
    record.live = *source == Source::Live;
    record.observed.sort_by_key(|observation| (observation.id, observation.surface));
    Ok(Machine { record, driver, source: source.clone() })
}

fn numbered<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| {
        let what = if error.is_eof() { "it is cut off" } else { "it is no record" };
        format!("{what} ({})", plain(&error.to_string(), 200))
    })
}

fn typed<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| format!("it is not a whole record ({})", plain(&error.to_string(), 300)))
}

impl Numbered {
    fn check(&self) -> Result<(), String> {
        match &self.schema {
            Some(number) if *number == SCHEMA => Ok(()),
            Some(other) => Err(format!(
                "its schema is {}, and this audit reads schema {SCHEMA}: record it anew with `cargo xtask audit --record`",
                plain(&other.to_string(), 20)
            )),
            None => Err("it has no schema number, so it is no record of attribute-probe".to_owned()),
        }
    }
}

/// Every text becomes one short line.
fn clean(record: &mut record::Machine) {
    const SHORT: usize = 80;
    const LONG: usize = 200;
    let short = |text: &mut String| *text = plain(text, SHORT);
    let long = |text: &mut String| *text = plain(text, LONG);
    let record::Machine {
        schema: _,
        device,
        compute_capability,
        driver,
        kernel_driver,
        recorded,
        live: _,
        probe,
        header,
        controls,
        observed,
    } = record;
    [device, compute_capability, driver, recorded, probe, header].into_iter().for_each(short);
    kernel_driver.iter_mut().for_each(short);
    [&mut controls.no_attributes, &mut controls.unassigned_id].into_iter().for_each(short);
    for observation in observed {
        observation.status.iter_mut().for_each(short);
        observation.reason.iter_mut().for_each(long);
        for sample in &mut observation.samples {
            short(&mut sample.status);
            [&mut sample.value, &mut sample.set].into_iter().for_each(long);
            sample.prerequisite.iter_mut().chain(&mut sample.read_back).for_each(long);
        }
    }
}
