//! Nodes of a graph, and the attributes of kernel nodes.

use std::ops::Deref;

use super::Graph;
use crate::Result;
use crate::attribute::{self, AttributeValue, ReadableFrom, Rules, ValidFor, place};
use crate::error::call;
use crate::sys::{CUgraphNode, CUlaunchAttributeID};

/// A node of any kind, to depend on. A small value that borrows its graph.
#[derive(Clone, Copy, Debug)]
pub struct Node<'g> {
    raw: CUgraphNode,
    graph: &'g Graph,
}

impl<'g> Node<'g> {
    /// CUDA's handle. It is valid while the graph lives and has the node.
    pub fn as_raw(self) -> CUgraphNode {
        self.raw
    }

    /// The graph.
    pub fn graph(self) -> &'g Graph {
        self.graph
    }
}

/// A node that launches a kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelNode<'g>(Node<'g>);

impl<'g> KernelNode<'g> {
    /// A node that was found by other means.
    ///
    /// # Safety
    ///
    /// `raw` is a kernel node of `graph` and stays in it while the value lives.
    pub unsafe fn from_raw(graph: &'g Graph, raw: CUgraphNode) -> Self {
        Self(Node { raw, graph })
    }

    /// Reads an attribute (`cuGraphKernelNodeGetAttribute`).
    ///
    /// # Errors
    ///
    /// [`Error::UnknownValue`](crate::Error::UnknownValue) for a value newer than this crate;
    /// `CUDA_ERROR_INVALID_VALUE` if the driver does not know the attribute. The error names the attribute.
    pub fn attribute<A: ReadableFrom<place::Nodes>>(self) -> Result<A> {
        A::decode(&self.raw_attribute(A::ID)?)
    }

    /// Sets an attribute (`cuGraphKernelNodeSetAttribute`), for executable graphs that are made from now on.
    ///
    /// An attribute that nodes do not have does not compile:
    ///
    /// ```compile_fail,E0277
    /// # fn f(node: cuda_hostfn::KernelNode<'_>) -> cuda_hostfn::Result<()> {
    /// node.set_attribute(cuda_hostfn::attribute::ProgrammaticStreamSerialization(true))
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) for a value that breaks the attribute's rules; otherwise what the
    /// driver answers, with the attribute's name.
    pub fn set_attribute<A: ValidFor<place::Nodes>>(self, attribute: A) -> Result<()> {
        let context = self.graph.context();
        attribute.check(&mut Rules::new(context))?;
        let mut value = attribute.encode();
        let id = CUlaunchAttributeID(attribute.id() as _);
        let _entered = context.enter()?;
        // SAFETY: the handle lives; the value is a whole union, which the driver may write to.
        unsafe { call!(cuGraphKernelNodeSetAttribute(self.raw, id, value.as_mut_ptr())) }
            .map_err(|error| error.about(attribute::name(attribute.id())))
    }

    /// Sets every attribute to what `other` has (`cuGraphKernelNodeCopyAttributes`). Nodes of other graphs are fine.
    ///
    /// # Errors
    ///
    /// What the driver answers: `CUDA_ERROR_NOT_SUPPORTED` if either node is device-updatable,
    /// `CUDA_ERROR_INVALID_VALUE` for a cluster that does not divide the grid.
    pub fn copy_attributes_from(self, other: KernelNode<'_>) -> Result<()> {
        let _entered = self.graph.context().enter()?;
        // SAFETY: both handles live.
        unsafe { call!(cuGraphKernelNodeCopyAttributes(self.raw, other.raw)) }
    }

    /// Whether the driver knows the attribute for nodes.
    ///
    /// # Errors
    ///
    /// What the driver answers, other than the refusal that means no.
    pub fn supports<A: ReadableFrom<place::Nodes>>(self) -> Result<bool> {
        attribute::is_known(self.raw_attribute(A::ID))
    }

    /// Reads an attribute by its number, also one newer than this crate (`cuGraphKernelNodeGetAttribute`). Bytes that
    /// the driver does not write are 0.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_VALUE` if the driver does not know the number for nodes.
    pub fn raw_attribute(self, id: u32) -> Result<AttributeValue> {
        let mut value = AttributeValue::ZERO;
        let _entered = self.graph.context().enter()?;
        // SAFETY: the handle lives; the value is a whole union.
        unsafe { call!(cuGraphKernelNodeGetAttribute(self.raw, CUlaunchAttributeID(id as _), value.as_mut_ptr())) }
            .map_err(|error| error.about(attribute::name(id)))?;
        Ok(value)
    }
}

impl<'g> Deref for KernelNode<'g> {
    type Target = Node<'g>;

    fn deref(&self) -> &Node<'g> {
        &self.0
    }
}

impl<'g> From<KernelNode<'g>> for Node<'g> {
    fn from(node: KernelNode<'g>) -> Self {
        node.0
    }
}
