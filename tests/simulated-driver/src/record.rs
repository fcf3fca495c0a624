//! The recorded observations of a real machine, which answer for every attribute.

use std::sync::OnceLock;

use cuda_sys::CUresult;
use serde::Deserialize;

/// The record that the audit keeps; there is no second table.
const RECORD: &str = include_str!("../../../docs/observations/h200-580.159.04.json");

/// See `xtask/src/observations.rs` for what the fields mean.
#[derive(Debug, Deserialize)]
pub(crate) struct Machine {
    pub(crate) device: String,
    compute_capability: String,
    observed: Vec<Observation>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Observation {
    id: u32,
    surface: Surface,
    pub(crate) verdict: Verdict,
    status: Option<String>,
    #[serde(default)]
    pub(crate) samples: Vec<Sample>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Sample {
    pub(crate) value: String,
    pub(crate) prerequisite: Option<String>,
    status: String,
    #[serde(deserialize_with = "bytes")]
    pub(crate) set: Vec<Option<u8>>,
    #[serde(default, deserialize_with = "some_bytes")]
    pub(crate) read_back: Option<Vec<Option<u8>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Accepted,
    Rejected,
    Unknown,
    Unsupported,
    NotRun,
}

/// What the sample of a get is called that was made before anything was set.
const NEVER_SET: &str = "never set";

pub(crate) fn machine() -> &'static Machine {
    static MACHINE: OnceLock<Machine> = OnceLock::new();
    MACHINE.get_or_init(|| serde_json::from_str(RECORD).expect("the record is of the audit's schema"))
}

impl Machine {
    /// Such as (9, 0).
    pub(crate) fn compute_capability(&self) -> (i32, i32) {
        let (major, minor) = self.compute_capability.split_once('.').unwrap_or(("0", "0"));
        (major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
    }

    /// What was seen of an id in a place; an id that was never asked is unknown.
    pub(crate) fn observation(&self, id: u32, surface: Surface) -> Option<&Observation> {
        self.observed.iter().find(|observation| observation.id == id && observation.surface == surface)
    }
}

impl Observation {
    /// What the place answers to the id as such: its status, if it does not take it.
    pub(crate) fn refusal(&self) -> Option<CUresult> {
        match self.verdict {
            Verdict::Accepted => None,
            _ => Some(self.status.as_deref().map_or(CUresult::CUDA_ERROR_INVALID_VALUE, code)),
        }
    }

    /// The bytes that reading gives before anything was set; `None` where the driver leaves a byte as it was.
    pub(crate) fn never_set(&self) -> Option<&[Option<u8>]> {
        self.samples.iter().find(|sample| sample.value == NEVER_SET)?.read_back.as_deref()
    }
}

impl Sample {
    pub(crate) fn code(&self) -> CUresult {
        code(&self.status)
    }

    pub(crate) fn is_accepted(&self) -> bool {
        self.code() == CUresult::CUDA_SUCCESS
    }

    /// Whether the value alone decided, and not the launch around it.
    pub(crate) fn is_of_value(&self) -> bool {
        self.value != NEVER_SET && matches!(self.prerequisite.as_deref(), None | Some("device memory"))
    }
}

/// The statuses that records have.
fn code(name: &str) -> CUresult {
    crate::error_names::code(name).unwrap_or(CUresult::CUDA_ERROR_UNKNOWN)
}

/// `0a..` are bytes; two other characters stand for a byte that the driver did not write, or one of an address.
fn bytes<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Option<u8>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    Ok(text.as_bytes().chunks(2).map(byte).collect())
}

fn some_bytes<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Option<u8>>>, D::Error> {
    bytes(deserializer).map(Some)
}
