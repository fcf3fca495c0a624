//! What a worker tells the process that watches it: a line of JSON each.

use serde::{Deserialize, Serialize};

use super::limits::{Feature, Limits};
use super::plan::On;
use crate::observations::{Controls, Surface};

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Message {
    /// How many devices there are: first of all, once there is a driver.
    Devices(u32),
    /// It could not begin.
    CannotRun(Refusal),
    Device(Facts),
    Controls(Controls),
    /// Before a question, by its number.
    Asking(usize),
    Answered(Vec<Answered>),
    /// After a question: the context is lost with this status, and this worker ends.
    Broken(String),
    /// All questions are answered, and everything was released.
    Done,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Refusal {
    pub(super) why: String,
    /// Whether the device is older than what the probe works on, rather than something wrong.
    pub(super) too_old: bool,
}

impl Refusal {
    pub(super) fn failed(why: String) -> Self {
        Self { why, too_old: false }
    }
}

/// The device that a worker has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Facts {
    pub(super) name: String,
    pub(super) compute_capability: (i32, i32),
    /// Such as 13000.
    pub(super) driver: i32,
    pub(super) limits: Limits,
    /// What the device says it lacks.
    pub(super) lacks: Vec<Feature>,
}

/// The answer of one surface to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answered {
    pub(super) surface: Surface,
    pub(super) on: On,
    pub(super) call: Call,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Call {
    Made {
        status: String,
        set: String,
        read_back: Option<String>,
        capture_survived: Option<bool>,
    },
    /// It was not made, because of this.
    NotMade(String),
}
