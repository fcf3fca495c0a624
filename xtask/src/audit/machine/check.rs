//! Whether a record can be relied on.

use std::collections::HashSet;

use crate::find::Version;
use crate::observations::{Answer, Machine, Observation, Range, Sample, Verdict};
use crate::value;

const SUCCESS: &str = "CUDA_SUCCESS";
const INVALID_VALUE: &str = "CUDA_ERROR_INVALID_VALUE";
const SPECIAL_STREAMS: [&str; 3] = ["null", "legacy", "per_thread"];

/// Several times what a probe makes. Joining takes the square of it.
const MOST_OBSERVATIONS: usize = 4_096;
const MOST_SAMPLES: usize = 20_000;

/// The version of its driver, if all is in order.
pub fn check(record: &Machine) -> Result<Version, String> {
    for (name, text) in [("device", &record.device), ("probe", &record.probe)] {
        if text.trim().is_empty() {
            return Err(format!("its `{name}` is empty"));
        }
    }
    let driver = version("driver", &record.driver)?;
    version("header", &record.header)?;
    if !is_numbers(&record.compute_capability, '.', &[1..=3, 1..=2]) {
        return Err(format!("its compute capability is `{}`, and not like 9.0", record.compute_capability));
    }
    if !is_numbers(&record.recorded, '-', &[4..=4, 2..=2, 2..=2]) {
        return Err(format!("its day is `{}`, and not like 2026-12-01", record.recorded));
    }
    for (name, status, expected) in [
        ("a launch without attributes", &record.controls.no_attributes, SUCCESS),
        ("a launch with an id that was never assigned", &record.controls.unassigned_id, INVALID_VALUE),
    ] {
        if status != expected {
            return Err(format!(
                "its control failed: {name} gave {status} and not {expected}, so nothing in it can be relied on"
            ));
        }
    }
    if record.observed.is_empty() {
        return Err("it has no observation".to_owned());
    }
    let samples: usize = record.observed.iter().map(|observation| observation.samples.len()).sum();
    if record.observed.len() > MOST_OBSERVATIONS || samples > MOST_SAMPLES {
        return Err(format!(
            "it has {} observations and {samples} samples, and no probe makes more than {MOST_OBSERVATIONS} and {MOST_SAMPLES}",
            record.observed.len()
        ));
    }
    let mut seen = HashSet::new();
    for observation in &record.observed {
        let place = format!("id {}, {}", observation.id, crate::place::Surface::from(observation.surface));
        if !seen.insert((observation.id, observation.surface)) {
            return Err(format!("{place} is there twice"));
        }
        coherent(observation).map_err(|what| format!("{place}: {what}"))?;
    }
    Ok(driver)
}

/// A verdict is what its samples say.
fn coherent(observation: &Observation) -> Result<(), String> {
    let accepted = |sample: &&Sample| sample.answer == Answer::Accepted;
    let any_accepted = observation.samples.iter().any(|sample| accepted(&sample));
    match observation.verdict {
        Verdict::Accepted if !observation.samples.is_empty() && !any_accepted => {
            return Err("accepted, and no sample was".to_owned());
        }
        Verdict::Accepted if observation.status.as_deref().is_some_and(|status| status != SUCCESS) => {
            return Err("accepted, and the status is an error".to_owned());
        }
        Verdict::Rejected | Verdict::Unknown | Verdict::Unsupported
            if observation.samples.iter().filter(accepted).any(|sample| sample.range == Range::Good) =>
        {
            return Err("refused, and a good sample was accepted".to_owned());
        }
        Verdict::Rejected if observation.status.as_deref().is_none_or(|status| status == SUCCESS) => {
            return Err("rejected, and the status is no error".to_owned());
        }
        Verdict::NotRun if any_accepted => return Err("not run, and a sample was accepted".to_owned()),
        Verdict::NotRun if observation.reason.is_none() => return Err("not run, and there is no reason".to_owned()),
        _ => {}
    }
    for sample in &observation.samples {
        if accepted(&sample) != (sample.status == SUCCESS) {
            return Err(format!("a sample's answer and its status contradict each other ({})", sample.status));
        }
        for bytes in [Some(&sample.set), sample.read_back.as_ref()].into_iter().flatten() {
            if !value::is_valid(bytes) {
                return Err("a sample has no bytes such as 0a, @@, ## and .., or more than 64".to_owned());
            }
        }
    }
    match observation.special_streams.keys().find(|name| !SPECIAL_STREAMS.contains(&name.as_str())) {
        Some(_) => Err(format!("a special stream is none of {}", SPECIAL_STREAMS.join(", "))),
        None => Ok(()),
    }
}

fn version(name: &str, text: &str) -> Result<Version, String> {
    text.parse().map_err(|_| format!("its `{name}` is `{text}`, and not a CUDA version such as 13.0"))
}

/// As many numbers as there are lengths, each of so many digits.
fn is_numbers(text: &str, separator: char, lengths: &[std::ops::RangeInclusive<usize>]) -> bool {
    let parts: Vec<_> = text.split(separator).collect();
    parts.len() == lengths.len()
        && parts
            .iter()
            .zip(lengths)
            .all(|(part, length)| length.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()))
}
