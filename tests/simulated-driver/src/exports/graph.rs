//! Graphs as wholes: making, copying, and the edges in them.

use std::ffi::{c_char, c_uint};

use cuda_sys::{CUgraphNode, CUresult};

use super::capture::edge_data;
use super::exports;
#[allow(unused_imports, reason = "the header may have it")]
use crate::abi::newer::*;
use crate::abi::{Handle, Result};
use crate::argument::Argument;
use crate::graph::{self, Edge, EdgeData};
use crate::state::{State, lock};
use crate::{dot, node};

exports! {
    [0 Ordinary] fn cuGraphCreate(graph: *mut CUgraph, flags: c_uint) {
        if *flags != 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        graph.required()?;
        graph.write(graph::create(&mut lock()).pointer())
    }

    [0 Ordinary] fn cuGraphDestroy(graph: CUgraph) {
        graph::destroy(&mut lock(), graph.handle())
    }

    [0 Ordinary] fn cuGraphClone(copy: *mut CUgraph, graph: CUgraph) {
        copy.required()?;
        copy.write(graph::clone(&mut lock(), graph.handle())?.pointer())
    }

    [0 Ordinary] fn cuGraphNodeFindInClone(found: *mut CUgraphNode, original: CUgraphNode, copy: CUgraph) {
        let state = lock();
        let copies = &get(&state, copy.handle())?.copies;
        let node = copies.get(&original.handle()).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        found.write(node.pointer())
    }

    [0 Ordinary] fn cuGraphGetNodes(graph: CUgraph, nodes: *mut CUgraphNode, count: *mut usize) {
        let state = lock();
        let found = &get(&state, graph.handle())?.nodes;
        if !nodes.is_null() && count.as_const().read()? == 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        list(nodes, count, found)
    }

    [0 Ordinary] fn cuGraphGetRootNodes(graph: CUgraph, nodes: *mut CUgraphNode, count: *mut usize) {
        let state = lock();
        let graph = get(&state, graph.handle())?;
        let is_root = |node: &Handle| !graph.edges.iter().any(|edge| edge.to == *node);
        list(nodes, count, &graph.nodes.iter().copied().filter(is_root).collect::<Vec<_>>())
    }

    [0 Ordinary renamed] fn cuGraphGetEdges(
        graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, count: *mut usize
    ) {
        let state = lock();
        list_edges(from, to, count, &get(&state, graph.handle())?.edges)
    }

    [12030 Ordinary] fn cuGraphGetEdges_v2(
        graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, data: *mut CUgraphEdgeData, count: *mut usize
    ) {
        let state = lock();
        let edges = &get(&state, graph.handle())?.edges;
        list_data(data, count.as_const(), edges)?;
        list_edges(from, to, count, edges)
    }

    [0 Ordinary renamed] fn cuGraphNodeGetDependencies(
        node: CUgraphNode, dependencies: *mut CUgraphNode, count: *mut usize
    ) {
        let edges = edges_of(node.handle(), |edge, node| edge.to == node)?;
        list(dependencies, count, &edges.iter().map(|edge| edge.from).collect::<Vec<_>>())
    }

    [12030 Ordinary] fn cuGraphNodeGetDependencies_v2(
        node: CUgraphNode, dependencies: *mut CUgraphNode, data: *mut CUgraphEdgeData, count: *mut usize
    ) {
        let edges = edges_of(node.handle(), |edge, node| edge.to == node)?;
        list_data(data, count.as_const(), &edges)?;
        list(dependencies, count, &edges.iter().map(|edge| edge.from).collect::<Vec<_>>())
    }

    [0 Ordinary renamed] fn cuGraphNodeGetDependentNodes(
        node: CUgraphNode, dependents: *mut CUgraphNode, count: *mut usize
    ) {
        let edges = edges_of(node.handle(), |edge, node| edge.from == node)?;
        list(dependents, count, &edges.iter().map(|edge| edge.to).collect::<Vec<_>>())
    }

    [12030 Ordinary] fn cuGraphNodeGetDependentNodes_v2(
        node: CUgraphNode, dependents: *mut CUgraphNode, data: *mut CUgraphEdgeData, count: *mut usize
    ) {
        let edges = edges_of(node.handle(), |edge, node| edge.from == node)?;
        list_data(data, count.as_const(), &edges)?;
        list(dependents, count, &edges.iter().map(|edge| edge.to).collect::<Vec<_>>())
    }

    [0 Ordinary renamed] fn cuGraphAddDependencies(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize
    ) {
        // SAFETY: NULL.
        let data = unsafe { Argument::new(std::ptr::null::<EdgeData>()) };
        graph::add_edges(&mut lock(), graph.handle(), &edges(from, to, data, *count)?)
    }

    [12030 Ordinary] fn cuGraphAddDependencies_v2(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, data: *const CUgraphEdgeData, count: usize
    ) {
        graph::add_edges(&mut lock(), graph.handle(), &edges(from, to, data, *count)?)
    }

    [0 Ordinary renamed] fn cuGraphRemoveDependencies(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize
    ) {
        // SAFETY: NULL.
        let data = unsafe { Argument::new(std::ptr::null::<EdgeData>()) };
        graph::remove_edges(&mut lock(), graph.handle(), &edges(from, to, data, *count)?)
    }

    [12030 Ordinary] fn cuGraphRemoveDependencies_v2(
        graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, data: *const CUgraphEdgeData, count: usize
    ) {
        graph::remove_edges(&mut lock(), graph.handle(), &edges(from, to, data, *count)?)
    }

    [0 Ordinary] fn cuGraphDestroyNode(node: CUgraphNode) {
        graph::destroy_node(&mut lock(), node.handle())
    }

    [0 Ordinary] fn cuGraphDebugDotPrint(graph: CUgraph, path: *const c_char, _flags: c_uint) {
        let text = {
            let state = lock();
            get(&state, graph.handle())?;
            dot::of(&state, graph.handle())
        };
        let path = path.text()?.to_str().map_err(|_| CUresult::CUDA_ERROR_INVALID_VALUE)?;
        std::fs::write(path, text).map_err(|_| CUresult::CUDA_ERROR_OPERATING_SYSTEM)
    }
}

