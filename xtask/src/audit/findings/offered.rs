//! The typed layer against drivers. The drivers decide: a type is offered in a place where one that was observed accepts
//! it. Only an attribute that none of them knows follows the header.

use super::Facts;
use crate::finding::{Finding, Kind};
use crate::machine::{Answer, Machine};
use crate::place::{Place, Surface};

pub fn of(facts: Facts<'_>) -> Vec<Finding> {
    let mut ids: Vec<u32> = facts.machines.iter().flat_map(Machine::ids).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut findings = Vec::new();
    for id in ids {
        let declared = facts.declared.iter().find(|declared| declared.id == id);
        let type_name = declared.map_or("", |declared| &declared.type_name);
        for place in Place::ALL {
            let is_set = declared.is_some_and(|declared| declared.sets(place));
            let answers = facts.machines.iter().map(|machine| machine.set(id, place));
            findings.extend(judge(id, place.into(), is_set, &format!("set {type_name}"), answers));
            if let Some(call) = place.get() {
                let is_read = declared.is_some_and(|declared| declared.gets(place));
                let answers = facts.machines.iter().map(|machine| machine.get(id, place));
                findings.extend(judge(id, call.into(), is_read, &format!("read {type_name}"), answers));
            }
        }
    }
    findings
}

fn judge<'a>(
    id: u32,
    surface: Surface,
    offered: bool,
    what: &str,
    answers: impl Iterator<Item = Answer<'a>>,
) -> Option<Finding> {
    let answers: Vec<_> = answers.collect();
    let with = |wanted: fn(&Answer<'_>) -> bool| -> Vec<usize> {
        let found = answers.iter().enumerate().filter(|(_, answer)| wanted(answer));
        found.map(|(index, _)| index).collect()
    };
    let accepting = with(|answer| *answer == Answer::Accepted);
    let refusing = with(|answer| matches!(answer, Answer::Refused(_)));
    let (kind, evidence, machines) = match (offered, accepting.is_empty(), refusing.is_empty()) {
        (true, true, false) => {
            let Answer::Refused(status) = answers[refusing[0]] else { return None };
            let evidence = format!("the typed layer offers to {what} here, and the driver answers {status}");
            (Kind::OfferedButRejected, evidence, refusing)
        }
        (false, false, _) => {
            let evidence = match what.split_once(' ') {
                Some((verb, "")) => format!("the driver lets it be {verb} here, and there is no type for it"),
                _ => format!("the driver accepts it, and the typed layer does not offer to {what} here"),
            };
            (Kind::AcceptedButNotOffered, evidence, accepting)
        }
        _ => return None,
    };
    Some(Finding { machines, ..Finding::new(kind, id, surface, evidence) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{declared, machine, titles};

    /// With id 1 offered for setting on streams and launches, and for reading from streams.
    fn found(machines: &[&[&str]]) -> Vec<String> {
        let declared = [declared(1, "sl", "s")];
        let machines: Vec<_> = machines.iter().map(|answers| machine("13.0", answers)).collect();
        titles(&of(Facts { headers: &[], declared: &declared, machines: &machines }))
    }

    #[test]
    fn agreement_is_no_finding() {
        let answers = ["1 stream_set +", "1 stream_get +", "1 launch +", "1 node_set -", "1 node_get -"];
        assert_eq!(found(&[&answers]), [""; 0]);
        assert_eq!(found(&[]), [""; 0]);
    }

    #[test]
    fn what_no_driver_accepts_is_an_error_of_ours() {
        assert_eq!(found(&[&["1 stream_set -"]]), ["offered-but-rejected 1 stream"]);
        assert_eq!(found(&[&["1 stream_get -"]]), ["offered-but-rejected 1 stream_get"]);
        let both: [&[&str]; 2] = [&["1 launch -", "1 launch_capturing -"], &["1 launch ?"]];
        assert_eq!(found(&both), ["offered-but-rejected 1 launch"]);
    }

    #[test]
    fn one_driver_that_accepts_suffices() {
        assert_eq!(found(&[&["1 stream_set -"], &["1 stream_set +"]]), [""; 0]);
        assert_eq!(found(&[&["1 launch -", "1 launch_capturing +"]]), [""; 0]);
    }

    #[test]
    fn a_driver_without_a_say_leaves_it_to_the_header() {
        assert_eq!(found(&[&["1 stream_set ?", "1 launch ∅", "1 stream_get ."]]), [""; 0]);
    }

    #[test]
    fn what_a_driver_accepts_and_no_type_offers_is_a_gap() {
        assert_eq!(found(&[&["1 node_set +"]]), ["accepted-but-not-offered 1 node"]);
        assert_eq!(found(&[&["1 node_set -"], &["1 node_get +"]]), ["accepted-but-not-offered 1 node_get"]);
        assert_eq!(found(&[&["7 launch +"]]), ["accepted-but-not-offered 7 launch"]);
    }
}
