//! What becomes of single values: changed on the way, clamped, or accepted although out of range.

use crate::finding::{Finding, Kind};
use crate::machine::Machine;
use crate::observations::{Answer, Observation, Range, Sample, Surface as Call};
use crate::value;

/// Reading gives back what setting did; a sample belongs to the call that set it.
const SETTING: [Call; 4] = [Call::Launch, Call::LaunchCapturing, Call::StreamSet, Call::NodeSet];

pub fn of(machines: &[Machine]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, machine) in machines.iter().enumerate() {
        for observation in machine.record.observed.iter().filter(|observed| SETTING.contains(&observed.surface)) {
            for kind in [Kind::ValueChanged, Kind::ValueClamped, Kind::OutOfRangeAccepted] {
                if let Some(evidence) = evidence(observation, kind) {
                    let finding = Finding::new(kind, observation.id, observation.surface.into(), evidence);
                    findings.push(Finding { machines: vec![index], ..finding });
                }
            }
        }
    }
    findings
}

/// The values, by what became of them.
fn evidence(observation: &Observation, kind: Kind) -> Option<String> {
    let mut outcomes: Vec<(String, Vec<String>)> = Vec::new();
    for sample in observation.samples.iter().filter(|sample| of_sample(sample) == Some(kind)) {
        let outcome = value::outcome(sample);
        match outcomes.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, values)) => values.push(value::given(sample)),
            None => outcomes.push((outcome, vec![value::given(sample)])),
        }
    }
    let texts: Vec<_> = outcomes.iter().map(|(outcome, values)| format!("{outcome}: {}", values.join("; "))).collect();
    (!texts.is_empty()).then(|| texts.join(". "))
}

fn of_sample(sample: &Sample) -> Option<Kind> {
    if sample.answer != Answer::Accepted {
        return None;
    }
    match (sample.range, value::is_changed(sample)) {
        (Range::OutOfRange, true) => Some(Kind::ValueClamped),
        (Range::OutOfRange, false) => Some(Kind::OutOfRangeAccepted),
        (Range::Good | Range::Boundary, true) => Some(Kind::ValueChanged),
        (Range::Good | Range::Boundary, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{machine, sample, titles};

    fn found(samples: Vec<Sample>) -> Vec<String> {
        let mut machine = machine("13.0", &["1 stream_set +"]);
        machine.record.observed[0].samples = samples;
        titles(&of(&[machine]))
    }

    #[test]
    fn a_good_value_that_comes_back_is_no_finding() {
        assert_eq!(
            found(vec![sample(Range::Good, "01", Some("01000000")), sample(Range::Boundary, "", None)]),
            [""; 0]
        );
    }

    #[test]
    fn a_good_value_that_comes_back_changed_is_one() {
        assert_eq!(found(vec![sample(Range::Good, "", Some("01"))]), ["value-changed 1 stream_set"]);
    }

    #[test]
    fn a_value_out_of_range_is_clamped_accepted_or_refused() {
        let out = |read_back| sample(Range::OutOfRange, "64", read_back);
        assert_eq!(found(vec![out(Some("00"))]), ["value-clamped 1 stream_set"]);
        assert_eq!(found(vec![out(Some("64"))]), ["out-of-range-accepted 1 stream_set"]);
        assert_eq!(found(vec![out(None)]), ["out-of-range-accepted 1 stream_set"]);
        let refused = Sample { answer: Answer::ValueRejected, ..out(None) };
        assert_eq!(found(vec![refused]), [""; 0]);
    }
}