fn get(state: &State, graph: Handle) -> Result<&graph::Graph> {
    state.graphs.get(&graph).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
}

fn edges_of(node: Handle, is_wanted: impl Fn(&Edge, Handle) -> bool) -> Result<Vec<Edge>> {
    let state = lock();
    let graph = get(&state, node::get(&state, node)?.graph)?;
    Ok(graph.edges.iter().filter(|edge| is_wanted(edge, node)).copied().collect())
}

/// Gives the number of nodes, or as many nodes as there is room for; the rest of the room is set to NULL.
fn list(nodes: Argument<*mut CUgraphNode>, count: Argument<*mut usize>, found: &[Handle]) -> Result {
    let room = count.as_const().read()?;
    if !nodes.is_null() {
        let found: Vec<CUgraphNode> = found.iter().map(|node| node.pointer()).collect();
        nodes.write_all(&found, room, std::ptr::null_mut());
    }
    count.write(if nodes.is_null() { found.len() } else { found.len().min(room) })
}

fn list_edges(
    from: Argument<*mut CUgraphNode>,
    to: Argument<*mut CUgraphNode>,
    count: Argument<*mut usize>,
    edges: &[Edge],
) -> Result {
    if from.is_null() != to.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let room = count.as_const().read()?;
    list(from, count, &edges.iter().map(|edge| edge.from).collect::<Vec<_>>())?;
    count.write(room)?;
    list(to, count, &edges.iter().map(|edge| edge.to).collect::<Vec<_>>())
}

fn list_data<T>(data: Argument<*mut T>, room: Argument<*const usize>, edges: &[Edge]) -> Result {
    if data.is_null() {
        return Ok(());
    }
    for (index, edge) in edges.iter().take(room.read()?).enumerate() {
        for (at, byte) in edge.data.into_iter().enumerate() {
            data.element(index).write_byte(at, byte)?;
        }
    }
    Ok(())
}

fn edges<T>(
    from: Argument<*const CUgraphNode>,
    to: Argument<*const CUgraphNode>,
    data: Argument<*const T>,
    count: usize,
) -> Result<Vec<Edge>> {
    let pairs = from.slice(count).iter().zip(to.slice(count)).enumerate();
    let edge = |(index, (from, to)): (usize, (&CUgraphNode, &CUgraphNode))| {
        let data = if data.is_null() { EdgeData::default() } else { edge_data(data.element(index))? };
        Ok(Edge { from: Handle::of(*from), to: Handle::of(*to), data })
    };
    pairs.map(edge).collect()
}
