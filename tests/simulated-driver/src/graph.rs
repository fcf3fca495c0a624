//! Graphs: nodes, edges between them, and references to user objects.

use std::collections::{BTreeMap, BTreeSet};

use cuda_sys::{CUgraphNodeType, CUresult};

use crate::abi::{Handle, HostFn, Result, UserData};
use crate::attributes::Attributes;
use crate::kernels::Launch;
use crate::launch;
use crate::memory::{Copy, Fill};
use crate::memory_operations::Batch;
use crate::state::{State, find, find_mut};
use crate::user_object::{self, References};
use crate::work::Task;

#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// In the order in which they were added.
    pub(crate) nodes: Vec<Handle>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) user_objects: References,
    pub(crate) is_capturing: bool,
    /// A child graph belongs to its node, and is not the program's to destroy.
    pub(crate) is_child: bool,
    /// Of a clone: which node is whose copy.
    pub(crate) copies: BTreeMap<Handle, Handle>,
    /// A graph with a device-updatable node can be instantiated once.
    pub(crate) was_instantiated: bool,
}

/// What `CUgraphEdgeData` holds.
pub(crate) type EdgeData = [u8; 8];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: Handle,
    pub(crate) to: Handle,
    pub(crate) data: EdgeData,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) graph: Handle,
    pub(crate) kind: Kind,
    pub(crate) attributes: Attributes,
    pub(crate) is_captured: bool,
    /// Addresses of a kernel's parameters, as the program was given them.
    pub(crate) shown_parameters: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Kernel(Launch),
    Host { function: HostFn, data: UserData },
    Copy(Copy),
    Fill(Fill),
    Operations(Batch),
    Empty,
    Child(Handle),
    RecordEvent(Handle),
    WaitEvent(Handle),
}

impl From<Task> for Kind {
    fn from(task: Task) -> Self {
        match task {
            Task::Kernel(launch) => Self::Kernel(launch),
            Task::Host { function, data } => Self::Host { function, data },
            Task::Copy(copy) => Self::Copy(copy),
            Task::Fill(fill) => Self::Fill(fill),
            Task::Operations(batch) => Self::Operations(batch),
            Task::RecordEvent(event) => Self::RecordEvent(event),
            Task::WaitEvent(event) => Self::WaitEvent(event),
            Task::Nothing | Task::Callback { .. } | Task::Record(_) | Task::Wait(_) => Self::Empty,
        }
    }
}

impl Kind {
    /// What a node of this kind does, unless it is a graph.
    pub(crate) fn task(&self) -> Task {
        match self.clone() {
            Self::Kernel(launch) => Task::Kernel(launch),
            Self::Host { function, data } => Task::Host { function, data },
            Self::Copy(copy) => Task::Copy(copy),
            Self::Fill(fill) => Task::Fill(fill),
            Self::Operations(batch) => Task::Operations(batch),
            Self::RecordEvent(event) => Task::RecordEvent(event),
            Self::WaitEvent(event) => Task::WaitEvent(event),
            Self::Empty | Self::Child(_) => Task::Nothing,
        }
    }

    pub(crate) fn node_type(&self) -> CUgraphNodeType {
        CUgraphNodeType(match self {
            Self::Kernel(_) => 0,
            Self::Copy(_) => 1,
            Self::Fill(_) => 2,
            Self::Host { .. } => 3,
            Self::Child(_) => 4,
            Self::Empty => 5,
            Self::WaitEvent(_) => 6,
            Self::RecordEvent(_) => 7,
            Self::Operations(_) => 12,
        })
    }
}

pub(crate) fn create(state: &mut State) -> Handle {
    let handle = state.new_handle();
    state.graphs.insert(handle, Graph::default());
    handle
}

/// A graph that the program may work with.
fn find_own(state: &State, graph: Handle) -> Result<&Graph> {
    state.graphs.get(&graph).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
}

