//! What a driver answered, as `attribute-probe` records it and the audit reads it. The field names are a promise: see
//! the report's schema in `docs/report-schema.md`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The number of the report's schema, of which a record is one element of `machines`.
pub(crate) const SCHEMA: u32 = 1;

/// One device's answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// In a record that stands alone; within a report, the report has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) schema: Option<u32>,
    pub(crate) device: String,
    /// Such as `9.0`.
    pub(crate) compute_capability: String,
    /// The CUDA version of the driver, such as `13.0`.
    pub(crate) driver: String,
    /// The version of the kernel module, such as `580.159.04`, where it can be read.
    pub(crate) kernel_driver: Option<String>,
    /// The day in UTC, such as `2026-12-01`.
    pub(crate) recorded: String,
    /// Whether this report asked the driver itself. A record read from a file is not live.
    #[serde(default)]
    pub(crate) live: bool,
    /// The version of the program that asked, and of the header it was built from.
    pub(crate) probe: String,
    pub(crate) header: String,
    pub(crate) controls: Controls,
    pub(crate) observed: Vec<Observation>,
}

/// Calls whose answer is known beforehand: if one is wrong, nothing else in the record can be relied on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Controls {
    /// A launch without attributes: `CUDA_SUCCESS`.
    pub(crate) no_attributes: String,
    /// A launch with an id that was never assigned: `CUDA_ERROR_INVALID_VALUE`.
    pub(crate) unassigned_id: String,
}

/// One id in one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Observation {
    pub(crate) id: u32,
    pub(crate) surface: Surface,
    pub(crate) verdict: Verdict,
    /// The status of the sample that decided; of the first one, where all were refused.
    pub(crate) status: Option<String>,
    /// Why it was not run, or what the verdict rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The same on the NULL, the legacy and the per-thread stream, by `null`, `legacy` and `per_thread`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) special_streams: BTreeMap<String, Verdict>,
    #[serde(default)]
    pub(crate) samples: Vec<Sample>,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// The value in words, such as `2 × 1 × 1`.
    pub(crate) value: String,
    pub(crate) range: Range,
    /// What was given along with it, such as a cluster for a preferred cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prerequisite: Option<String>,
    pub(crate) answer: Answer,
    pub(crate) status: String,
    /// The bytes given, in hexadecimal, without the zeros at the end. `@@` stands for a byte of an address or handle,
    /// which differs from run to run.
    pub(crate) set: String,
    /// The bytes that reading afterwards wrote, zeros included, up to the last one. `..` stands for a byte left alone,
    /// `@@` for one of the address given, `##` for one of another address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) read_back: Option<String>,
    /// Whether a capture went on after this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) capture_survived: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Surface {
    Launch,
    LaunchCapturing,
    StreamSet,
    StreamGet,
    NodeSet,
    NodeGet,
    CapturedNodeGet,
}

/// What an id is worth in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// At least one good sample succeeded.
    Accepted,
    Rejected,
    /// The driver does not know the id in any place.
    Unknown,
    /// The device lacks it.
    Unsupported,
    NotRun,
}

/// What one call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Accepted,
    /// The id is refused in this place, whatever the value.
    RejectedHere,
    /// The place takes the id, and refuses this value.
    ValueRejected,
    PrerequisiteMissing,
    UnknownToDriver,
    DeviceLacksIt,
}

/// Where a sample lies, by the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "spelled as in a record")]
pub(crate) enum Range {
    Good,
    Boundary,
    /// Or without something that the id needs.
    OutOfRange,
}
