//! The nodes of a graph and the edges between them.

use std::ptr;

use super::{Graph, KernelNode, Node, calls};
use crate::error::call;
use crate::sys::CUgraphNode;
use crate::{Error, Result};

impl Graph {
    /// The nodes, in no particular order (`cuGraphGetNodes`). Those of [child graphs](super::ChildGraphNode) are not among
    /// them.
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn nodes(&self) -> Result<Vec<Node<'_>>> {
        let _entered = self.context().enter()?;
        let nodes = calls::list(|nodes, _, count| {
            // SAFETY: the handle lives; there is room for `count` nodes, or NULL asks for their number.
            unsafe { call!(cuGraphGetNodes(self.as_raw(), nodes, count)) }
        })?;
        Ok(self.own(nodes))
    }

    /// The nodes that depend on nothing, in no particular order (`cuGraphGetRootNodes`).
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn root_nodes(&self) -> Result<Vec<Node<'_>>> {
        let _entered = self.context().enter()?;
        let nodes = calls::list(|nodes, _, count| {
            // SAFETY: the handle lives; there is room for `count` nodes, or NULL asks for their number.
            unsafe { call!(cuGraphGetRootNodes(self.as_raw(), nodes, count)) }
        })?;
        Ok(self.own(nodes))
    }

    /// The kernel nodes among the [`nodes`](Self::nodes).
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn kernel_nodes(&self) -> Result<Vec<KernelNode<'_>>> {
        let nodes = self.nodes()?.into_iter().map(Node::as_kernel_node);
        nodes.filter_map(Result::transpose).collect()
    }

    /// The edges, in no particular order: of each, what comes first and what comes after it (`cuGraphGetEdges`).
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn edges(&self) -> Result<Vec<(Node<'_>, Node<'_>)>> {
        let _entered = self.context().enter()?;
        // SAFETY: the handle lives, and the context is current.
        let edges = unsafe { calls::edges(self.as_raw()) }?;
        Ok(edges.into_iter().map(|(from, to)| (Node::new(self, from), Node::new(self, to))).collect())
    }

    /// Adds a node that does nothing, after `dependencies` (`cuGraphAddEmptyNode`): with it, each of several nodes can
    /// depend on each of several others by few edges.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if a dependency belongs to another graph; otherwise what the driver answers.
    pub fn add_empty_node(&self, dependencies: &[Node<'_>]) -> Result<Node<'_>> {
        let dependencies = self.raw_dependencies(dependencies)?;
        let mut node = ptr::null_mut();
        let _entered = self.context().enter()?;
        let (first, count) = (dependencies.as_ptr(), dependencies.len());
        // SAFETY: the handles live; the pointer is valid for a write.
        unsafe { call!(cuGraphAddEmptyNode(&raw mut node, self.as_raw(), first, count)) }?;
        Ok(Node::new(self, node))
    }

    /// Makes nodes run after others: of each edge, what comes first and what comes after it (`cuGraphAddDependencies`).
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if a node belongs to another graph; `CUDA_ERROR_INVALID_VALUE` for an edge that is there
    /// already. A circle is found when the graph is instantiated, if not before.
    pub fn add_dependencies(&self, edges: &[(Node<'_>, Node<'_>)]) -> Result<()> {
        let (from, to) = self.raw_edges(edges)?;
        let _entered = self.context().enter()?;
        // SAFETY: the handles live; both arrays have that length.
        unsafe { call!(entry::cuGraphAddDependencies(self.as_raw(), from.as_ptr(), to.as_ptr(), edges.len())) }
    }

    /// Takes such edges away (`cuGraphRemoveDependencies`).
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if a node belongs to another graph; `CUDA_ERROR_INVALID_VALUE` for an edge that is not there.
    ///
    /// # Safety
    ///
    /// No kernel in the graph relies on that order.
    pub unsafe fn remove_dependencies(&self, edges: &[(Node<'_>, Node<'_>)]) -> Result<()> {
        let (from, to) = self.raw_edges(edges)?;
        let _entered = self.context().enter()?;
        // SAFETY: the handles live; both arrays have that length.
        unsafe { call!(entry::cuGraphRemoveDependencies(self.as_raw(), from.as_ptr(), to.as_ptr(), edges.len())) }
    }

    fn raw_edges(&self, edges: &[(Node<'_>, Node<'_>)]) -> Result<(Vec<CUgraphNode>, Vec<CUgraphNode>)> {
        let (from, to): (Vec<Node<'_>>, Vec<Node<'_>>) = edges.iter().copied().unzip();
        Ok((self.raw_dependencies(&from)?, self.raw_dependencies(&to)?))
    }

    /// The handles of nodes, which have to be this graph's.
    pub(super) fn raw_dependencies(&self, nodes: &[Node<'_>]) -> Result<Vec<CUgraphNode>> {
        if nodes.iter().any(|node| node.graph().as_raw() != self.as_raw()) {
            return Err(Error::invalid("dependencies", "has a node of another graph"));
        }
        Ok(nodes.iter().map(|node| node.as_raw()).collect())
    }

    fn own(&self, nodes: Vec<CUgraphNode>) -> Vec<Node<'_>> {
        nodes.into_iter().map(|node| Node::new(self, node)).collect()
    }
}
