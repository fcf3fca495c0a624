//! Executable graphs: a graph's work, laid out once and run many times.

use std::collections::BTreeMap;
use std::sync::Arc;

use cuda_sys::CUresult;

use crate::abi::{Handle, Result};
use crate::context;
use crate::graph::{Kind, Node};
use crate::launch::{self, Request};
use crate::state::{State, find};
use crate::stream::{self, Enqueued};
use crate::user_object::{self, References};
use crate::work::{Phase, Run, Task, Work};

/// `CUDA_GRAPH_INSTANTIATE_FLAG_…`: all that there are.
const FLAGS: u64 = 0b1111;

/// `CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH`.
const DEVICE_LAUNCH: u64 = 0b100;

#[derive(Debug)]
pub(crate) struct Exec {
    pub(crate) context: Handle,
    pub(crate) flags: u64,
    program: Arc<Program>,
    /// Where the nodes of the graph, and of its child graphs, are in the program.
    places: BTreeMap<Handle, usize>,
    /// Keeps the graph's user objects.
    lease: Handle,
}

/// The work of a graph. A launch keeps the program that it was launched with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) nodes: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) task: Task,
    /// The steps that have to be done before.
    pub(crate) after: Vec<usize>,
    /// The node's type, and whether it is a child graph's begin or end.
    kind: u32,
}

/// A program in the making.
#[derive(Default)]
struct Layout {
    program: Program,
    places: BTreeMap<Handle, usize>,
    references: References,
}

/// The type of the step that ends a child graph; it is no node's.
const END_OF_CHILD: u32 = u32::MAX;

