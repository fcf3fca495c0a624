//! The calls about graphs that are not the same in all versions of CUDA, or that fill arrays.
//!
//! All of them: the handles live, and the context is current.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use crate::entry::EdgeData;
use crate::error::{Error, call};
use crate::host::SyncMode;
use crate::sys::{
    CUDA_HOST_NODE_PARAMS, CUcontext, CUgraph, CUgraphExec, CUgraphExecUpdateResult, CUgraphNode, CUgraphNodeType,
    CUhostFn, CUresult,
};
use crate::{Result, entry};

/// `CUgraphNodeParams` of a host node, as headers since 13.2 have it.
#[repr(C)]
struct HostNodeParams {
    kind: CUgraphNodeType,
    reserved: [c_int; 3],
    function: CUhostFn,
    data: *mut c_void,
    sync_mode: c_uint,
    context: CUcontext,
    unused: [u64; 26],
}

const _: () = assert!(size_of::<HostNodeParams>() == 256, "as large as CUgraphNodeParams");

/// Adds a host node. The older function does for what it can, since all drivers have it.
pub(super) unsafe fn add_host_node(
    graph: CUgraph,
    dependencies: &[CUgraphNode],
    function: CUhostFn,
    data: *mut c_void,
    mode: SyncMode,
) -> Result<CUgraphNode> {
    let mut node = ptr::null_mut();
    let (first, count) = (dependencies.as_ptr(), dependencies.len());
    match mode {
        SyncMode::Blocking => {
            let parameters = CUDA_HOST_NODE_PARAMS { fn_: function, userData: data };
            // SAFETY: the caller's promise; the parameters are whole.
            unsafe { call!(cuGraphAddHostNode(&raw mut node, graph, first, count, &raw const parameters)) }?;
        }
        SyncMode::SpinWait => {
            let mut parameters = HostNodeParams {
                kind: CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST,
                reserved: [0; 3],
                function,
                data,
                sync_mode: mode.number(),
                context: ptr::null_mut(),
                unused: [0; 26],
            };
            let (edges, parameters) = (ptr::null(), (&raw mut parameters).cast());
            // SAFETY: as above.
            unsafe { call!(entry::cuGraphAddNode_v2(&raw mut node, graph, first, edges, count, parameters)) }?;
        }
    }
    Ok(node)
}

/// Which of a node's neighbours.
#[derive(Clone, Copy, Debug)]
pub(super) enum Neighbours {
    Dependencies,
    Dependents,
}

/// A node's neighbours, whatever the edges to them are like: only the newer functions tell of those that are not plain.
pub(super) unsafe fn neighbours(node: CUgraphNode, which: Neighbours) -> Result<Vec<CUgraphNode>> {
    list(|nodes, edges, count| {
        let newer = match which {
            // SAFETY: the caller's promise, and `list`'s.
            Neighbours::Dependencies => unsafe {
                call!(entry::cuGraphNodeGetDependencies_v2(node, nodes, edges, count))
            },
            // SAFETY: as above.
            Neighbours::Dependents => unsafe {
                call!(entry::cuGraphNodeGetDependentNodes_v2(node, nodes, edges, count))
            },
        };
        match (newer, which) {
            // SAFETY: as above.
            (Err(Error::MissingFunction(_)), Neighbours::Dependencies) => unsafe {
                call!(entry::cuGraphNodeGetDependencies(node, nodes, count))
            },
            // SAFETY: as above.
            (Err(Error::MissingFunction(_)), Neighbours::Dependents) => unsafe {
                call!(entry::cuGraphNodeGetDependentNodes(node, nodes, count))
            },
            (result, _) => result,
        }
    })
}

/// A graph's edges, whatever they are like.
pub(super) unsafe fn edges(graph: CUgraph) -> Result<Vec<(CUgraphNode, CUgraphNode)>> {
    let get = |from: *mut CUgraphNode, to: *mut CUgraphNode, edges: *mut EdgeData, count: *mut usize| {
        // SAFETY: the caller's promise; below, each array has room for as many, or is NULL.
        match unsafe { call!(entry::cuGraphGetEdges_v2(graph, from, to, edges, count)) } {
            // SAFETY: as above.
            Err(Error::MissingFunction(_)) => unsafe { call!(entry::cuGraphGetEdges(graph, from, to, count)) },
            result => result,
        }
    };
    let mut count = 0;
    get(ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), &raw mut count)?;
    let (mut from, mut edges) = (vec![ptr::null_mut(); count], vec![EdgeData::default(); count]);
    let mut to = from.clone();
    if count > 0 {
        get(from.as_mut_ptr(), to.as_mut_ptr(), edges.as_mut_ptr(), &raw mut count)?;
    }
    Ok(from.into_iter().zip(to).take(count).collect())
}

/// Asks how many nodes there are, and then for them. `get` is given arrays with room for `count` of them, or NULL.
pub(super) fn list(
    mut get: impl FnMut(*mut CUgraphNode, *mut EdgeData, *mut usize) -> Result<()>,
) -> Result<Vec<CUgraphNode>> {
    let mut count = 0;
    get(ptr::null_mut(), ptr::null_mut(), &raw mut count)?;
    let (mut nodes, mut edges) = (vec![ptr::null_mut(); count], vec![EdgeData::default(); count]);
    if count > 0 {
        get(nodes.as_mut_ptr(), edges.as_mut_ptr(), &raw mut count)?;
        nodes.truncate(count);
    }
    Ok(nodes)
}

/// Why an executable graph cannot be updated, and the node at fault.
pub(super) struct Refused {
    pub(super) why: CUgraphExecUpdateResult,
    pub(super) node: CUgraphNode,
}

/// Updates an executable graph; the driver's refusal is no error here.
pub(super) unsafe fn update(exec: CUgraphExec, graph: CUgraph) -> Result<Option<Refused>> {
    let why = CUgraphExecUpdateResult(0);
    let mut told = entry::UpdateResult { result: why, node: ptr::null_mut(), from: ptr::null_mut() };
    // SAFETY: the caller's promise; the result is as large as the driver's.
    let result = match unsafe { call!(entry::cuGraphExecUpdate_v2(exec, graph, &raw mut told)) } {
        Err(Error::MissingFunction(_)) => {
            let (node, result) = (&raw mut told.node, &raw mut told.result);
            // SAFETY: as above.
            unsafe { call!(entry::cuGraphExecUpdate(exec, graph, node, result)) }
        }
        result => result,
    };
    match result {
        Ok(()) => Ok(None),
        Err(error) if error.code() == Some(CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) => {
            Ok(Some(Refused { why: told.result, node: told.node }))
        }
        Err(error) => Err(error),
    }
}
