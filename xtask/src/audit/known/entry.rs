//! One entry, and what it is about.

use serde::{Deserialize, Deserializer};

use crate::find::Version;
use crate::finding::{Basis, Case, Finding, Kind};
use crate::findings::Facts;
use crate::machine::{Answer, Machine};
use crate::model::Header;
use crate::place::Surface;

/// One finding, and the headers and machines for which it is understood.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub kind: Kind,
    pub id: u32,
    /// One, or several with the same reason.
    #[serde(rename = "surface", deserialize_with = "one_or_several")]
    pub surfaces: Vec<Surface>,
    /// The first header that shows it; of a change, the one that brought it.
    pub since: Option<Version>,
    /// The last header that shows it; none while the newest does.
    pub until: Option<Version>,
    /// The same for drivers, by the CUDA version that they support.
    pub driver_since: Option<Version>,
    pub driver_until: Option<Version>,
    /// The device that shows it, where not every one does.
    pub device: Option<String>,
    pub reason: String,
}

impl Entry {
    pub fn label(&self) -> String {
        let surfaces: Vec<_> = self.surfaces.iter().map(ToString::to_string).collect();
        format!("{} of id {} ({})", self.kind, self.id, surfaces.join(", "))
    }

    pub fn check(&self) -> Result<(), String> {
        let label = self.label();
        if self.surfaces.is_empty() {
            return Err(format!("{label} names no surface"));
        }
        if self.reason.trim().is_empty() {
            return Err(format!("{label} gives no reason"));
        }
        let (headers, machines) = match self.kind.basis() {
            Basis::Header | Basis::Change => (true, false),
            Basis::Both => (true, true),
            Basis::Machine => (false, true),
            Basis::Ours => return Err(format!("{label}: this is mended, or its entry removed; it is not listed")),
        };
        range(&label, headers, "since", self.since, "until", self.until)?;
        range(&label, machines, "driver_since", self.driver_since, "driver_until", self.driver_until)?;
        if self.device.is_some() && !machines {
            return Err(format!("{label}: no device shows it, headers do, so it has no `device`"));
        }
        if self.kind.is_change() && self.until.is_some() {
            return Err(format!("{label}: a change has only `since`, the version that brought it"));
        }
        Ok(())
    }

    /// An id that nothing it is about can have is a slip of the pen.
    pub fn check_id(&self, facts: Facts<'_>) -> Result<(), String> {
        let reaches = |header: &&Header| header.attributes.iter().any(|known| known.id >= self.id);
        let mut of_its_versions = facts.headers.iter().filter(|header| self.has_header(header.cuda)).peekable();
        let accepts = |machine: &Machine| {
            self.surfaces.iter().any(|surface| machine.answer(self.id, surface.calls()) == Answer::Accepted)
        };
        match self.kind.basis() {
            Basis::Header | Basis::Change
                if of_its_versions.peek().is_some() && !of_its_versions.any(|h| reaches(&h)) =>
            {
                Err(format!("{}: no header of its versions has such an id", self.label()))
            }
            Basis::Both | Basis::Machine
                if !facts.headers.iter().any(|header| reaches(&header))
                    && !facts.declared.iter().any(|declared| declared.id >= self.id)
                    && !facts.machines.iter().any(accepts) =>
            {
                Err(format!("{}: no header, no type and no machine has such an id", self.label()))
            }
            _ => Ok(()),
        }
    }

    pub fn is_for(&self, finding: &Finding) -> bool {
        self.surfaces.iter().any(|&surface| finding.is(self.kind, self.id, surface))
    }

    pub fn has_header(&self, cuda: Version) -> bool {
        self.since.is_none_or(|since| since <= cuda) && self.until.is_none_or(|until| cuda <= until)
    }

    pub fn has_machine(&self, machine: &Machine) -> bool {
        self.has_driver(machine.driver) && self.device.as_ref().is_none_or(|device| *device == machine.record.device)
    }

    fn has_driver(&self, driver: Version) -> bool {
        self.driver_since.is_none_or(|since| since <= driver) && self.driver_until.is_none_or(|until| driver <= until)
    }

    /// A change between two versions is explained by what happened after the first and up to the second.
    pub fn between(&self, older: Version, newer: Version) -> bool {
        self.since.is_some_and(|since| older < since && since <= newer)
    }

    pub fn covers(&self, case: Case, machines: &[Machine]) -> bool {
        case.cuda.is_none_or(|cuda| self.has_header(cuda))
            && case.machine.is_none_or(|index| self.has_machine(&machines[index]))
    }

    /// Whether both could explain the same case.
    pub fn overlaps(&self, other: &Self) -> bool {
        let apart = !self.surfaces.iter().any(|surface| other.surfaces.contains(surface));
        if apart || (self.kind, self.id) != (other.kind, other.id) {
            return false;
        }
        if self.kind.is_change() {
            return self.since == other.since;
        }
        let starts_in = |a: &Self, b: &Self| b.since.is_none_or(|since| a.has_header(since));
        let driver_starts_in = |a: &Self, b: &Self| b.driver_since.is_none_or(|since| a.has_driver(since));
        let other_device = matches!((&self.device, &other.device), (Some(a), Some(b)) if a != b);
        !other_device
            && (starts_in(self, other) || starts_in(other, self))
            && (driver_starts_in(self, other) || driver_starts_in(other, self))
    }
}

/// Such a range is wanted, or it is not.
fn range(
    label: &str,
    wanted: bool,
    since: &str,
    first: Option<Version>,
    until: &str,
    last: Option<Version>,
) -> Result<(), String> {
    match (wanted, first, last) {
        (true, None, _) => Err(format!("{label}: `{since}` is missing, the first version that shows it")),
        (true, Some(first), Some(last)) if last < first => Err(format!("{label}: `{until}` is before `{since}`")),
        (false, Some(_), _) | (false, _, Some(_)) => {
            Err(format!("{label} depends on other versions, so it has neither `{since}` nor `{until}`"))
        }
        _ => Ok(()),
    }
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a surface is one of stream, stream_set, stream_get, node, node_set, node_get, launch, launch_capturing, \
                 captured_node_get and all, or a list of them"
)]
enum Surfaces {
    One(Surface),
    Several(Vec<Surface>),
}

fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Surface>, D::Error> {
    Ok(match Surfaces::deserialize(deserializer)? {
        Surfaces::One(surface) => vec![surface],
        Surfaces::Several(surfaces) => surfaces,
    })
}
