//! Graphs: nodes that depend on each other, made by hand or by [capture](crate::capture), run as a whole.
//!
//! ```no_run
//! # fn f(kernel: &cuda_hostfn::Kernel<(u64,)>, stream: &cuda_hostfn::Stream) -> cuda_hostfn::Result<()> {
//! use cuda_hostfn::attribute::Cooperative;
//! use cuda_hostfn::{Graph, InstantiateOptions, LaunchConfig, Priority};
//!
//! let graph = Graph::new(kernel.context())?;
//! let config = LaunchConfig::new(16, 128);
//! // SAFETY: the kernel has what it needs whenever the graph runs.
//! let first = unsafe { graph.add_kernel_node(&[], kernel, &config, (0,)) }?;
//! // SAFETY: as above.
//! let second = unsafe { graph.add_kernel_node(&[first.into()], kernel, &config, (0,)) }?;
//!
//! first.set_attribute(Cooperative(true))?;
//! first.set_attribute(kernel.context().priority_range()?.highest())?;
//! let priority: Priority = first.attribute()?;
//! second.copy_attributes_from(first)?;
//!
//! let executable = graph.instantiate(InstantiateOptions::new().use_node_priority(true))?;
//! executable.launch(stream)?;
//! # Ok(()) }
//! ```
//!
//! A graph and its executable graphs are `Send`, not `Sync`: the driver leaves it to the caller that one thread uses
//! one of them at a time. Nodes borrow their graph.
//!
//! ```compile_fail,E0277
//! fn share<T: Sync>(_: T) {}
//! fn f(graph: cuda_hostfn::Graph) {
//!     share(graph);
//! }
//! ```

mod exec;
mod node;

pub use exec::{GraphExec, InstantiateOptions};
pub use node::{KernelNode, Node};

use std::ptr;

use crate::error::call;
use crate::sys::{CUDA_KERNEL_NODE_PARAMS, CUgraph, CUgraphNode, CUgraphNodeType, cuGraphDestroy};
use crate::{Arguments, Context, Error, Kernel, LaunchConfig, Result};

/// A graph. It keeps its context alive. Dropping it leaves its executable graphs intact.
#[derive(Debug)]
pub struct Graph {
    raw: CUgraph,
    context: Context,
}

// SAFETY: a graph may be used by any thread, by one at a time.
unsafe impl Send for Graph {}

impl Graph {
    /// An empty graph (`cuGraphCreate`). Its nodes may belong to any context; `context` is for what the graph as a
    /// whole does.
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn new(context: &Context) -> Result<Self> {
        let mut raw = ptr::null_mut();
        let _entered = context.enter()?;
        // SAFETY: the pointer is valid for a write; the flags must be 0.
        unsafe { call!(cuGraphCreate(&raw mut raw, 0)) }?;
        Ok(Self { raw, context: context.clone() })
    }

    /// Takes over a foreign graph, which is destroyed when the value is dropped.
    ///
    /// # Safety
    ///
    /// `raw` is a graph that nobody else destroys or uses on another thread, and its nodes are such that it may be
    /// launched.
    pub unsafe fn from_raw(context: &Context, raw: CUgraph) -> Self {
        Self { raw, context: context.clone() }
    }

    /// Gives the graph out; the caller destroys it.
    pub fn into_raw(self) -> CUgraph {
        let graph = std::mem::ManuallyDrop::new(self);
        // SAFETY: `graph` is not used or dropped afterwards.
        drop(unsafe { ptr::read(&raw const graph.context) });
        graph.raw
    }

    /// CUDA's handle. It is valid while this value lives.
    pub fn as_raw(&self) -> CUgraph {
        self.raw
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Adds a kernel that runs after `dependencies` (`cuGraphAddKernelNode`). Attributes are set on the node.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the shape breaks a rule or a dependency belongs to another graph; otherwise what the
    /// driver answers.
    ///
    /// # Safety
    ///
    /// As [`Kernel::launch`], for every launch of every executable graph that is made from this one; and the kernel's
    /// module is loaded until the graph and all of those are dropped, also if none is ever launched.
    pub unsafe fn add_kernel_node<A: Arguments>(
        &self,
        dependencies: &[Node<'_>],
        kernel: &Kernel<A>,
        config: &LaunchConfig,
        arguments: A,
    ) -> Result<KernelNode<'_>> {
        if dependencies.iter().any(|node| node.graph().raw != self.raw) {
            return Err(Error::invalid("dependencies", "has a node of another graph"));
        }
        let dependencies: Vec<CUgraphNode> = dependencies.iter().map(|node| node.as_raw()).collect();
        kernel.check_shape(config)?;
        let mut node = ptr::null_mut();
        let mut raw = config.as_node_params(kernel.as_raw());
        let _entered = kernel.context().enter()?;
        arguments.with_pointers(|pointers| {
            raw.kernelParams = pointers;
            let (first, count) = (dependencies.as_ptr(), dependencies.len());
            // SAFETY: the handles live, the parameters are whole, and the kernel's context is current, without which
            // the driver crashes; the caller answers for the kernel.
            unsafe { call!(cuGraphAddKernelNode(&raw mut node, self.raw, first, count, &raw const raw)) }
        })?;
        // SAFETY: just added to this graph.
        Ok(unsafe { KernelNode::from_raw(self, node) })
    }

    /// The kernel nodes, in no particular order (`cuGraphGetNodes`).
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn kernel_nodes(&self) -> Result<Vec<KernelNode<'_>>> {
        let _entered = self.context.enter()?;
        let mut count = 0;
        // SAFETY: the handle lives; NULL asks for the number of nodes.
        unsafe { call!(cuGraphGetNodes(self.raw, ptr::null_mut(), &raw mut count)) }?;
        let mut nodes = vec![ptr::null_mut(); count];
        // SAFETY: the handle lives; there is room for `count` nodes.
        unsafe { call!(cuGraphGetNodes(self.raw, nodes.as_mut_ptr(), &raw mut count)) }?;
        nodes.truncate(count);
        let mut kernels = Vec::new();
        for node in nodes {
            let mut kind = CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY;
            // SAFETY: a node of the graph; the pointer is valid for a write.
            unsafe { call!(cuGraphNodeGetType(node, &raw mut kind)) }?;
            if kind == CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL {
                // SAFETY: a kernel node of this graph.
                kernels.push(unsafe { KernelNode::from_raw(self, node) });
            }
        }
        Ok(kernels)
    }

    /// Makes an executable graph, which is independent of this one from then on (`cuGraphInstantiateWithFlags`).
    ///
    /// # Errors
    ///
    /// What the driver answers, such as `CUDA_ERROR_NOT_SUPPORTED` for the second time with a device-updatable node.
    pub fn instantiate(&self, options: InstantiateOptions) -> Result<GraphExec> {
        GraphExec::new(self, options)
    }
}

impl LaunchConfig {
    fn as_node_params(&self, function: crate::sys::CUfunction) -> CUDA_KERNEL_NODE_PARAMS {
        let (grid, block) = (self.grid(), self.block());
        CUDA_KERNEL_NODE_PARAMS {
            func: function,
            gridDimX: grid.x,
            gridDimY: grid.y,
            gridDimZ: grid.z,
            blockDimX: block.x,
            blockDimY: block.y,
            blockDimZ: block.z,
            sharedMemBytes: self.shared_memory(),
            ..CUDA_KERNEL_NODE_PARAMS::default()
        }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: the value owns the graph. A failure leaves nothing to be done.
        unsafe { self.context.release(cuGraphDestroy, self.raw) };
    }
}
