//! Nodes of graphs.

use cuda_sys::{CUgraphNode, CUgraphNodeType, CUresult};

use super::capture::edges;
use super::exports;
use super::kernel::{request, write_device_node};
#[allow(unused_imports, reason = "the header may have it")]
use crate::abi::newer::*;
use crate::abi::{Handle, Result, UserData};
use crate::argument::Argument;
use crate::attributes::Attributes;
use crate::graph::{self, EdgeData, Kind};
use crate::launch::{Request, Shape};
use crate::state::{State, lock};
use crate::{exec, node};

/// What the parameters of a kernel node ask for; the two versions begin with the same fields.
macro_rules! kernel_request {
    ($state:expr, $parameters:ident) => {{
        let given = $parameters.read()?;
        let shape = Shape {
            grid: [given.gridDimX, given.gridDimY, given.gridDimZ],
            block: [given.blockDimX, given.blockDimY, given.blockDimZ],
            shared_memory: given.sharedMemBytes,
        };
        // SAFETY: the parameters of a node are as good as those of a launch.
        let parameters = unsafe { Argument::new(given.kernelParams) };
        // SAFETY: as above.
        let extra = unsafe { Argument::new(given.extra) };
        request($state, Handle::of(given.func), shape, parameters, extra)
    }};
}

