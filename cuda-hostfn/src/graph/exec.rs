//! Executable graphs.

use std::mem::ManuallyDrop;
use std::ptr;

use super::Graph;
use crate::error::call;
use crate::sys::{CUgraphExec, cuGraphExecDestroy};
use crate::{Context, Result, StreamRef};

/// How a graph is made executable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct InstantiateOptions {
    use_node_priority: bool,
    auto_free_on_launch: bool,
}

impl InstantiateOptions {
    /// Nodes run with the priority of the stream that the graph is launched into.
    pub const fn new() -> Self {
        Self { use_node_priority: false, auto_free_on_launch: false }
    }

    /// Nodes run with their own priorities (`CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY`).
    pub const fn use_node_priority(mut self, yes: bool) -> Self {
        self.use_node_priority = yes;
        self
    }

    /// A launch frees what the graph allocated in the launch before
    /// (`CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`).
    pub const fn auto_free_on_launch(mut self, yes: bool) -> Self {
        self.auto_free_on_launch = yes;
        self
    }

    const fn flags(self) -> u64 {
        let Self { use_node_priority, auto_free_on_launch } = self;
        auto_free_on_launch as u64 | (use_node_priority as u64) << 3
    }
}

/// An executable graph. It keeps its context alive. Dropping it while it runs is fine.
#[derive(Debug)]
pub struct GraphExec {
    raw: CUgraphExec,
    context: Context,
}

// SAFETY: an executable graph may be used by any thread, by one at a time.
unsafe impl Send for GraphExec {}

impl GraphExec {
    pub(super) fn new(graph: &Graph, options: InstantiateOptions) -> Result<Self> {
        let mut raw = ptr::null_mut();
        let _entered = graph.context.enter()?;
        // SAFETY: the handle lives; the pointer is valid for a write.
        unsafe { call!(entry::cuGraphInstantiateWithFlags(&raw mut raw, graph.raw, options.flags())) }?;
        Ok(Self { raw, context: graph.context.clone() })
    }

    /// Takes over a foreign executable graph, which is destroyed when the value is dropped.
    ///
    /// # Safety
    ///
    /// `raw` is an executable graph that nobody else destroys or uses on another thread, and it may be launched.
    pub unsafe fn from_raw(context: &Context, raw: CUgraphExec) -> Self {
        Self { raw, context: context.clone() }
    }

    /// Gives the executable graph out; the caller destroys it.
    pub fn into_raw(self) -> CUgraphExec {
        let exec = ManuallyDrop::new(self);
        // SAFETY: `exec` is not used or dropped afterwards.
        drop(unsafe { ptr::read(&raw const exec.context) });
        exec.raw
    }

    /// CUDA's handle. It is valid while this value lives.
    pub fn as_raw(&self) -> CUgraphExec {
        self.raw
    }

    /// Puts the graph into a stream (`cuGraphLaunch`). Launches of one executable graph run one after another.
    ///
    /// Whoever put the kernels into the graph promised that this is sound.
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn launch(&self, stream: &StreamRef) -> Result<()> {
        let _entered = self.context.enter()?;
        // SAFETY: both handles live.
        unsafe { call!(cuGraphLaunch(self.raw, stream.as_raw())) }
    }
}

impl Drop for GraphExec {
    fn drop(&mut self) {
        // SAFETY: the value owns the executable graph. A failure leaves nothing to be done.
        unsafe { self.context.release(cuGraphExecDestroy, self.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::InstantiateOptions;

    #[test]
    fn flags() {
        let options = InstantiateOptions::new();
        assert_eq!(options.flags(), 0);
        assert_eq!(options.auto_free_on_launch(true).flags(), 1);
        assert_eq!(options.use_node_priority(true).flags(), 8);
    }
}
