//! Host nodes.

use std::ffi::c_void;
use std::ops::Deref;

use super::{Graph, Node, calls};
use crate::Result;
use crate::error::call;
use crate::host::{self, EnqueueError, SyncMode};
use crate::sys::{CUDA_HOST_NODE_PARAMS, CUgraphNode, CUhostFn};

/// A node that calls a host function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostNode<'g>(Node<'g>);

/// Host functions: see [`host`] for what they may do.
impl Graph {
    /// Adds a closure that is called after `dependencies` (`cuGraphAddHostNode`), each time the graph runs.
    ///
    /// It belongs to the graph and to everything that is made from it (`cuGraphRetainUserObject`): it is dropped when the
    /// last of them is gone and the last launch is done, by an ordinary thread, never the driver's. It is never called
    /// twice at once.
    ///
    /// # Errors
    ///
    /// The closure comes back in the error. [`Error::Invalid`](crate::Error::Invalid) if a dependency belongs to another graph;
    /// [`Error::CalledFromHostFunction`](crate::Error::CalledFromHostFunction); otherwise what the driver answers.
    pub fn add_host_node<F>(&self, dependencies: &[Node<'_>], f: F) -> Result<HostNode<'_>, EnqueueError<F>>
    where
        F: FnMut() + Send + 'static,
    {
        self.add_host_node_in_sync_mode(dependencies, SyncMode::Blocking, f)
    }

    /// As [`add_host_node`](Self::add_host_node), with another way in which the driver's thread waits for the node's turn
    /// (`cuGraphAddNode`).
    ///
    /// # Errors
    ///
    /// As there, and [`Error::MissingFunction`](crate::Error::MissingFunction) for [`SyncMode::SpinWait`] if the driver cannot, which those before CUDA
    /// 13.2 cannot.
    pub fn add_host_node_in_sync_mode<F>(
        &self,
        dependencies: &[Node<'_>],
        mode: SyncMode,
        f: F,
    ) -> Result<HostNode<'_>, EnqueueError<F>>
    where
        F: FnMut() + Send + 'static,
    {
        let ready = mode.check_supported().and_then(|()| self.raw_dependencies(dependencies));
        let (dependencies, _entered) = match ready.and_then(|raw| Ok((raw, self.context().enter()?))) {
            Ok(ready) => ready,
            Err(error) => return Err(EnqueueError::new(error, f)),
        };
        let graph = self.as_raw();
        // SAFETY: the handles live, the context is current, and the graph has the closure by then.
        let add = |function, data| unsafe { calls::add_host_node(graph, &dependencies, function, data, mode) };
        // SAFETY: the graph lives, and the node is one of its.
        let node = unsafe { host::give_to_graph(f, || Ok(graph), add) }?;
        Ok(HostNode(Node::new(self, node)))
    }

    /// Adds a C function that is called with a pointer after `dependencies` (`cuGraphAddHostNode`). Nothing is kept for
    /// it, and [`in_host_function`](crate::in_host_function) does not know of it.
    ///
    /// # Errors
    ///
    /// As [`add_host_node`](Self::add_host_node); `CUDA_ERROR_INVALID_VALUE` without a function.
    ///
    /// # Safety
    ///
    /// `f` may be called with `data` by another thread, whenever and as often as the graph, or anything that is made from
    /// it, runs. It does not unwind and calls no CUDA.
    pub unsafe fn add_host_node_raw(
        &self,
        dependencies: &[Node<'_>],
        f: CUhostFn,
        data: *mut c_void,
    ) -> Result<HostNode<'_>> {
        let dependencies = self.raw_dependencies(dependencies)?;
        let _entered = self.context().enter()?;
        // SAFETY: the handles live, and the context is current; the caller answers for the function.
        let node = unsafe { calls::add_host_node(self.as_raw(), &dependencies, f, data, SyncMode::Blocking) }?;
        Ok(HostNode(Node::new(self, node)))
    }
}

impl<'g> HostNode<'g> {
    /// A node that was found by other means.
    ///
    /// # Safety
    ///
    /// `raw` is a host node of `graph` and stays in it while the value lives.
    pub unsafe fn from_raw(graph: &'g Graph, raw: CUgraphNode) -> Self {
        Self(Node::new(graph, raw))
    }

    /// Calls another closure (`cuGraphHostNodeSetParams`) in executable graphs and clones that are made from now on. Those
    /// that were made before keep the closure that they have, which is dropped when the last of them is gone.
    /// [`GraphExec::replace_host_node`](super::GraphExec::replace_host_node) is for an executable graph.
    ///
    /// # Errors
    ///
    /// The closure comes back in the error: [`Error::CalledFromHostFunction`](crate::Error::CalledFromHostFunction); otherwise what the driver answers.
    pub fn replace<F>(self, f: F) -> Result<(), EnqueueError<F>>
    where
        F: FnMut() + Send + 'static,
    {
        let graph = self.graph().as_raw();
        let ready = self.graph().context().enter().and_then(|entered| Ok((entered, self.parameters()?)));
        let (_entered, before) = match ready {
            Ok(ready) => ready,
            Err(error) => return Err(EnqueueError::new(error, f)),
        };
        let set = |function, data| {
            let parameters = CUDA_HOST_NODE_PARAMS { fn_: function, userData: data };
            // SAFETY: the handle lives, and the graph has the closure by then.
            unsafe { call!(cuGraphHostNodeSetParams(self.as_raw(), &raw const parameters)) }
        };
        // SAFETY: the graph lives, and has the node.
        unsafe { host::give_to_graph(f, || Ok(graph), set) }?;
        // SAFETY: the graph lives, and its node called that until now.
        unsafe { host::take_from_graph(graph, before) };
        Ok(())
    }

    /// What the driver calls (`cuGraphHostNodeGetParams`): a function of this crate, for a closure.
    fn parameters(self) -> Result<CUDA_HOST_NODE_PARAMS> {
        let mut parameters = CUDA_HOST_NODE_PARAMS { fn_: None, userData: std::ptr::null_mut() };
        // SAFETY: the handle lives; the pointer is valid for a write.
        unsafe { call!(cuGraphHostNodeGetParams(self.as_raw(), &raw mut parameters)) }?;
        Ok(parameters)
    }
}

impl<'g> Deref for HostNode<'g> {
    type Target = Node<'g>;

    fn deref(&self) -> &Node<'g> {
        &self.0
    }
}

impl<'g> From<HostNode<'g>> for Node<'g> {
    fn from(node: HostNode<'g>) -> Self {
        node.0
    }
}
