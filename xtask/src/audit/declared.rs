//! What the typed layer offers: the catalogue of cuda-hostfn.

use cuda_hostfn::attribute::{CATALOGUE, Entry, Evidence};
use serde::Serialize;

use crate::find::Version;
use crate::place::Place;

/// A type of cuda-hostfn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Declared {
    pub id: u32,
    pub name: String,
    #[serde(rename = "type")]
    pub type_name: String,
    /// Where it can be set.
    pub stream: bool,
    pub node: bool,
    pub launch: bool,
    pub get: Readable,
    /// The first CUDA version that has it.
    pub since: Version,
    /// What the places are based on.
    pub evidence: Basis,
    pub note: String,
}

/// Where it can be read; a launch cannot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Readable {
    pub stream: bool,
    pub node: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    Driver,
    Header,
    Other,
}

/// Every type, by number.
pub fn catalogue() -> Vec<Declared> {
    CATALOGUE.iter().map(Declared::from).collect()
}

impl Declared {
    pub fn sets(&self, place: Place) -> bool {
        match place {
            Place::Stream => self.stream,
            Place::Node => self.node,
            Place::Launch => self.launch,
        }
    }

    pub fn gets(&self, place: Place) -> bool {
        match place {
            Place::Stream => self.get.stream,
            Place::Node => self.get.node,
            Place::Launch => false,
        }
    }
}

impl From<&Entry> for Declared {
    fn from(entry: &Entry) -> Self {
        Self {
            id: entry.id,
            name: entry.name.to_owned(),
            type_name: entry.type_name.to_owned(),
            stream: entry.set.streams,
            node: entry.set.nodes,
            launch: entry.set.launches,
            get: Readable { stream: entry.get.streams, node: entry.get.nodes },
            since: Version(entry.since.major * 1000 + entry.since.minor * 10),
            evidence: match entry.evidence {
                Evidence::Driver => Basis::Driver,
                Evidence::Header => Basis::Header,
                _ => Basis::Other,
            },
            note: entry.note.to_owned(),
        }
    }
}
