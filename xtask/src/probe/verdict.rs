//! The rules by which answers become verdicts. Pure: statuses in, words out.

use crate::observations::{Answer, Controls, Range, Verdict};

pub(super) const SUCCESS: &str = "CUDA_SUCCESS";
const INVALID_VALUE: &str = "CUDA_ERROR_INVALID_VALUE";

/// One call, as far as rules need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) range: Range,
    /// Only then out of range.
    pub(super) lacks_prerequisite: bool,
    pub(super) status: &'a str,
}

/// What is known of an id, all surfaces together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Id {
    /// Whether the driver knows it.
    pub(super) known: bool,
    /// Whether the device says that it lacks what the id needs.
    pub(super) device_lacks: bool,
}

impl Id {
    /// A driver that does not know an id says everywhere that the value is invalid, whatever the value is. So nothing
    /// is called unknown of which something could not be asked.
    pub(super) fn new<'a>(mut statuses: impl Iterator<Item = &'a str>, all_asked: bool, device_lacks: bool) -> Self {
        Self { known: !all_asked || statuses.any(|status| status != INVALID_VALUE), device_lacks }
    }
}

fn succeeded(asked: &Asked<'_>) -> bool {
    asked.status == SUCCESS
}

fn is_proper(asked: &Asked<'_>) -> bool {
    asked.range != Range::OutOfRange
}

/// What a surface makes of an id, and the call that decided.
pub(super) fn verdict<'a, 'b>(calls: &'b [Asked<'a>], id: Id) -> (Verdict, Option<&'b Asked<'a>>) {
    let Some(first) = calls.first() else {
        return (Verdict::NotRun, None);
    };
    let decisive = calls.iter().find(|call| succeeded(call) && is_proper(call));
    if decisive.is_some() {
        return (Verdict::Accepted, decisive);
    }
    let refused = calls.iter().find(|call| is_proper(call)).or(Some(first));
    let verdict = match id {
        Id { device_lacks: true, .. } => Verdict::Unsupported,
        Id { known: false, .. } => Verdict::Unknown,
        _ => Verdict::Rejected,
    };
    (verdict, refused)
}

/// What one call came to, among the calls of its surface.
pub(super) fn answer(call: &Asked<'_>, calls: &[Asked<'_>], id: Id) -> Answer {
    if succeeded(call) {
        return Answer::Accepted;
    }
    let place_takes_it = calls.iter().any(succeeded);
    match id {
        _ if place_takes_it && call.lacks_prerequisite => Answer::PrerequisiteMissing,
        _ if place_takes_it => Answer::ValueRejected,
        Id { device_lacks: true, .. } => Answer::DeviceLacksIt,
        Id { known: false, .. } => Answer::UnknownToDriver,
        _ => Answer::RejectedHere,
    }
}

/// Whether the calls whose answer is known beforehand gave it.
pub(super) fn hold(controls: &Controls) -> bool {
    controls.no_attributes == SUCCESS && controls.unassigned_id == INVALID_VALUE
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: Id = Id { known: true, device_lacks: false };
    const LACKING: Id = Id { known: true, device_lacks: true };

    fn asked(range: Range, status: &str) -> Asked<'_> {
        Asked { range, lacks_prerequisite: false, status }
    }

    fn lacking(status: &str) -> Asked<'_> {
        Asked { lacks_prerequisite: true, ..asked(Range::OutOfRange, status) }
    }

    fn of(calls: &[Asked<'_>], id: Id) -> (Verdict, Vec<Answer>) {
        (verdict(calls, id).0, calls.iter().map(|call| answer(call, calls, id)).collect())
    }

    #[test]
    fn one_good_value_is_enough() {
        let calls = [
            asked(Range::Good, INVALID_VALUE),
            asked(Range::Good, SUCCESS),
            asked(Range::OutOfRange, "CUDA_ERROR_INVALID_CLUSTER_SIZE"),
            lacking("CUDA_ERROR_INVALID_HANDLE"),
        ];
        let answers = [Answer::ValueRejected, Answer::Accepted, Answer::ValueRejected, Answer::PrerequisiteMissing];
        assert_eq!(of(&calls, KNOWN), (Verdict::Accepted, answers.to_vec()));
        assert_eq!(verdict(&calls, KNOWN).1.unwrap().status, SUCCESS);
    }

    #[test]
    fn a_value_out_of_range_does_not_make_a_place() {
        let calls = [asked(Range::Good, INVALID_VALUE), asked(Range::OutOfRange, SUCCESS)];
        assert_eq!(of(&calls, KNOWN), (Verdict::Rejected, vec![Answer::ValueRejected, Answer::Accepted]));
        assert_eq!(verdict(&calls, KNOWN).1.unwrap().status, INVALID_VALUE);
    }

    #[test]
    fn refused_here_and_known_elsewhere() {
        let calls = [asked(Range::Good, INVALID_VALUE), lacking(INVALID_VALUE)];
        assert_eq!(of(&calls, KNOWN), (Verdict::Rejected, vec![Answer::RejectedHere; 2]));
    }

    #[test]
    fn the_status_is_that_of_a_proper_sample() {
        let calls = [lacking("CUDA_ERROR_INVALID_HANDLE"), asked(Range::Good, "CUDA_ERROR_NOT_SUPPORTED")];
        assert_eq!(verdict(&calls, KNOWN).1.unwrap().status, "CUDA_ERROR_NOT_SUPPORTED");
    }

    #[test]
    fn unknown_is_invalid_value_everywhere() {
        let id = |statuses: &[&'static str], all_asked| Id::new(statuses.iter().copied(), all_asked, false);
        assert!(id(&[INVALID_VALUE, "CUDA_ERROR_NOT_SUPPORTED"], true).known);
        assert!(id(&[INVALID_VALUE, SUCCESS], true).known);
        assert!(id(&[INVALID_VALUE], false).known, "what was not asked might have been taken");
        let unknown = id(&[INVALID_VALUE, INVALID_VALUE], true);
        let calls = [asked(Range::Good, INVALID_VALUE)];
        assert_eq!(of(&calls, unknown), (Verdict::Unknown, vec![Answer::UnknownToDriver]));
    }

    #[test]
    fn what_the_device_lacks_is_not_held_against_the_place() {
        let calls = [asked(Range::Good, "CUDA_ERROR_INVALID_CLUSTER_SIZE")];
        assert_eq!(of(&calls, LACKING), (Verdict::Unsupported, vec![Answer::DeviceLacksIt]));
        let takes_it = [asked(Range::Good, SUCCESS)];
        assert_eq!(of(&takes_it, LACKING).0, Verdict::Accepted, "a driver may ignore what the device lacks");
    }

    #[test]
    fn a_place_without_calls_was_not_asked() {
        assert_eq!(verdict(&[], KNOWN).0, Verdict::NotRun);
    }

    #[test]
    fn controls_hold_only_with_both_answers() {
        let controls = |a: &str, b: &str| Controls { no_attributes: a.to_owned(), unassigned_id: b.to_owned() };
        assert!(hold(&controls(SUCCESS, INVALID_VALUE)));
        assert!(!hold(&controls(SUCCESS, SUCCESS)));
        assert!(!hold(&controls(INVALID_VALUE, INVALID_VALUE)));
    }
}