exports! {
    [0 Ordinary renamed] fn cuGraphAddKernelNode(
        node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize,
        parameters: *const CUDA_KERNEL_NODE_PARAMS_v1
    ) {
        let mut state = lock();
        let request = kernel_request!(&state, parameters)?;
        let kind = node::new_kernel(&state, &request)?;
        add(&mut state, node, graph.handle(), dependencies, *count, kind)
    }

    [12000 Ordinary] fn cuGraphAddKernelNode_v2(
        node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize,
        parameters: *const CUDA_KERNEL_NODE_PARAMS_v2
    ) {
        let mut state = lock();
        let request = kernel_request!(&state, parameters)?;
        let kind = node::new_kernel(&state, &request)?;
        add(&mut state, node, graph.handle(), dependencies, *count, kind)
    }

    [0 Ordinary renamed] fn cuGraphKernelNodeSetParams(
        node: CUgraphNode, parameters: *const CUDA_KERNEL_NODE_PARAMS_v1
    ) {
        let mut state = lock();
        let request = kernel_request!(&state, parameters)?;
        node::set_kernel(&mut state, node.handle(), &request)
    }

    [12000 Ordinary] fn cuGraphKernelNodeSetParams_v2(
        node: CUgraphNode, parameters: *const CUDA_KERNEL_NODE_PARAMS_v2
    ) {
        let mut state = lock();
        let request = kernel_request!(&state, parameters)?;
        node::set_kernel(&mut state, node.handle(), &request)
    }

    [0 Ordinary renamed] fn cuGraphExecKernelNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, parameters: *const CUDA_KERNEL_NODE_PARAMS_v1
    ) {
        let mut state = lock();
        let request = kernel_request!(&state, parameters)?;
        exec::set_kernel(&mut state, exec.handle(), node.handle(), &request)
    }

    [12000 Ordinary] fn cuGraphExecKernelNodeSetParams_v2(
        exec: CUgraphExec, node: CUgraphNode, parameters: *const CUDA_KERNEL_NODE_PARAMS_v2
    ) {
        let mut state = lock();
        let request = kernel_request!(&state, parameters)?;
        exec::set_kernel(&mut state, exec.handle(), node.handle(), &request)
    }

    [12000 Ordinary] fn cuGraphKernelNodeGetParams_v2(
        node: CUgraphNode, parameters: *mut CUDA_KERNEL_NODE_PARAMS_v2
    ) {
        let mut state = lock();
        let shown = node::show_parameters(&mut state, node.handle())?;
        let (_, launch) = node::kernel(&state, node.handle())?;
        let Shape { grid, block, shared_memory } = launch.shape;
        parameters.write(CUDA_KERNEL_NODE_PARAMS_v2 {
            func: launch.function.pointer(),
            gridDimX: grid[0],
            gridDimY: grid[1],
            gridDimZ: grid[2],
            blockDimX: block[0],
            blockDimY: block[1],
            blockDimZ: block[2],
            sharedMemBytes: shared_memory,
            kernelParams: shown.cast_mut().cast(),
            extra: std::ptr::null_mut(),
            kern: std::ptr::null_mut(),
            ctx: launch.context.pointer(),
        })
    }

    [0 Ordinary] fn cuGraphAddHostNode(
        node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize,
        parameters: *const CUDA_HOST_NODE_PARAMS
    ) {
        let parameters = parameters.read()?;
        let kind = host(parameters.fn_, parameters.userData)?;
        add(&mut lock(), node, graph.handle(), dependencies, *count, kind)
    }

    [0 Ordinary] fn cuGraphHostNodeGetParams(node: CUgraphNode, parameters: *mut CUDA_HOST_NODE_PARAMS) {
        let state = lock();
        match node::get(&state, node.handle())?.kind {
            Kind::Host { function, data } => {
                parameters.write(CUDA_HOST_NODE_PARAMS { fn_: Some(function), userData: data.0 })
            }
            _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        }
    }

    [0 Ordinary] fn cuGraphHostNodeSetParams(node: CUgraphNode, parameters: *const CUDA_HOST_NODE_PARAMS) {
        let parameters = parameters.read()?;
        node::set(&mut lock(), node.handle(), host(parameters.fn_, parameters.userData)?)
    }

    [0 Ordinary] fn cuGraphExecHostNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, parameters: *const CUDA_HOST_NODE_PARAMS
    ) {
        let parameters = parameters.read()?;
        let kind = host(parameters.fn_, parameters.userData)?;
        exec::set(&mut lock(), exec.handle(), node.handle(), &kind)
    }

    [0 Query] fn cuGraphAddEmptyNode(
        node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize
    ) {
        add(&mut lock(), node, graph.handle(), dependencies, *count, Kind::Empty)
    }

    [0 Ordinary] fn cuGraphAddChildGraphNode(
        node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, child: CUgraph
    ) {
        let mut state = lock();
        let kind = graph::new_child(&mut state, graph.handle(), child.handle())?;
        add(&mut state, node, graph.handle(), dependencies, *count, kind)
    }

    [0 Ordinary] fn cuGraphChildGraphNodeGetGraph(node: CUgraphNode, graph: *mut CUgraph) {
        graph.write(exec::child_of(&lock(), node.handle())?.pointer())
    }

    [0 Ordinary] fn cuGraphAddEventRecordNode(
        node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, event: CUevent
    ) {
        let mut state = lock();
        crate::state::find(&state.events, event.handle())?;
        add(&mut state, node, graph.handle(), dependencies, *count, Kind::RecordEvent(event.handle()))
    }

    [0 Ordinary] fn cuGraphAddEventWaitNode(
        node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize, event: CUevent
    ) {
        let mut state = lock();
        crate::state::find(&state.events, event.handle())?;
        add(&mut state, node, graph.handle(), dependencies, *count, Kind::WaitEvent(event.handle()))
    }

    [12020 Ordinary renamed] fn cuGraphAddNode(
        node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, count: usize,
        parameters: *mut CUgraphNodeParams
    ) {
        // SAFETY: NULL.
        let data = unsafe { Argument::new(std::ptr::null::<EdgeData>()) };
        let after = edges(dependencies, data, *count)?;
        add_any(node, graph.handle(), &after, parameters.as_const())
    }

    [12030 Ordinary] fn cuGraphAddNode_v2(
        node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, data: *const CUgraphEdgeData,
        count: usize, parameters: *mut CUgraphNodeParams
    ) {
        let after = edges(dependencies, data, *count)?;
        add_any(node, graph.handle(), &after, parameters.as_const())
    }

    [12020 Ordinary] fn cuGraphNodeSetParams(node: CUgraphNode, parameters: *mut CUgraphNodeParams) {
        let mut state = lock();
        match any(&state, parameters.as_const())? {
            Any::Kernel(request) => node::set_kernel(&mut state, node.handle(), &request),
            Any::Other(kind) => node::set(&mut state, node.handle(), kind),
            Any::Child(_) => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
        }
    }

    [12020 Ordinary] fn cuGraphExecNodeSetParams(
        exec: CUgraphExec, node: CUgraphNode, parameters: *mut CUgraphNodeParams
    ) {
        let mut state = lock();
        match any(&state, parameters.as_const())? {
            Any::Kernel(request) => exec::set_kernel(&mut state, exec.handle(), node.handle(), &request),
            Any::Other(kind) => exec::set(&mut state, exec.handle(), node.handle(), &kind),
            Any::Child(_) => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
        }
    }

    [0 Ordinary] fn cuGraphNodeGetType(node: CUgraphNode, kind: *mut CUgraphNodeType) {
        kind.write(node::get(&lock(), node.handle())?.kind.node_type())
    }

    [0 Ordinary] fn cuGraphKernelNodeGetAttribute(
        node: CUgraphNode, id: CUkernelNodeAttrID, value: *mut CUkernelNodeAttrValue
    ) {
        super::stream::write(value, &node::attribute(&lock(), node.handle(), id.0)?)
    }

    [0 Ordinary] fn cuGraphKernelNodeSetAttribute(
        node: CUgraphNode, id: CUkernelNodeAttrID, value: *const CUkernelNodeAttrValue
    ) {
        if let Some(device_node) = node::set_attribute(&mut lock(), node.handle(), id.0, value.bytes()?)? {
            // The signature says `const`; the driver writes all the same.
            write_device_node(value.as_mut(), 0, device_node)?;
        }
        Ok(())
    }

    [0 Ordinary] fn cuGraphKernelNodeCopyAttributes(to: CUgraphNode, from: CUgraphNode) {
        node::copy_attributes(&mut lock(), to.handle(), from.handle())
    }
}

