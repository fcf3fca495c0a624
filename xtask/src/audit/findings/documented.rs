//! The headers' prose against drivers that know the attribute.

use super::Facts;
use crate::finding::{Finding, Kind};
use crate::machine::{Answer, Machine};
use crate::model::Header;
use crate::place::Place;

pub fn of(facts: Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for header in facts.headers {
        for (index, machine) in facts.machines.iter().enumerate() {
            for id in machine.ids() {
                for place in Place::ALL {
                    if let Some((kind, evidence)) = compare(header, machine, id, place) {
                        let finding = Finding::new(kind, id, place.into(), evidence);
                        findings.push(Finding { cuda: vec![header.cuda], machines: vec![index], ..finding });
                    }
                }
            }
        }
    }
    findings
}

fn compare(header: &Header, machine: &Machine, id: u32, place: Place) -> Option<(Kind, String)> {
    let answer = machine.set(id, place);
    let Some(attribute) = header.attribute(id) else {
        // A header older than the driver need not know the attribute.
        let unnamed = answer == Answer::Accepted && header.cuda >= machine.driver;
        return unnamed
            .then(|| (Kind::AcceptedButNotDocumented, "the driver accepts it, and no name exists".to_owned()));
    };
    // Silence is a finding by itself.
    let documented = attribute.documented?;
    match (documented.at(place), answer) {
        (true, Answer::Refused(status)) => {
            Some((Kind::DocumentedButRejected, format!("documented for {documented}, and the driver answers {status}")))
        }
        (false, Answer::Accepted) => {
            Some((Kind::AcceptedButNotDocumented, format!("the driver accepts it, documented for {documented}")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{attribute, header, machine, places, titles};

    fn found(cuda: &str, documented: Option<&str>, driver: &str, answers: &[&str]) -> Vec<String> {
        let headers = [header(cuda, vec![attribute(1, documented.map(places), "")])];
        let machines = [machine(driver, answers)];
        titles(&of(Facts { headers: &headers, declared: &[], machines: &machines }))
    }

    #[test]
    fn prose_and_driver_are_compared_in_each_place() {
        assert_eq!(found("13.0", Some("sl"), "13.0", &["1 stream_set +", "1 node_set -", "1 launch +"]), [""; 0]);
        let answers = ["1 stream_set -", "1 node_set +", "1 launch +"];
        let expected = ["documented-but-rejected 1 stream", "accepted-but-not-documented 1 node"];
        assert_eq!(found("13.0", Some("sl"), "13.0", &answers), expected);
    }

    #[test]
    fn a_launch_that_is_accepted_while_capturing_is_accepted() {
        assert_eq!(found("13.0", Some("l"), "13.0", &["1 launch -", "1 launch_capturing +"]), [""; 0]);
        let expected = ["documented-but-rejected 1 launch"];
        assert_eq!(found("13.0", Some("l"), "13.0", &["1 launch -", "1 launch_capturing -"]), expected);
    }

    #[test]
    fn a_driver_that_has_no_say_contradicts_nothing() {
        for answer in ["1 stream_set ?", "1 stream_set ∅", "1 stream_set .", "2 launch -"] {
            assert_eq!(found("13.0", Some("s"), "12.4", &[answer]), [""; 0], "{answer}");
        }
    }

    #[test]
    fn silence_is_not_contradicted() {
        assert_eq!(found("13.0", None, "13.0", &["1 launch +", "1 stream_set -"]), [""; 0]);
    }

    #[test]
    fn a_number_without_a_name_is_found_unless_the_header_is_older() {
        assert_eq!(found("13.0", None, "13.0", &["9 launch +"]), ["accepted-but-not-documented 9 launch"]);
        assert_eq!(found("12.9", None, "13.0", &["9 launch +"]), [""; 0]);
    }
}