pub(crate) fn instantiate(state: &mut State, graph: Handle, flags: u64) -> Result<Handle> {
    let context = context::current(state)?;
    context::check(state, context)?;
    if flags & !FLAGS != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let layout = lay_out_whole(state, graph)?;
    if flags & DEVICE_LAUNCH != 0 && layout.program.nodes.iter().any(|step| matches!(step.task, Task::Operations(_))) {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    // As documented; the code was not measured.
    let has_host_node = layout.program.nodes.iter().any(|step| matches!(step.task, Task::Host { .. }));
    if flags & DEVICE_LAUNCH != 0 && has_host_node {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    let is_updatable = |node: &Node| launch::is_device_updatable(&node.attributes);
    let has_updatable = layout.places.keys().filter_map(|node| state.nodes.get(node)).any(is_updatable);
    if let Some(graph) = state.graphs.get_mut(&graph) {
        if graph.was_instantiated && has_updatable {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        graph.was_instantiated = true;
    }
    let references = user_object::duplicate(state, &layout.references);
    let lease = user_object::begin_lease(state, references);
    let handle = state.new_handle();
    let exec = Exec { context, flags, program: Arc::new(layout.program), places: layout.places, lease };
    state.execs.insert(handle, exec);
    Ok(handle)
}

fn lay_out_whole(state: &State, graph: Handle) -> Result<Layout> {
    let mut layout = Layout::default();
    lay_out(state, graph, &[], &mut layout)?;
    if layout.program.nodes.is_empty() {
        layout.program.nodes.push(Step { task: Task::Nothing, after: Vec::new(), kind: END_OF_CHILD });
    }
    Ok(layout)
}

/// Appends a graph's nodes, in an order in which they can run, and gives the steps that end it.
fn lay_out(state: &State, graph: Handle, before: &[usize], layout: &mut Layout) -> Result<Vec<usize>> {
    let graph = state.graphs.get(&graph).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    if graph.is_capturing {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    for (object, count) in &graph.user_objects {
        *layout.references.entry(*object).or_default() += count;
    }
    let mut ends: BTreeMap<Handle, usize> = BTreeMap::new();
    let mut open = graph.nodes.clone();
    while !open.is_empty() {
        let dependencies = |node: Handle| graph.edges.iter().filter(move |edge| edge.to == node).map(|edge| edge.from);
        let is_next = |node: &Handle| dependencies(*node).all(|dependency| ends.contains_key(&dependency));
        let next = open.iter().position(is_next).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        let handle = open.remove(next);
        let node = find(&state.nodes, handle)?;
        let mut after: Vec<usize> = dependencies(handle).filter_map(|node| ends.get(&node).copied()).collect();
        if after.is_empty() {
            after = before.to_vec();
        }
        let place = layout.program.nodes.len();
        layout.places.insert(handle, place);
        layout.program.nodes.push(Step { task: node.kind.task(), after, kind: node.kind.node_type().0 });
        let end = match node.kind {
            Kind::Child(child) => {
                let mut after = lay_out(state, child, &[place], layout)?;
                after.push(place);
                layout.program.nodes.push(Step { task: Task::Nothing, after, kind: END_OF_CHILD });
                layout.program.nodes.len() - 1
            }
            _ => place,
        };
        ends.insert(handle, end);
    }
    Ok(ends.into_values().collect())
}

pub(crate) fn destroy(state: &mut State, exec: Handle) -> Result {
    let exec = state.execs.remove(&exec).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    user_object::end_lease(state, exec.lease);
    Ok(())
}

pub(crate) fn destroy_all(state: &mut State, context: Handle) {
    let execs = state.execs.iter().filter(|(_, exec)| exec.context == context).map(|(handle, _)| *handle);
    for exec in execs.collect::<Vec<_>>() {
        let _ = destroy(state, exec);
    }
}

pub(crate) fn get(state: &State, exec: Handle) -> Result<&Exec> {
    state.execs.get(&exec).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
}

fn get_mut(state: &mut State, exec: Handle) -> Result<&mut Exec> {
    state.execs.get_mut(&exec).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
}

pub(crate) fn launch(state: &mut State, exec: Handle, stream: Handle) -> Result {
    let found = get(state, exec)?;
    let (program, lease) = (Arc::clone(&found.program), found.lease);
    stream::forbid_in_capture(state, stream)?;
    let phases = vec![Phase::Waiting; program.nodes.len()];
    user_object::extend_lease(state, lease);
    let work = Work::Graph(Run { exec, program, phases, lease });
    stream::enqueue_work(state, stream, work).map(|Enqueued| ()).inspect_err(|_| user_object::end_lease(state, lease))
}

pub(crate) fn upload(state: &mut State, exec: Handle, stream: Handle) -> Result {
    get(state, exec)?;
    stream::forbid_in_capture(state, stream)?;
    stream::enqueue(state, stream, Task::Nothing).map(|Enqueued| ())
}

/// Whether a graph can take the place of the one that an executable graph was made from, and if not, at which node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    Done,
    TopologyChanged(Handle),
    NodeTypeChanged(Handle),
}

/// Replaces the program by that of another graph of the same shape, and the user objects with it. Those that are no
/// longer held stay until launches that are pending are done.
pub(crate) fn update(state: &mut State, exec: Handle, graph: Handle) -> Result<Update> {
    let layout = lay_out_whole(state, graph)?;
    let (old, new) = (&get(state, exec)?.program.nodes, &layout.program.nodes);
    let node_at =
        |place: usize| layout.places.iter().find(|(_, at)| **at == place).map_or(Handle::NULL, |(node, _)| *node);
    if old.len() != new.len() {
        return Ok(Update::TopologyChanged(Handle::NULL));
    }
    for (place, (old, new)) in old.iter().zip(new).enumerate() {
        if old.kind != new.kind {
            return Ok(Update::NodeTypeChanged(node_at(place)));
        }
        if old.after != new.after {
            return Ok(Update::TopologyChanged(node_at(place)));
        }
    }
    let references = user_object::duplicate(state, &layout.references);
    let lease = user_object::begin_lease(state, references);
    let exec = get_mut(state, exec)?;
    let old = std::mem::replace(&mut exec.lease, lease);
    exec.program = Arc::new(layout.program);
    // The nodes of the first graph keep their places, and those of this one have them too.
    exec.places.extend(layout.places);
    user_object::end_lease(state, old);
    Ok(Update::Done)
}

/// Replaces what a kernel node launches, from the next launch on.
pub(crate) fn set_kernel(state: &mut State, exec: Handle, node: Handle, request: &Request<'_>) -> Result {
    let launch = launch::prepare(state, request)?;
    set(state, exec, node, &Kind::Kernel(launch))
}

/// Replaces what a node does by something of the same kind, from the next launch on.
pub(crate) fn set(state: &mut State, exec: Handle, node: Handle, kind: &Kind) -> Result {
    let exec = get_mut(state, exec)?;
    let place = *exec.places.get(&node).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    let step = Arc::make_mut(&mut exec.program).nodes.get_mut(place).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    if step.kind != kind.node_type().0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    step.task = kind.task();
    Ok(())
}

/// Child graphs of a graph, for looking into them.
pub(crate) fn child_of(state: &State, node: Handle) -> Result<Handle> {
    match state.nodes.get(&node) {
        Some(Node { kind: Kind::Child(child), .. }) => Ok(*child),
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
}
