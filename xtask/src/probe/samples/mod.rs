//! What is asked: for each id, values to set.

mod table;
mod value;

use crate::observations::Range;

use super::limits::{Feature, Limits};
pub(super) use table::row;
pub(super) use value::Value;

/// The ids that are asked: all that were ever assigned and some more, and one that never was.
pub(super) fn ids() -> impl Iterator<Item = u32> {
    (0..=LAST).chain([UNASSIGNED])
}

const LAST: u32 = 31;

/// Assigned by no header.
pub(super) const UNASSIGNED: u32 = 999;

/// Blocks of a launch, unless a sample says otherwise.
pub(super) const BLOCKS: u32 = 16;

/// All that is asked of an id.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) id: u32,
    /// What a device needs for it.
    pub(super) needs: Option<Feature>,
    pub(super) samples: &'static [Sample],
}

/// One value, and what goes with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) value: Value,
    /// What the value means, where its number does not tell.
    note: &'static str,
    pub(super) range: Range,
    pub(super) given: &'static [Given],
    /// Whether it is asked on purpose without something that the id needs.
    pub(super) lacks_prerequisite: bool,
}

/// What is given along with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// A cluster of this many blocks.
    Cluster(u32),
    /// A grid of this many blocks.
    Grid(u32),
    /// A kernel that allows clusters larger than every device has.
    AnyClusterKernel,
    /// Device memory for the value to point to.
    Memory,
    /// The value's event has timing disabled.
    NoTiming,
}

impl Sample {
    const fn new(value: Value, range: Range) -> Self {
        Self { value, note: "", range, given: &[], lacks_prerequisite: false }
    }

    const fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    const fn given(self, given: &'static [Given]) -> Self {
        Self { given, ..self }
    }

    /// A value that nothing else is wrong with.
    const fn lacking(value: Value) -> Self {
        Self { lacks_prerequisite: true, ..Self::new(value, Range::OutOfRange) }
    }

    pub(super) fn has(&self, given: Given) -> bool {
        self.given.contains(&given)
    }

    /// The value in words.
    pub(super) fn words(&self, limits: &Limits) -> String {
        let value = self.value.words(limits);
        if self.note.is_empty() { value } else { format!("{value} ({})", self.note) }
    }

    /// What is given along, in words. Streams have neither a grid nor a kernel nor clusters.
    pub(super) fn prerequisite(&self, on_stream: bool) -> Option<String> {
        let given = self.given.iter().filter(|given| !on_stream || given.belongs_to_value());
        let words: Vec<String> = given.map(|given| given.words()).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    pub(super) fn blocks(&self) -> u32 {
        self.given
            .iter()
            .find_map(|given| if let Given::Grid(blocks) = given { Some(*blocks) } else { None })
            .unwrap_or(BLOCKS)
    }

    /// The cluster given along.
    pub(super) fn cluster(&self) -> Option<u32> {
        self.given.iter().find_map(|given| if let Given::Cluster(blocks) = given { Some(*blocks) } else { None })
    }
}

impl Given {
    fn belongs_to_value(self) -> bool {
        matches!(self, Self::Memory | Self::NoTiming)
    }

    fn words(self) -> String {
        match self {
            Self::Cluster(blocks) => format!("cluster {blocks} × 1 × 1"),
            Self::Grid(blocks) => format!("grid of {blocks} blocks"),
            Self::AnyClusterKernel => "kernel that allows non-portable clusters".to_owned(),
            Self::Memory => "device memory".to_owned(),
            Self::NoTiming => "timing disabled".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that no id has.
    const GAPS: [u32; 1] = [15];
    const NEWEST: u32 = 18;

    #[test]
    fn every_assigned_id_has_samples_of_its_own() {
        let mut assigned: Vec<u32> = (0..=NEWEST).filter(|id| !GAPS.contains(id)).collect();
        for row in table::TABLE {
            assert_eq!(row.id, assigned.remove(0), "in the order of ids, each once");
        }
        assert!(assigned.is_empty(), "without samples: {assigned:?}");
    }

    #[test]
    fn every_id_is_asked_with_a_good_value_and_a_row_of_its_own_with_a_bad_one() {
        for id in ids() {
            assert!(row(id).samples.iter().any(|sample| sample.range == Range::Good), "{id}");
        }
        // The values of id 0 are ignored, so there is no bad one.
        for row in table::TABLE.iter().filter(|row| row.id != 0) {
            assert!(row.samples.iter().any(|sample| sample.range == Range::OutOfRange), "{}", row.id);
        }
    }

    #[test]
    fn no_two_samples_of_an_id_read_alike() {
        let limits = Limits {
            least_priority: 0,
            greatest_priority: -5,
            access_window: 1 << 27,
            memory_domains: 4,
            portable_cluster: 8,
            largest_cluster: 16,
        };
        for id in ids() {
            let mut seen = std::collections::BTreeSet::new();
            for sample in row(id).samples {
                let words = (sample.words(&limits), sample.prerequisite(false));
                assert!(seen.insert(words.clone()), "{id}: {words:?}");
            }
        }
    }

    #[test]
    fn a_stream_is_given_no_cluster() {
        let sample =
            Sample::new(Value::Int(value::Number::Is(1)), Range::Good).given(&[Given::Cluster(2), Given::Memory]);
        assert_eq!(sample.prerequisite(false).unwrap(), "cluster 2 × 1 × 1, device memory");
        assert_eq!(sample.prerequisite(true).unwrap(), "device memory");
    }
}
