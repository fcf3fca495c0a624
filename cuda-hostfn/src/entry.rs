//! Driver functions that are asked for by name: their documented name means different signatures in different headers,
//! or old headers lack them. And which CUDA version brought the functions that old drivers lack.

use std::ffi::{CStr, c_float, c_uint, c_ulonglong, c_void};

use crate::CudaVersion;
use crate::sys::driver::Symbol;
use crate::sys::{
    CUcontext, CUevent, CUfunction, CUgraph, CUgraphExec, CUgraphExecUpdateResult, CUgraphNode, CUhostFn, CUresult,
    CUstream, CUstreamBatchMemOpParams, CUstreamCaptureStatus,
};

macro_rules! by_name {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?);)*) => {$(
        #[expect(non_snake_case, reason = "CUDA's name")]
        pub(crate) unsafe fn $name($($argument: $type),*) -> CUresult {
            static SYMBOL: Symbol =
                Symbol::new(match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => unreachable!(),
                });
            let address = match SYMBOL.get() {
                Ok(address) => address.as_ptr(),
                Err(code) => return code,
            };
            // SAFETY: the driver exports this name with this signature in every version that has it.
            let function = unsafe {
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> CUresult>(address)
            };
            // SAFETY: the caller keeps the rules of the driver's function.
            unsafe { function($($argument),*) }
        }
    )*};
}

by_name! {
    fn cuGraphInstantiateWithFlags(exec: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong);
    fn cuFuncGetParamInfo(function: CUfunction, index: usize, offset: *mut usize, size: *mut usize);
    fn cuCtxGetId(context: CUcontext, id: *mut c_ulonglong);
    fn cuStreamGetId(stream: CUstream, id: *mut c_ulonglong);
    fn cuStreamBatchMemOp_v2(
        stream: CUstream, count: c_uint, operations: *mut CUstreamBatchMemOpParams, flags: c_uint,
    );
    fn cuLaunchHostFunc_v2(stream: CUstream, function: CUhostFn, data: *mut c_void, sync_mode: c_uint);
    fn cuStreamGetCaptureInfo_v2(
        stream: CUstream, status: *mut CUstreamCaptureStatus, id: *mut c_ulonglong, graph: *mut CUgraph,
        dependencies: *mut *const CUgraphNode, count: *mut usize,
    );
    fn cuStreamGetCaptureInfo_v3(
        stream: CUstream, status: *mut CUstreamCaptureStatus, id: *mut c_ulonglong, graph: *mut CUgraph,
        dependencies: *mut *const CUgraphNode, edges: *mut *const c_void, count: *mut usize,
    );
    fn cuEventElapsedTime(milliseconds: *mut c_float, start: CUevent, end: CUevent);
    fn cuGraphAddNode_v2(
        node: *mut CUgraphNode, graph: CUgraph, dependencies: *const CUgraphNode, edges: *const EdgeData, count: usize,
        parameters: *mut c_void,
    );
    fn cuGraphAddDependencies(graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize);
    fn cuGraphRemoveDependencies(graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize);
    fn cuGraphGetEdges(graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, count: *mut usize);
    fn cuGraphGetEdges_v2(
        graph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, edges: *mut EdgeData, count: *mut usize,
    );
    fn cuGraphNodeGetDependencies(node: CUgraphNode, nodes: *mut CUgraphNode, count: *mut usize);
    fn cuGraphNodeGetDependencies_v2(
        node: CUgraphNode, nodes: *mut CUgraphNode, edges: *mut EdgeData, count: *mut usize,
    );
    fn cuGraphNodeGetDependentNodes(node: CUgraphNode, nodes: *mut CUgraphNode, count: *mut usize);
    fn cuGraphNodeGetDependentNodes_v2(
        node: CUgraphNode, nodes: *mut CUgraphNode, edges: *mut EdgeData, count: *mut usize,
    );
    fn cuGraphExecUpdate(
        exec: CUgraphExec, graph: CUgraph, node: *mut CUgraphNode, result: *mut CUgraphExecUpdateResult,
    );
    fn cuGraphExecUpdate_v2(exec: CUgraphExec, graph: CUgraph, result: *mut UpdateResult);
}

/// As large as `CUgraphEdgeData`, which headers before 12.3 lack.
pub(crate) type EdgeData = [u8; 8];

/// `CUgraphExecUpdateResultInfo`, which headers before 12.0 lack.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct UpdateResult {
    pub(crate) result: CUgraphExecUpdateResult,
    pub(crate) node: CUgraphNode,
    pub(crate) from: CUgraphNode,
}

/// Tells a context from another that was made later at the same address; `None` where the driver cannot (before 12.0).
pub(crate) fn context_id(context: CUcontext) -> Option<u64> {
    let mut id = 0;
    // SAFETY: a context, which the driver compares with those it has; the pointer is valid for a write.
    let code = unsafe { cuCtxGetId(context, &raw mut id) };
    crate::error::check("cuCtxGetId", code).is_ok().then_some(id)
}

/// The first CUDA version with a function, of those that this crate cannot do without and that some driver since 11.0
/// lacks.
pub(crate) fn since(function: &str) -> Option<CudaVersion> {
    Some(match function {
        "cuGraphInstantiateWithFlags" => CudaVersion::new(11, 4),
        "cuStreamBatchMemOp_v2" => CudaVersion::new(11, 7),
        "cuLaunchKernelEx" => CudaVersion::new(11, 8),
        "cuGraphAddKernelNode" => CudaVersion::new(12, 0),
        "cuStreamGetId" => CudaVersion::new(12, 0),
        "cuLaunchHostFunc_v2" => CudaVersion::new(13, 2),
        _ => return None,
    })
}
