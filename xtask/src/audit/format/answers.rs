//! What a machine answered, in few words.

use super::cells::{self, Source};
use crate::finding::Kind;
use crate::machine::{Answer, Machine};
use crate::model::Report;
use crate::observations::{Surface as Call, Verdict};
use crate::place::{Place, Surface};

/// A machine's cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub text: &'static str,
    pub accepted: bool,
    /// A value is changed on the way, one out of range is accepted, or there is another finding.
    pub changes: bool,
    pub lenient: bool,
    pub odd: bool,
    /// One of its findings is new.
    pub new: bool,
}

pub fn cell(report: &Report, index: usize, id: u32, place: Place) -> Cell {
    let machine = &report.machines[index];
    let accepted = machine.set(id, place) == Answer::Accepted;
    let mut cell =
        Cell { text: word(machine, id, place), accepted, changes: false, lenient: false, odd: false, new: false };
    for finding in cells::findings_at(report, id, place, Source::Machine(index)) {
        cell.new |= !finding.known;
        match finding.kind {
            Kind::ValueChanged | Kind::ValueClamped => cell.changes = true,
            Kind::OutOfRangeAccepted => cell.lenient = true,
            _ => cell.odd = true,
        }
    }
    cell
}

impl Cell {
    /// Its marks, as the legend has them.
    pub fn marks(&self) -> String {
        let marks = [(self.changes, '≈'), (self.lenient, '>'), (self.odd, '!')];
        marks.into_iter().filter(|(set, _)| *set).map(|(_, mark)| mark).collect()
    }
}

fn word(machine: &Machine, id: u32, place: Place) -> &'static str {
    let accepts = |call| machine.answer(id, &[call]) == Answer::Accepted;
    let done = match place {
        Place::Launch => match (accepts(Call::Launch), machine.answer(id, &[Call::LaunchCapturing])) {
            (true, Answer::Refused(_)) => Some("not capturing"),
            (true, _) => Some("set"),
            (false, Answer::Accepted) => Some("capturing"),
            (false, _) => None,
        },
        _ => cells::operations((place.set().iter().any(|&call| accepts(call)), place.get().is_some_and(accepts))),
    };
    done.unwrap_or_else(|| match machine.observation(id, place.set()[0]).map(|observation| observation.verdict) {
        Some(Verdict::Accepted | Verdict::Rejected) => "–",
        Some(Verdict::Unknown) => "unknown",
        Some(Verdict::Unsupported) => "lacks it",
        Some(Verdict::NotRun) => "not run",
        None => "",
    })
}

/// How the NULL, the legacy and the per-thread stream differ from an ordinary one, if they do.
pub fn special_streams(machine: &Machine) -> String {
    let mut asked = false;
    let mut different = Vec::new();
    for observation in &machine.record.observed {
        for (stream, verdict) in observation.special_streams.iter().filter(|(_, verdict)| **verdict != Verdict::NotRun)
        {
            asked = true;
            if *verdict != observation.verdict {
                let call = Surface::from(observation.surface);
                different.push(format!("id {} ({call}) on the {} stream", observation.id, stream.replace('_', "-")));
            }
        }
    }
    match (asked, different.is_empty()) {
        (false, _) => String::new(),
        (true, true) => "The NULL, legacy and per-thread streams answer as other streams do.".to_owned(),
        (true, false) => format!("Unlike on other streams: {}.", different.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use crate::fixture::machine;

    #[test]
    fn a_word_tells_what_can_be_done() {
        for (answers, place, expected) in [
            (&["1 stream_set +", "1 stream_get +"][..], Place::Stream, "set get"),
            (&["1 node_set +", "1 node_get -"], Place::Node, "set"),
            (&["1 launch +", "1 launch_capturing +"], Place::Launch, "set"),
            (&["1 launch -", "1 launch_capturing +"], Place::Launch, "capturing"),
            (&["1 launch +", "1 launch_capturing -"], Place::Launch, "not capturing"),
            (&["1 launch -", "1 launch_capturing -"], Place::Launch, "–"),
            (&["1 launch ?"], Place::Launch, "unknown"),
            (&["1 launch ∅"], Place::Launch, "lacks it"),
            (&["1 launch ."], Place::Launch, "not run"),
            (&[], Place::Launch, ""),
        ] {
            assert_eq!(word(&machine("13.0", answers), 1, place), expected, "{answers:?}");
        }
    }

    #[test]
    fn special_streams_are_told_where_they_differ() {
        let mut machine = machine("13.0", &["1 stream_set +", "1 node_set +"]);
        assert_eq!(special_streams(&machine), "");
        let mut with = |null, legacy| {
            let streams = [("null".to_owned(), null), ("legacy".to_owned(), legacy)];
            machine.record.observed[0].special_streams = BTreeMap::from(streams);
            special_streams(&machine)
        };
        assert!(with(Verdict::Accepted, Verdict::NotRun).contains("as other streams do"));
        assert_eq!(
            with(Verdict::Accepted, Verdict::Rejected),
            "Unlike on other streams: id 1 (stream_set) on the legacy stream."
        );
    }
}
