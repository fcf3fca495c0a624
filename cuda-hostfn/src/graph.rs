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
//! let between = graph.add_host_node(&[first.into()], || println!("the first kernel is done"))?;
//! // SAFETY: as above.
//! let second = unsafe { graph.add_kernel_node(&[between.into()], kernel, &config, (0,)) }?;
//!
//! first.set_attribute(Cooperative(true))?;
//! first.set_attribute(kernel.context().priority_range()?.highest())?;
//! let priority: Priority = first.attribute()?;
//! second.copy_attributes_from(first)?;
//!
//! let mut executable = graph.instantiate(InstantiateOptions::new().use_node_priority(true))?;
//! executable.launch(stream)?;
//! executable.replace_host_node(between, || println!("from the second launch on"))?;
//! executable.launch(stream)?;
//! # Ok(()) }
//! ```
//!
//! # Who owns the closures
//!
//! A closure belongs to the graph that it was added to or captured into, and to everything that is made from that: clones,
//! parents that have it as a child, executable graphs, and launches that are not done. Each may go first, also while it
//! runs. When the last is gone, an ordinary thread drops the closure ([`host`](crate::host) says where), never the driver's:
//! CUDA's user objects tell when. A closure that is [replaced](HostNode::replace) goes when nothing that was made before
//! needs it any more; one that is replaced [in an executable graph](GraphExec::replace_host_node) stays for launches that are
//! pending.
//!
//! **A closure is never called twice at once**, although its graph may run in several streams at once, as several
//! executable graphs: it has a lock, which is held while it runs. That costs some ten nanoseconds a call. It can block another
//! call of the same closure, and with it the driver's thread, and so all host functions, and nothing else; drivers that call
//! all host functions on one thread never come to that.
//!
//! A closure that panics is [reported](crate::host::set_panic_handler) each time, and counted; the graph goes on, and stays
//! usable.
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

mod calls;
mod child;
mod dot;
mod edges;
mod exec;
mod host_node;
mod kernel_node;
mod node;
mod options;
mod update;

pub use child::{ChildGraph, ChildGraphNode};
pub use exec::GraphExec;
pub use host_node::HostNode;
pub use kernel_node::KernelNode;
pub use node::Node;
pub use options::InstantiateOptions;
pub use update::{UpdateError, UpdateRefusal};

use std::ptr;

use crate::error::call;
use crate::sys::{CUgraph, cuGraphDestroy};
use crate::{Context, Result};

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

    /// A copy, with the closures of this graph, which it owns as well (`cuGraphClone`).
    ///
    /// # Errors
    ///
    /// What the driver answers, such as `CUDA_ERROR_NOT_SUPPORTED` for a graph with a device-updatable node.
    pub fn try_clone(&self) -> Result<Self> {
        let mut raw = ptr::null_mut();
        let _entered = self.context.enter()?;
        // SAFETY: the handle lives; the pointer is valid for a write.
        let result = unsafe { call!(cuGraphClone(&raw mut raw, self.raw)) };
        // SAFETY: what the driver gives is the caller's.
        unsafe { Self::given(&self.context, raw, result) }
    }

    /// The node of this graph that became a copy of `original` when this graph was [cloned](Self::try_clone) from the
    /// other's graph (`cuGraphNodeFindInClone`).
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_VALUE` if there is none.
    pub fn find_in_clone(&self, original: Node<'_>) -> Result<Node<'_>> {
        let mut node = ptr::null_mut();
        let _entered = self.context.enter()?;
        // SAFETY: the handles live; the pointer is valid for a write.
        unsafe { call!(cuGraphNodeFindInClone(&raw mut node, original.as_raw(), self.raw)) }?;
        Ok(Node::new(self, node))
    }

    /// What came of a call that makes a graph. One that the driver gives although it reports an error, such as that of
    /// earlier work, is not left behind.
    ///
    /// # Safety
    ///
    /// `raw` is NULL, or a graph that nobody else destroys.
    pub(crate) unsafe fn given(context: &Context, raw: CUgraph, result: Result<()>) -> Result<Self> {
        // SAFETY: the caller's promise.
        let graph = (!raw.is_null()).then(|| unsafe { Self::from_raw(context, raw) });
        result?;
        graph.ok_or_else(|| crate::Error::unknown("CUgraph", 0))
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

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: the value owns the graph. A failure leaves nothing to be done.
        unsafe { self.context.release(cuGraphDestroy, self.raw) };
    }
}
