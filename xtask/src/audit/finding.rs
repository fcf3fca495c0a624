//! A finding: what is odd, where, and which headers and machines show it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::find::Version;
use crate::place::Surface;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub kind: Kind,
    pub id: u32,
    pub surface: Surface,
    /// `docs/known-findings.toml` has it.
    pub known: bool,
    pub evidence: String,
    /// The headers that show it; for a change the one before and the one after.
    pub cuda: Vec<Version>,
    /// The machines that show it, as places in the report's list.
    pub machines: Vec<usize>,
    /// Why it is understood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    DocumentedButNotAliased,
    AliasedButNotDocumented,
    /// A launch function's documentation names an attribute whose comment excludes launches.
    NamedButNotDocumented,
    NoProse,
    UnreadableProse,
    ProseChanged,
    NumberGap,
    /// The header's comment allows a place in which a driver that knows the attribute refuses it.
    DocumentedButRejected,
    /// A driver takes it in a place that the header's comment does not name.
    AcceptedButNotDocumented,
    /// A type offers what no observed driver accepts: an error of ours.
    OfferedButRejected,
    /// A driver accepts what no type offers: a gap of ours.
    AcceptedButNotOffered,
    /// What was set cannot be read.
    SetAcceptedGetRefused,
    /// A value that the documentation allows reads back as another one.
    ValueChanged,
    /// A value out of range is accepted and reads back as another one.
    ValueClamped,
    /// A value out of range is accepted as it is, or cannot be read back.
    OutOfRangeAccepted,
    /// One driver refuses what another one accepts.
    RefusedNowAcceptedElsewhere,
    /// An entry of `docs/known-findings.toml` that no longer holds.
    StaleKnownFinding,
}

/// What shows a finding, and so which versions an entry of `docs/known-findings.toml` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A header by itself.
    Header,
    /// Two headers, one after the other.
    Change,
    /// A header together with a machine.
    Both,
    /// Machines by themselves, or together with our types.
    Machine,
    /// Something of ours that is mended, never explained.
    Ours,
}

/// A header, a machine, or one of each, that shows a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    pub cuda: Option<Version>,
    pub machine: Option<usize>,
}

impl Kind {
    pub fn basis(self) -> Basis {
        match self {
            Self::DocumentedButNotAliased
            | Self::AliasedButNotDocumented
            | Self::NamedButNotDocumented
            | Self::NoProse
            | Self::UnreadableProse
            | Self::NumberGap => Basis::Header,
            Self::ProseChanged => Basis::Change,
            Self::DocumentedButRejected | Self::AcceptedButNotDocumented => Basis::Both,
            Self::AcceptedButNotOffered
            | Self::SetAcceptedGetRefused
            | Self::ValueChanged
            | Self::ValueClamped
            | Self::OutOfRangeAccepted
            | Self::RefusedNowAcceptedElsewhere => Basis::Machine,
            Self::OfferedButRejected | Self::StaleKnownFinding => Basis::Ours,
        }
    }

    /// It lies between two headers, not in one.
    pub fn is_change(self) -> bool {
        self.basis() == Basis::Change
    }
}

impl Finding {
    /// Nobody has explained it yet.
    pub fn new(kind: Kind, id: u32, surface: Surface, evidence: String) -> Self {
        Self { kind, id, surface, known: false, evidence, cuda: Vec::new(), machines: Vec::new(), reason: None }
    }

    /// Every case that it stands for.
    pub fn cases(&self) -> Vec<Case> {
        let cuda: Vec<_> =
            if self.cuda.is_empty() { vec![None] } else { self.cuda.iter().copied().map(Some).collect() };
        let machines: Vec<_> =
            if self.machines.is_empty() { vec![None] } else { self.machines.iter().copied().map(Some).collect() };
        cuda.into_iter().flat_map(|cuda| machines.iter().map(move |&machine| Case { cuda, machine })).collect()
    }

    pub fn is(&self, kind: Kind, id: u32, surface: Surface) -> bool {
        (self.kind, self.id, self.surface) == (kind, id, surface)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
