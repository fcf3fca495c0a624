//! What a driver answered on one machine: read from records, or asked anew.

mod check;
mod live;
mod read;
mod select;
mod write;

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::find::Version;
use crate::observations::{self as record, Observation, Verdict};
use crate::place::{Place, Surface};

pub use select::{Asked, select};
pub use write::to_record;

/// A column of the report.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    #[serde(flatten)]
    pub record: record::Machine,
    /// The record's `driver`, for comparison.
    #[serde(skip)]
    pub driver: Version,
    #[serde(skip)]
    pub source: Source,
}

/// Where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Live,
    File(PathBuf),
}

/// What the calls of a place say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    Accepted,
    /// The id is refused there, with this status.
    Refused(&'a str),
    /// Not asked, unknown to the driver, or the device lacks it.
    Nothing,
}

impl Machine {
    pub fn observation(&self, id: u32, call: record::Surface) -> Option<&Observation> {
        self.record.observed.iter().find(|observation| (observation.id, observation.surface) == (id, call))
    }

    /// The ids it was asked about, ascending.
    pub fn ids(&self) -> Vec<u32> {
        let mut ids: Vec<_> = self.record.observed.iter().map(|observation| observation.id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// What these calls say together: one that is accepted outweighs the others.
    pub fn answer(&self, id: u32, calls: &[record::Surface]) -> Answer<'_> {
        let observations = || calls.iter().filter_map(|&call| self.observation(id, call));
        if observations().any(|observation| observation.verdict == Verdict::Accepted) {
            return Answer::Accepted;
        }
        match observations().find(|observation| observation.verdict == Verdict::Rejected) {
            Some(rejected) => Answer::Refused(rejected.status.as_deref().unwrap_or("an error")),
            None => Answer::Nothing,
        }
    }

    pub fn set(&self, id: u32, place: Place) -> Answer<'_> {
        self.answer(id, place.set())
    }

    pub fn get(&self, id: u32, place: Place) -> Answer<'_> {
        place.get().map_or(Answer::Nothing, |call| self.answer(id, &[call]))
    }

    /// Whether the driver knows the id and had a say about it there.
    pub fn has_say(&self, id: u32, surface: Surface) -> bool {
        self.answer(id, surface.calls()) != Answer::Nothing
    }
}

impl fmt::Display for Machine {
    /// Device and driver: what tells machines apart.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let record = &self.record;
        let driver = record.kernel_driver.as_deref().unwrap_or("of unknown version");
        write!(f, "{}, driver {driver} (CUDA {})", record.device, record.driver)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Live => f.write_str("the live driver"),
            Self::File(file) => write!(f, "`{}`", file.display()),
        }
    }
}
