//! Nodes of any kind, and what they depend on.

use super::calls::{self, Neighbours};
use super::{ChildGraphNode, Graph, HostNode, KernelNode};
use crate::Result;
use crate::error::call;
use crate::sys::{CUgraphNode, CUgraphNodeType};

/// A node of any kind, to depend on. A small value that borrows its graph.
#[derive(Clone, Copy, Debug)]
pub struct Node<'g> {
    raw: CUgraphNode,
    graph: &'g Graph,
}

impl<'g> Node<'g> {
    pub(super) fn new(graph: &'g Graph, raw: CUgraphNode) -> Self {
        Self { raw, graph }
    }

    /// A node that was found by other means.
    ///
    /// # Safety
    ///
    /// `raw` is a node of `graph` and stays in it while the value lives.
    pub unsafe fn from_raw(graph: &'g Graph, raw: CUgraphNode) -> Self {
        Self::new(graph, raw)
    }

    /// CUDA's handle. It is valid while the graph lives and has the node.
    pub fn as_raw(self) -> CUgraphNode {
        self.raw
    }

    /// The graph.
    pub fn graph(self) -> &'g Graph {
        self.graph
    }

    /// What the node does (`cuGraphNodeGetType`), by CUDA's enum, which also has numbers newer than the header.
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn kind(self) -> Result<CUgraphNodeType> {
        let _entered = self.graph.context().enter()?;
        let mut kind = CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY;
        // SAFETY: the handle lives; the pointer is valid for a write.
        unsafe { call!(cuGraphNodeGetType(self.raw, &raw mut kind)) }?;
        Ok(kind)
    }

    /// The node as one that launches a kernel, if it does.
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn as_kernel_node(self) -> Result<Option<KernelNode<'g>>> {
        let is_kernel = self.kind()? == CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL;
        // SAFETY: a kernel node of the graph.
        Ok(is_kernel.then(|| unsafe { KernelNode::from_raw(self.graph, self.raw) }))
    }

    /// The node as one that calls a host function, if it does.
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn as_host_node(self) -> Result<Option<HostNode<'g>>> {
        let is_host = self.kind()? == CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST;
        // SAFETY: a host node of the graph.
        Ok(is_host.then(|| unsafe { HostNode::from_raw(self.graph, self.raw) }))
    }

    /// The node as one that runs a graph, if it does.
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn as_child_graph_node(self) -> Result<Option<ChildGraphNode<'g>>> {
        let is_child = self.kind()? == CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH;
        // SAFETY: a child graph node of the graph.
        Ok(is_child.then(|| unsafe { ChildGraphNode::from_raw(self.graph, self.raw) }))
    }

    /// What the node runs after (`cuGraphNodeGetDependencies`), in no particular order.
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn dependencies(self) -> Result<Vec<Self>> {
        self.neighbours(Neighbours::Dependencies)
    }

    /// What runs after the node (`cuGraphNodeGetDependentNodes`), in no particular order.
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn dependent_nodes(self) -> Result<Vec<Self>> {
        self.neighbours(Neighbours::Dependents)
    }

    fn neighbours(self, which: Neighbours) -> Result<Vec<Self>> {
        let _entered = self.graph.context().enter()?;
        // SAFETY: the handle lives, and the context is current.
        let nodes = unsafe { calls::neighbours(self.raw, which) }?;
        Ok(nodes.into_iter().map(|node| Self::new(self.graph, node)).collect())
    }
}

/// The same node, of whichever value for the graph.
impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for Node<'_> {}
