//! What a program is told of a capture.

use super::refuse_legacy;
use crate::abi::{Handle, Result};
use crate::graph::EdgeData;
use crate::state::{State, find, find_mut};
use crate::stream;

/// Arrays of the driver's that the program may read until the next call with the stream.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    nodes: Vec<usize>,
    edges: Vec<EdgeData>,
}

/// What a stream's capture looks like from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    None,
    Active,
    Invalidated,
}

/// Whether a stream captures. Asking costs no capture.
pub(crate) fn status(state: &mut State, stream: Handle) -> Result<Status> {
    let found = find(&state.streams, stream)?;
    match &found.capturing {
        Some(member) => {
            let is_invalid = state.captures.get(&member.capture).is_none_or(|capture| capture.is_invalid);
            Ok(if is_invalid { Status::Invalidated } else { Status::Active })
        }
        None => {
            if found.kind == stream::Kind::Legacy {
                refuse_legacy(state, stream, false)?;
            }
            Ok(Status::None)
        }
    }
}

/// A capture as `cuStreamGetCaptureInfo` tells it.
pub(crate) struct Info {
    pub(crate) id: u64,
    pub(crate) graph: Handle,
    /// Arrays of the driver's, of `count` elements each.
    pub(crate) nodes: *const usize,
    pub(crate) edges: *const EdgeData,
    pub(crate) count: usize,
    pub(crate) has_edge_data: bool,
}

pub(crate) fn info(state: &mut State, stream: Handle) -> Result<Option<Info>> {
    if status(state, stream)? != Status::Active {
        return Ok(None);
    }
    let Some(member) = find_mut(&mut state.streams, stream)?.capturing.as_mut() else { return Ok(None) };
    member.shown = Shown {
        nodes: member.after.iter().map(|(node, _)| node.pointer::<u8>().addr()).collect(),
        edges: member.after.iter().map(|(_, data)| *data).collect(),
    };
    let shown = &member.shown;
    Ok(Some(Info {
        id: member.capture.number(),
        graph: state.captures.get(&member.capture).map_or(Handle::NULL, |capture| capture.graph),
        nodes: shown.nodes.as_ptr(),
        edges: shown.edges.as_ptr(),
        count: shown.nodes.len(),
        has_edge_data: shown.edges.iter().any(|data| *data != EdgeData::default()),
    }))
}
