//! Nodes of graphs: their parameters and attributes.

use cuda_sys::CUresult;

use crate::abi::{Handle, Result};
use crate::attributes::{self, Attributes, Written};
use crate::context;
use crate::graph::{Kind, Node};
use crate::kernels::Launch;
use crate::launch::{self, CLUSTER, DEVICE_NODE_AT, DEVICE_UPDATABLE, Request};
use crate::record::Surface;
use crate::state::{State, find, find_mut};

/// A node of any kind.
pub(crate) fn get(state: &State, node: Handle) -> Result<&Node> {
    state.nodes.get(&node).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
}

/// A kernel node, and what it launches.
pub(crate) fn kernel(state: &State, node: Handle) -> Result<(&Node, &Launch)> {
    match state.nodes.get(&node) {
        Some(found @ Node { kind: Kind::Kernel(launch), .. }) => Ok((found, launch)),
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
}

/// What a kernel node is made of. Without a current context, a real driver crashes here.
pub(crate) fn new_kernel(state: &State, request: &Request<'_>) -> Result<Kind> {
    context::current(state)?;
    launch::prepare(state, request).map(Kind::Kernel)
}

/// Addresses of a kernel node's parameters, as an array of the driver's.
pub(crate) fn show_parameters(state: &mut State, node: Handle) -> Result<*const usize> {
    let (_, launch) = kernel(state, node)?;
    let shown = launch.parameters.iter().map(|value| value.as_ptr().expose_provenance()).collect();
    let node = find_mut(&mut state.nodes, node)?;
    node.shown_parameters = shown;
    Ok(if node.shown_parameters.is_empty() { std::ptr::null() } else { node.shown_parameters.as_ptr() })
}

/// Replaces what a kernel node launches. Its attributes stay, and have to fit.
pub(crate) fn set_kernel(state: &mut State, node: Handle, request: &Request<'_>) -> Result {
    let launch = launch::prepare(state, request)?;
    let function = find(&state.functions, request.function)?;
    let attributes = &kernel(state, node)?.0.attributes;
    launch::check(function, request.shape, attributes).map_err(|refusal| refusal.code)?;
    find_mut(&mut state.nodes, node)?.kind = Kind::Kernel(launch);
    Ok(())
}

/// Replaces what a node does by something of the same kind.
pub(crate) fn set(state: &mut State, node: Handle, kind: Kind) -> Result {
    if get(state, node)?.kind.node_type() != kind.node_type() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    find_mut(&mut state.nodes, node)?.kind = kind;
    Ok(())
}

pub(crate) fn attribute(state: &State, node: Handle, id: u32) -> Result<Written> {
    let (node, _) = kernel(state, node)?;
    let surface = if node.is_captured { Surface::CapturedNodeGet } else { Surface::NodeGet };
    attributes::get(surface, id, &node.attributes)
}

/// Sets an attribute. The answer is the device's handle of a node that became device-updatable.
pub(crate) fn set_attribute(state: &mut State, node: Handle, id: u32, value: &[u8]) -> Result<Option<u64>> {
    let (found, launch) = kernel(state, node)?;
    let mut changed = found.attributes.clone();
    if id == DEVICE_UPDATABLE && launch::is_device_updatable(&changed) {
        return set_updatable_again(&changed, value);
    }
    if id == CLUSTER {
        attributes::refuse_id(Surface::NodeSet, id)?;
        changed.insert(id, value[..12].to_vec());
    } else {
        attributes::set(Surface::NodeSet, id, value, &mut changed)?;
    }
    let function = find(&state.functions, launch.function)?;
    launch::check(function, launch.shape, &changed).map_err(|refusal| refusal.code)?;
    let device_node = (id == DEVICE_UPDATABLE).then(|| launch::assign_device_node(state, &mut changed)).flatten();
    find_mut(&mut state.nodes, node)?.attributes = changed;
    Ok(device_node)
}

/// A node stays device-updatable, and keeps its handle.
fn set_updatable_again(attributes: &Attributes, value: &[u8]) -> Result<Option<u64>> {
    let word = |bytes: &[u8], at: usize| bytes[at..].first_chunk().copied().map_or(0, u64::from_le_bytes);
    let handle = attributes.get(&DEVICE_UPDATABLE).map_or(0, |stored| word(stored, DEVICE_NODE_AT));
    let given = word(value, DEVICE_NODE_AT);
    match value[0] {
        0 => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
        1 if given == 0 || given == handle => Ok(Some(handle)),
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
}

pub(crate) fn copy_attributes(state: &mut State, to: Handle, from: Handle) -> Result {
    let copied = kernel(state, from)?.0.attributes.clone();
    let (node, launch) = kernel(state, to)?;
    if launch::is_device_updatable(&copied) || launch::is_device_updatable(&node.attributes) {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    let function = find(&state.functions, launch.function)?;
    launch::check(function, launch.shape, &copied).map_err(|_| CUresult::CUDA_ERROR_INVALID_VALUE)?;
    find_mut(&mut state.nodes, to)?.attributes = copied;
    Ok(())
}
