//! Graphs in graphs.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr;

use super::{Graph, Node};
use crate::Result;
use crate::error::call;
use crate::sys::CUgraphNode;

/// A node that runs a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildGraphNode<'g>(Node<'g>);

impl Graph {
    /// Adds a copy of another graph, which runs after `dependencies` (`cuGraphAddChildGraphNode`). The copy owns the
    /// closures of the other as well; what is done to that afterwards is not seen in the copy.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if a dependency belongs to another graph; otherwise what the driver
    /// answers.
    pub fn add_child_graph_node(&self, dependencies: &[Node<'_>], child: &Graph) -> Result<ChildGraphNode<'_>> {
        let dependencies = self.raw_dependencies(dependencies)?;
        let mut node = ptr::null_mut();
        let _entered = self.context().enter()?;
        let (first, count) = (dependencies.as_ptr(), dependencies.len());
        // SAFETY: the handles live; the pointer is valid for a write.
        unsafe { call!(cuGraphAddChildGraphNode(&raw mut node, self.as_raw(), first, count, child.as_raw())) }?;
        Ok(ChildGraphNode(Node::new(self, node)))
    }
}

impl<'g> ChildGraphNode<'g> {
    /// A node that was found by other means.
    ///
    /// # Safety
    ///
    /// `raw` is a child graph node of `graph` and stays in it while the value lives.
    pub unsafe fn from_raw(graph: &'g Graph, raw: CUgraphNode) -> Self {
        Self(Node::new(graph, raw))
    }

    /// The graph that the node runs (`cuGraphChildGraphNodeGetGraph`). What is done to it is done to the node.
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn child_graph(self) -> Result<ChildGraph<'g>> {
        let context = self.graph().context();
        let mut raw = ptr::null_mut();
        let _entered = context.enter()?;
        // SAFETY: the handle lives; the pointer is valid for a write.
        unsafe { call!(cuGraphChildGraphNodeGetGraph(self.as_raw(), &raw mut raw)) }?;
        // SAFETY: the node owns the graph; the value is never dropped.
        let graph = ManuallyDrop::new(unsafe { Graph::from_raw(context, raw) });
        Ok(ChildGraph { graph, _parent: PhantomData })
    }
}

impl<'g> Deref for ChildGraphNode<'g> {
    type Target = Node<'g>;

    fn deref(&self) -> &Node<'g> {
        &self.0
    }
}

impl<'g> From<ChildGraphNode<'g>> for Node<'g> {
    fn from(node: ChildGraphNode<'g>) -> Self {
        node.0
    }
}

/// The graph of a [`ChildGraphNode`], to which it belongs. It dereferences to [`Graph`].
#[derive(Debug)]
pub struct ChildGraph<'g> {
    graph: ManuallyDrop<Graph>,
    _parent: PhantomData<&'g Graph>,
}

impl Deref for ChildGraph<'_> {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        &self.graph
    }
}

impl Drop for ChildGraph<'_> {
    fn drop(&mut self) {
        // SAFETY: the value is not used afterwards.
        let graph = unsafe { ManuallyDrop::take(&mut self.graph) };
        // It is the node's.
        let _ = graph.into_raw();
    }
}
