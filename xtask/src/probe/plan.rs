//! The questions of a run, in their order. Every worker has the same, so that a number stands for a question.

use serde::{Deserialize, Serialize};

use super::limits::Limits;
use super::samples::{self, Sample, row};
use crate::observations::Surface;

/// One question, which gives one answer or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) id: u32,
    pub(super) ask: Ask,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// What streams and nodes answer on which it was never set.
    Unset,
    /// The sample of this number, in this place.
    Set(usize, Place),
}

/// Where an attribute is set. What can be read there afterwards is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Launch,
    Capture,
    Stream,
    Node,
}

/// The stream that it is asked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum On {
    /// A fresh one, or none is involved.
    Own,
    Null,
    Legacy,
    PerThread,
}

impl On {
    pub(super) const SPECIAL: [Self; 3] = [Self::Null, Self::Legacy, Self::PerThread];

    /// Its name in a record.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Null => "null",
            Self::Legacy => "legacy",
            Self::PerThread => "per_thread",
        }
    }
}

impl Place {
    const ALL: [Self; 4] = [Self::Launch, Self::Capture, Self::Stream, Self::Node];

    /// The surfaces that it asks.
    pub(super) fn surfaces(self) -> &'static [Surface] {
        match self {
            Self::Launch => &[Surface::Launch],
            Self::Capture => &[Surface::LaunchCapturing, Surface::CapturedNodeGet],
            Self::Stream => &[Surface::StreamSet, Surface::StreamGet],
            Self::Node => &[Surface::NodeSet, Surface::NodeGet],
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Launch => "on a launch",
            Self::Capture => "on a launch while capturing",
            Self::Stream => "on a stream",
            Self::Node => "on a kernel node",
        }
    }
}

impl Question {
    pub(super) fn sample(&self) -> Option<&'static Sample> {
        match self.ask {
            Ask::Unset => None,
            Ask::Set(sample, _) => row(self.id).samples.get(sample),
        }
    }

    /// Whether both set the same id in the same place.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        match (self.ask, other.ask) {
            (Ask::Set(_, place), Ask::Set(_, other_place)) => self.id == other.id && place == other_place,
            _ => self == other,
        }
    }

    pub(super) fn surfaces(&self) -> &'static [Surface] {
        match self.ask {
            Ask::Unset => &[Surface::StreamGet, Surface::NodeGet, Surface::CapturedNodeGet],
            Ask::Set(_, place) => place.surfaces(),
        }
    }

    pub(super) fn words(&self, limits: &Limits) -> String {
        match (self.ask, self.sample()) {
            (Ask::Set(_, place), Some(sample)) => {
                format!("id {} {}, value {}", self.id, place.words(), sample.words(limits))
            }
            _ => format!("id {}, reading it where it was never set", self.id),
        }
    }
}

/// All questions.
pub(super) fn questions() -> Vec<Question> {
    let set = |id: u32| {
        let samples = 0..row(id).samples.len();
        samples.flat_map(|sample| Place::ALL.map(|place| Ask::Set(sample, place)))
    };
    let of = |id: u32| [Ask::Unset].into_iter().chain(set(id)).map(move |ask| Question { id, ask });
    samples::ids().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_id_is_asked_on_every_surface() {
        let questions = questions();
        for id in samples::ids() {
            let asked = questions.iter().filter(|question| question.id == id).flat_map(Question::surfaces);
            assert_eq!(asked.collect::<BTreeSet<_>>().len(), 7, "{id}");
        }
        assert_eq!(samples::ids().count(), 33);
    }

    #[test]
    fn every_question_names_its_sample() {
        for question in questions() {
            assert_eq!(question.sample().is_none(), question.ask == Ask::Unset);
        }
    }
}
