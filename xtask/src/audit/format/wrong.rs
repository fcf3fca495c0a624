//! What became of wrong values.

use crate::machine::Machine;
use crate::observations::{Answer, Range, Sample, Surface as Call, Verdict};
use crate::value;

/// Values that are not good in some places, and what the driver made of them there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    pub id: u32,
    pub places: Vec<&'static str>,
    pub values: Vec<String>,
    pub outcome: String,
    pub machines: Vec<usize>,
}

/// By id; what differs in the place, the machine or the value alone is drawn together.
pub fn wrong(machines: &[Machine]) -> Vec<Wrong> {
    let calls = machines.iter().enumerate().flat_map(|(index, machine)| of_machine(index, machine)).collect();
    let by_call = drawn_together(
        calls,
        |a, b| (&a.values, &a.outcome, &a.machines) == (&b.values, &b.outcome, &b.machines),
        |a, b| a.places.extend(b.places),
    );
    let by_places = drawn_together(
        by_call,
        |a, b| (&a.places, &a.values, &a.outcome) == (&b.places, &b.values, &b.outcome),
        |a, b| a.machines.extend(b.machines),
    );
    let mut wrong = drawn_together(
        by_places,
        |a, b| (&a.places, &a.outcome, &a.machines) == (&b.places, &b.outcome, &b.machines),
        |a, b| a.values.extend(b.values),
    );
    wrong.sort_by_key(|wrong| wrong.id);
    wrong
}

fn of_machine(index: usize, machine: &Machine) -> impl Iterator<Item = Wrong> {
    let accepted = machine.record.observed.iter().filter(|observed| observed.verdict == Verdict::Accepted);
    let set = accepted.filter_map(|observed| Some((observed, place(observed.surface)?)));
    set.flat_map(move |(observed, place)| {
        observed.samples.iter().filter(|sample| is_wrong(sample)).map(move |sample| Wrong {
            id: observed.id,
            places: vec![place],
            values: vec![value::given(sample)],
            outcome: value::outcome(sample),
            machines: vec![index],
        })
    })
}

fn drawn_together(all: Vec<Wrong>, alike: fn(&Wrong, &Wrong) -> bool, extend: fn(&mut Wrong, Wrong)) -> Vec<Wrong> {
    let mut drawn: Vec<Wrong> = Vec::new();
    for new in all {
        match drawn.iter_mut().find(|old| old.id == new.id && alike(old, &new)) {
            Some(old) => extend(old, new),
            None => drawn.push(new),
        }
    }
    drawn
}

fn is_wrong(sample: &Sample) -> bool {
    sample.range == Range::OutOfRange || sample.answer != Answer::Accepted
}

fn place(call: Call) -> Option<&'static str> {
    match call {
        Call::StreamSet => Some("stream"),
        Call::NodeSet => Some("node"),
        Call::Launch => Some("launch"),
        Call::LaunchCapturing => Some("capture"),
        Call::StreamGet | Call::NodeGet | Call::CapturedNodeGet => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{machine, sample};

    #[test]
    fn wrong_values_with_one_outcome_are_drawn_together() {
        let refused = |value: &str| Sample {
            value: value.into(),
            answer: Answer::ValueRejected,
            status: "CUDA_ERROR_INVALID_VALUE".into(),
            ..sample(Range::OutOfRange, "", None)
        };
        let mut machine = machine("13.0", &["1 node_set +", "1 launch +"]);
        for observation in &mut machine.record.observed {
            observation.samples = vec![sample(Range::Good, "01", None), refused("101"), refused("200")];
        }
        machine.record.observed[0].samples.push(sample(Range::OutOfRange, "64", Some("05")));
        let wrong = wrong(&[machine.clone(), machine]);
        let text = |wrong: &Wrong| (wrong.places.join(" "), wrong.values.join(" "), wrong.outcome.clone());
        let expected = [
            ("node launch".to_owned(), "101 200".to_owned(), "CUDA_ERROR_INVALID_VALUE".to_owned()),
            ("node".to_owned(), "a value".to_owned(), "accepted, reads back as 5".to_owned()),
        ];
        assert_eq!(wrong.iter().map(text).collect::<Vec<_>>(), expected);
        assert_eq!(wrong[0].machines, [0, 1]);
    }
}