fn host(function: cuda_sys::CUhostFn, data: *mut std::ffi::c_void) -> Result<Kind> {
    let function = function.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    Ok(Kind::Host { function, data: UserData(data) })
}

/// What `CUgraphNodeParams` asks for.
enum Any {
    Kernel(Request<'static>),
    Child(Handle),
    Other(Kind),
}

/// Reads parameters of any kind: the node's type, and from the sixteenth byte on the parameters of that type, which
/// begin as those of the older functions do.
fn any<T>(state: &State, given: Argument<*const T>) -> Result<Any> {
    const PARAMETERS_AT: usize = 16;
    match given.part::<CUgraphNodeType>(0).read()? {
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL => {
            let parameters = given.part::<cuda_sys::CUDA_KERNEL_NODE_PARAMS_v1>(PARAMETERS_AT);
            kernel_request!(state, parameters).map(Any::Kernel)
        }
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST => {
            let parameters = given.part::<cuda_sys::CUDA_HOST_NODE_PARAMS>(PARAMETERS_AT).read()?;
            host(parameters.fn_, parameters.userData).map(Any::Other)
        }
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH => {
            given.part::<cuda_sys::CUgraph>(PARAMETERS_AT).read().map(|child| Any::Child(Handle::of(child)))
        }
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY => Ok(Any::Other(Kind::Empty)),
        // The others are not simulated.
        _ => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
    }
}

fn add_any<T>(
    node: Argument<*mut CUgraphNode>,
    graph: Handle,
    after: &[(Handle, EdgeData)],
    parameters: Argument<*const T>,
) -> Result {
    node.required()?;
    let mut state = lock();
    let kind = match any(&state, parameters)? {
        Any::Kernel(request) => node::new_kernel(&state, &request)?,
        Any::Other(kind) => kind,
        Any::Child(child) => graph::new_child(&mut state, graph, child)?,
    };
    node.write(graph::add(&mut state, graph, kind, Attributes::new(), after, false)?.pointer())
}

fn add(
    state: &mut State,
    node: Argument<*mut CUgraphNode>,
    graph: Handle,
    dependencies: Argument<*const CUgraphNode>,
    count: usize,
    kind: Kind,
) -> Result {
    node.required()?;
    // SAFETY: NULL.
    let data = unsafe { Argument::new(std::ptr::null::<EdgeData>()) };
    let after = edges(dependencies, data, count)?;
    node.write(graph::add(state, graph, kind, Attributes::new(), &after, false)?.pointer())
}
