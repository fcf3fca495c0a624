//! Drivers by themselves, and against each other.

use crate::finding::{Finding, Kind};
use crate::machine::{Answer, Machine};
use crate::observations::Surface as Call;

/// Where something is set, and where it is read then.
const READS: [(Call, Call); 3] = [
    (Call::StreamSet, Call::StreamGet),
    (Call::NodeSet, Call::NodeGet),
    (Call::LaunchCapturing, Call::CapturedNodeGet),
];

const CALLS: [Call; 7] = [
    Call::Launch,
    Call::LaunchCapturing,
    Call::StreamSet,
    Call::StreamGet,
    Call::NodeSet,
    Call::NodeGet,
    Call::CapturedNodeGet,
];

pub fn of(machines: &[Machine]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, machine) in machines.iter().enumerate() {
        let mut add = |kind, id, call: Call, evidence| {
            findings.push(Finding { machines: vec![index], ..Finding::new(kind, id, call.into(), evidence) });
        };
        for id in machine.ids() {
            for (set, get) in READS {
                if let (Answer::Accepted, Answer::Refused(status)) =
                    (machine.answer(id, &[set]), machine.answer(id, &[get]))
                {
                    let evidence = format!("it can be set, and reading it answers {status}");
                    add(Kind::SetAcceptedGetRefused, id, get, evidence);
                }
            }
            for call in CALLS {
                let Answer::Refused(status) = machine.answer(id, &[call]) else { continue };
                let accepts = |other: &&Machine| other.answer(id, &[call]) == Answer::Accepted;
                let elsewhere: Vec<_> = machines.iter().filter(accepts).map(ToString::to_string).collect();
                if let [first, rest @ ..] = &elsewhere[..] {
                    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
                    let evidence = format!("it answers {status}; accepted by {first}{more}");
                    add(Kind::RefusedNowAcceptedElsewhere, id, call, evidence);
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{machine, titles};

    #[test]
    fn what_can_be_set_and_not_read_is_told() {
        let answers = ["1 node_set +", "1 node_get -", "2 node_set +", "2 node_get +", "3 node_set -", "3 node_get -"];
        assert_eq!(titles(&of(&[machine("13.0", &answers)])), ["set-accepted-get-refused 1 node_get"]);
        let answers = ["1 launch_capturing +", "1 captured_node_get -", "1 stream_set +", "1 stream_get ."];
        assert_eq!(titles(&of(&[machine("13.0", &answers)])), ["set-accepted-get-refused 1 captured_node_get"]);
    }

    #[test]
    fn drivers_are_held_against_each_other() {
        let machines =
            [machine("12.4", &["1 launch -"]), machine("13.0", &["1 launch +"]), machine("12.0", &["1 launch ?"])];
        let findings = of(&machines);
        assert_eq!(titles(&findings), ["refused-now-accepted-elsewhere 1 launch"]);
        assert_eq!(findings[0].machines, [0]);
        assert!(findings[0].evidence.contains("CUDA 13.0"), "{findings:?}");
    }
}