/// Destroys a graph; executable graphs made from it live on.
pub(crate) fn destroy(state: &mut State, graph: Handle) -> Result {
    let found = find_own(state, graph)?;
    if found.is_child || found.is_capturing {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let references = remove(state, graph);
    user_object::drop_all(state, references);
    Ok(())
}

/// Forgets a graph with its child graphs, and gives out the references that they held.
pub(crate) fn remove(state: &mut State, graph: Handle) -> References {
    let Some(removed) = state.graphs.remove(&graph) else { return References::new() };
    let mut references = removed.user_objects;
    for node in removed.nodes {
        if let Some(Node { kind: Kind::Child(child), .. }) = state.nodes.remove(&node) {
            for (object, count) in remove(state, child) {
                *references.entry(object).or_default() += count;
            }
        }
    }
    references
}

/// Checks that nodes are a graph's, and that none is named twice.
pub(crate) fn check_nodes(state: &State, graph: Handle, nodes: impl IntoIterator<Item = Handle>) -> Result {
    let known = &find_own(state, graph)?.nodes;
    let mut seen = BTreeSet::new();
    let is_fine = nodes.into_iter().all(|node| known.contains(&node) && seen.insert(node));
    if is_fine { Ok(()) } else { Err(CUresult::CUDA_ERROR_INVALID_VALUE) }
}

pub(crate) fn add(
    state: &mut State,
    graph: Handle,
    kind: Kind,
    attributes: Attributes,
    after: &[(Handle, EdgeData)],
    is_captured: bool,
) -> Result<Handle> {
    if let Err(code) = check_nodes(state, graph, after.iter().map(|(node, _)| *node)) {
        if let Kind::Child(child) = kind {
            let references = remove(state, child);
            user_object::drop_all(state, references);
        }
        return Err(code);
    }
    let handle = state.new_handle();
    let node = Node { graph, kind, attributes, is_captured, shown_parameters: Vec::new() };
    state.nodes.insert(handle, node);
    let graph = find_mut(&mut state.graphs, graph)?;
    graph.nodes.push(handle);
    graph.edges.extend(after.iter().map(|(from, data)| Edge { from: *from, to: handle, data: *data }));
    Ok(handle)
}

/// What makes a node a copy of another graph.
pub(crate) fn new_child(state: &mut State, graph: Handle, child: Handle) -> Result<Kind> {
    if graph == child {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    find_own(state, graph)?;
    let copy = clone(state, child)?;
    find_mut(&mut state.graphs, copy)?.is_child = true;
    Ok(Kind::Child(copy))
}

pub(crate) fn clone(state: &mut State, graph: Handle) -> Result<Handle> {
    let original = find_own(state, graph)?;
    let (nodes, edges, user_objects) = (original.nodes.clone(), original.edges.clone(), original.user_objects.clone());
    if original.is_capturing {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    if nodes.iter().filter_map(|node| state.nodes.get(node)).any(|node| launch::is_device_updatable(&node.attributes)) {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    let user_objects = user_object::duplicate(state, &user_objects);
    let copy = create(state);
    find_mut(&mut state.graphs, copy)?.user_objects = user_objects;
    let mut copies = BTreeMap::new();
    for original in nodes {
        let node = find(&state.nodes, original)?;
        let (mut kind, attributes, is_captured) = (node.kind.clone(), node.attributes.clone(), node.is_captured);
        if let Kind::Child(child) = kind {
            let child = clone(state, child)?;
            find_mut(&mut state.graphs, child)?.is_child = true;
            kind = Kind::Child(child);
        }
        copies.insert(original, add(state, copy, kind, attributes, &[], is_captured)?);
    }
    let copied = |node: Handle| copies.get(&node).copied().unwrap_or(Handle::NULL);
    let edges = edges.into_iter().map(|edge| Edge { from: copied(edge.from), to: copied(edge.to), data: edge.data });
    let clone = find_mut(&mut state.graphs, copy)?;
    clone.edges = edges.collect();
    clone.copies = copies;
    Ok(copy)
}

/// Adds edges between nodes of a graph. One that would close a circle is refused.
pub(crate) fn add_edges(state: &mut State, graph: Handle, edges: &[Edge]) -> Result {
    for edge in edges {
        check_nodes(state, graph, [edge.from, edge.to])?;
        let is_there = find_own(state, graph)?.edges.iter().any(|known| (known.from, known.to) == (edge.from, edge.to));
        if is_there || ancestors(state, graph, [edge.from]).contains(&edge.to) {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        find_mut(&mut state.graphs, graph)?.edges.push(*edge);
    }
    Ok(())
}

pub(crate) fn remove_edges(state: &mut State, graph: Handle, edges: &[Edge]) -> Result {
    find_own(state, graph)?;
    let known = &mut find_mut(&mut state.graphs, graph)?.edges;
    for edge in edges {
        let place = known.iter().position(|known| known == edge).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        known.remove(place);
    }
    Ok(())
}

pub(crate) fn destroy_node(state: &mut State, node: Handle) -> Result {
    let found = state.nodes.get(&node).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    if launch::is_device_updatable(&found.attributes) {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    let (graph, kind) = (found.graph, found.kind.clone());
    if find(&state.graphs, graph)?.is_capturing {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    state.nodes.remove(&node);
    let graph = find_mut(&mut state.graphs, graph)?;
    graph.nodes.retain(|known| *known != node);
    graph.edges.retain(|edge| edge.from != node && edge.to != node);
    if let Kind::Child(child) = kind {
        let references = remove(state, child);
        user_object::drop_all(state, references);
    }
    Ok(())
}

/// The nodes themselves, and all that they come after.
pub(crate) fn ancestors(state: &State, graph: Handle, nodes: impl IntoIterator<Item = Handle>) -> BTreeSet<Handle> {
    let mut found: BTreeSet<Handle> = BTreeSet::new();
    let mut open: Vec<Handle> = nodes.into_iter().collect();
    let edges = state.graphs.get(&graph).map(|graph| graph.edges.as_slice()).unwrap_or_default();
    while let Some(node) = open.pop() {
        if found.insert(node) {
            open.extend(edges.iter().filter(|edge| edge.to == node).map(|edge| edge.from));
        }
    }
    found
}
