//! Where an attribute may be: the three places of headers and types, and the surfaces on which a driver is asked.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::observations;

/// A place that an attribute may be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    Stream,
    Node,
    Launch,
}

/// What a finding is about: a place, one call to a driver, or the attribute as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    Stream,
    StreamSet,
    StreamGet,
    Node,
    NodeSet,
    NodeGet,
    Launch,
    LaunchCapturing,
    CapturedNodeGet,
    All,
}

impl Place {
    pub const ALL: [Self; 3] = [Self::Stream, Self::Node, Self::Launch];

    /// The calls that set an attribute here.
    pub fn set(self) -> &'static [observations::Surface] {
        match self {
            Self::Stream => &[observations::Surface::StreamSet],
            Self::Node => &[observations::Surface::NodeSet],
            Self::Launch => &[observations::Surface::Launch, observations::Surface::LaunchCapturing],
        }
    }

    /// The call that reads an attribute here.
    pub fn get(self) -> Option<observations::Surface> {
        match self {
            Self::Stream => Some(observations::Surface::StreamGet),
            Self::Node => Some(observations::Surface::NodeGet),
            Self::Launch => None,
        }
    }
}

impl Surface {
    /// The place that it belongs to; none for the attribute as such.
    pub fn place(self) -> Option<Place> {
        match self {
            Self::Stream | Self::StreamSet | Self::StreamGet => Some(Place::Stream),
            Self::Node | Self::NodeSet | Self::NodeGet => Some(Place::Node),
            Self::Launch | Self::LaunchCapturing | Self::CapturedNodeGet => Some(Place::Launch),
            Self::All => None,
        }
    }

    /// The calls that decide about it.
    pub fn calls(self) -> &'static [observations::Surface] {
        use observations::Surface as Call;
        match self {
            Self::Stream | Self::StreamSet => &[Call::StreamSet],
            Self::StreamGet => &[Call::StreamGet],
            Self::Node | Self::NodeSet => &[Call::NodeSet],
            Self::NodeGet => &[Call::NodeGet],
            Self::Launch => &[Call::Launch, Call::LaunchCapturing],
            Self::LaunchCapturing => &[Call::LaunchCapturing],
            Self::CapturedNodeGet => &[Call::CapturedNodeGet],
            Self::All => &[],
        }
    }
}

impl From<Place> for Surface {
    fn from(place: Place) -> Self {
        match place {
            Place::Stream => Self::Stream,
            Place::Node => Self::Node,
            Place::Launch => Self::Launch,
        }
    }
}

impl From<observations::Surface> for Surface {
    fn from(call: observations::Surface) -> Self {
        match call {
            observations::Surface::Launch => Self::Launch,
            observations::Surface::LaunchCapturing => Self::LaunchCapturing,
            observations::Surface::StreamSet => Self::StreamSet,
            observations::Surface::StreamGet => Self::StreamGet,
            observations::Surface::NodeSet => Self::NodeSet,
            observations::Surface::NodeGet => Self::NodeGet,
            observations::Surface::CapturedNodeGet => Self::CapturedNodeGet,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
