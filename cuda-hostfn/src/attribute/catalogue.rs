//! The table as data, for tools: the audit compares it with headers and drivers.

use crate::CudaVersion;

/// A row of [`CATALOGUE`](super::CATALOGUE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// CUDA's number.
    pub id: u32,
    /// CUDA's name, such as `CU_LAUNCH_ATTRIBUTE_PRIORITY`.
    pub name: &'static str,
    /// The type in [`attribute`](super) that stands for it.
    pub type_name: &'static str,
    /// Where it can be set: the type's impls of [`ValidFor`](super::ValidFor).
    pub set: Places,
    /// Where it can be read: the type's impls of [`ReadableFrom`](super::ReadableFrom).
    pub get: Places,
    /// The first CUDA version whose header has it.
    pub since: CudaVersion,
    /// What the places are based on.
    pub evidence: Evidence,
    /// Where header and driver differ, or what else is odd; may be empty.
    pub note: &'static str,
}

/// A set of places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Streams.
    pub streams: bool,
    /// Launches; they cannot be read from.
    pub launches: bool,
    /// Kernel nodes of graphs.
    pub nodes: bool,
}

/// What a row's places are based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Evidence {
    /// A driver accepted it exactly there.
    Driver,
    /// No driver at hand knows it; its documentation in the header says so.
    Header,
}

/// A place's name, for the table.
#[derive(Clone, Copy)]
pub(super) enum Name {
    Streams,
    Launches,
    Nodes,
}

impl Places {
    /// The set of the named places.
    pub(super) const fn of(mut names: &[Name]) -> Self {
        let mut places = Self { streams: false, launches: false, nodes: false };
        while let [name, rest @ ..] = names {
            match name {
                Name::Streams => places.streams = true,
                Name::Launches => places.launches = true,
                Name::Nodes => places.nodes = true,
            }
            names = rest;
        }
        places
    }
}
