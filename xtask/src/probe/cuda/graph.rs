//! Graphs, and the attributes of their kernel nodes.

use std::marker::PhantomData;
use std::ptr;

use cuda_sys::{
    CUDA_KERNEL_NODE_PARAMS, CUgraph, CUgraphNode, CUgraphNodeType, CUlaunchAttributeID, cuGraphAddKernelNode,
    cuGraphCreate, cuGraphDestroy, cuGraphGetNodes, cuGraphKernelNodeGetAttribute, cuGraphKernelNodeSetAttribute,
    cuGraphNodeGetType,
};

use super::attribute::{self, Attribute};
use super::context::Context;
use super::kernel::{Kernel, THREADS};
use super::status::{Failed, Status, check};

#[derive(Debug)]
pub(crate) struct Graph<'context> {
    handle: CUgraph,
    context: PhantomData<&'context Context>,
}

impl<'context> Graph<'context> {
    pub(crate) fn new(context: &'context Context) -> Result<Self, Failed> {
        let mut handle: CUgraph = ptr::null_mut();
        // SAFETY: the pointer is valid for the call, and no flags are defined.
        check("cuGraphCreate", unsafe { cuGraphCreate(&raw mut handle, 0) })?;
        // SAFETY: made above, and not destroyed.
        Ok(unsafe { Self::from_raw(context, handle) })
    }

    /// # Safety
    ///
    /// The graph is alive and the caller's, who leaves destroying it to this.
    pub(super) unsafe fn from_raw(_: &'context Context, handle: CUgraph) -> Self {
        Self { handle, context: PhantomData }
    }

    /// Needs a current context: without one, drivers have been seen to crash here.
    pub(crate) fn add_kernel(&self, kernel: Kernel<'_>, blocks: u32) -> Result<Node<'_>, Failed> {
        let parameters = CUDA_KERNEL_NODE_PARAMS {
            func: kernel.function(),
            gridDimX: blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: THREADS,
            blockDimY: 1,
            blockDimZ: 1,
            ..Default::default()
        };
        let mut node: CUgraphNode = ptr::null_mut();
        // SAFETY: the graph and the function are alive, the function takes no parameters, there are no dependencies.
        check("cuGraphAddKernelNode", unsafe {
            cuGraphAddKernelNode(&raw mut node, self.handle, ptr::null(), 0, &raw const parameters)
        })?;
        Ok(Node { handle: node, graph: PhantomData })
    }

    /// The last node that launches a kernel.
    pub(crate) fn kernel_node(&self) -> Option<Node<'_>> {
        let mut nodes: [CUgraphNode; 8] = [ptr::null_mut(); 8];
        let mut count = nodes.len();
        // SAFETY: the graph is alive, and `nodes` has room for `count` nodes.
        let result = unsafe { cuGraphGetNodes(self.handle, nodes.as_mut_ptr(), &raw mut count) };
        if !Status::from(result).is_success() {
            return None;
        }
        let nodes = nodes.into_iter().take(count).map(|handle| Node { handle, graph: PhantomData });
        nodes.filter(|node| node.is_kernel()).last()
    }
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        // SAFETY: the graph is this value's alone; nodes borrow it.
        let _: Status = unsafe { cuGraphDestroy(self.handle) }.into();
    }
}

/// A node of a graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'graph> {
    handle: CUgraphNode,
    graph: PhantomData<&'graph Graph<'graph>>,
}

impl Node<'_> {
    fn is_kernel(self) -> bool {
        let mut kind = CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY;
        // SAFETY: the node's graph is alive, the pointer valid for the call.
        let result = unsafe { cuGraphNodeGetType(self.handle, &raw mut kind) };
        Status::from(result).is_success() && kind == CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL
    }

    pub(crate) fn set(self, attribute: Attribute) -> Status {
        // Writable, whatever the signature says: the driver puts a device node's handle into it.
        let mut value = attribute::lower(attribute.value);
        // SAFETY: the node's graph is alive, and the value has the 64 bytes that every attribute has. It may be wrong
        // on purpose: a driver that crashes at it ends this process alone.
        unsafe { cuGraphKernelNodeSetAttribute(self.handle, CUlaunchAttributeID(attribute.id), &raw mut value) }.into()
    }

    pub(crate) fn get(self, id: u32) -> (Status, Vec<Option<u8>>) {
        attribute::read(|value| {
            // SAFETY: the node's graph is alive, and `value` has the 64 bytes that every attribute has.
            let result = unsafe { cuGraphKernelNodeGetAttribute(self.handle, CUlaunchAttributeID(id), value) };
            let status = Status::from(result);
            (status, status.is_success())
        })
    }
}
