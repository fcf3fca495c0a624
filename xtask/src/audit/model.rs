//! The report: JSON schema 1, and what every other format is made from.
//!
//! The sources stay apart: what a header documents, what it aliases, what the typed layer declares, what a driver
//! answered. Only a finding joins them.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::declared::Declared;
use crate::find::Version;
use crate::finding::Finding;
use crate::machine::{Asked, Machine};
use crate::place::Place;

#[derive(Debug, Serialize)]
pub struct Report {
    pub schema: u32,
    /// Oldest first.
    pub headers: Vec<Header>,
    /// The typed layer's catalogue.
    pub declared: Vec<Declared>,
    /// What drivers answered.
    pub machines: Vec<Machine>,
    pub live_driver: Asked,
    pub findings: Vec<Finding>,
}

/// What one `cuda.h` says.
#[derive(Clone, Debug, Serialize)]
pub struct Header {
    pub cuda: Version,
    /// Where it was read; a report must not depend on it.
    #[serde(skip)]
    pub include: PathBuf,
    /// By number.
    pub attributes: Vec<Attribute>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attribute {
    pub id: u32,
    pub name: String,
    /// The first of the report's headers that has it; none where an older header may have had it too.
    pub first_seen: Option<Version>,
    /// The places that its comment allows; none where the comment has no such sentence.
    pub documented: Option<Places>,
    /// A sentence about places that we cannot read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
    pub aliased: Aliased,
    /// The alias macros, by name.
    pub aliases: Vec<String>,
    pub value: Option<Value>,
    /// The functions whose documentation names it.
    pub named_by: Vec<Mention>,
}

/// Where an attribute may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Places {
    pub stream: bool,
    pub node: bool,
    pub launch: bool,
}

/// The places for which an alias macro exists. Launches use the plain name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Aliased {
    pub stream: bool,
    pub node: bool,
}

/// The member of `CUlaunchAttributeValue` that holds an attribute's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Value {
    pub member: String,
    #[serde(rename = "type")]
    pub type_name: String,
    pub found_by: FoundBy,
}

/// What ties a member to its attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoundBy {
    MemberComment,
    AttributeComment,
    /// Neither comment says it; the names agree word by word.
    Name,
}

/// A function's documentation names an attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Mention {
    pub function: String,
    #[serde(rename = "in")]
    pub within: Within,
    /// The function to which the text sends readers for this attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub see: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Within {
    Text,
    Code,
}

impl Header {
    pub fn attribute(&self, id: u32) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.id == id)
    }
}

impl Attribute {
    /// The name without what all of them share.
    pub fn short_name(&self) -> &str {
        self.name.strip_prefix(PREFIX).unwrap_or(&self.name)
    }

    pub fn named_in_text(&self) -> impl Iterator<Item = &Mention> {
        self.named_by.iter().filter(|mention| mention.within == Within::Text)
    }
}

/// What every attribute's name begins with.
pub const PREFIX: &str = "CU_LAUNCH_ATTRIBUTE_";

impl Places {
    pub fn at(self, place: Place) -> bool {
        match place {
            Place::Stream => self.stream,
            Place::Node => self.node,
            Place::Launch => self.launch,
        }
    }
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [(self.stream, "streams"), (self.node, "graph nodes"), (self.launch, "launches")];
        let named: Vec<_> = named.iter().filter(|(allowed, _)| *allowed).map(|(_, name)| *name).collect();
        match named[..] {
            [] => f.write_str("no place"),
            [.., last] if named.len() > 1 => write!(f, "{} and {last}", named[..named.len() - 1].join(", ")),
            [only, ..] => f.write_str(only),
        }
    }
}
