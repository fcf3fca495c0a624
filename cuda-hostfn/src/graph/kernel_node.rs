//! Kernel nodes and their attributes.

use std::ops::Deref;
use std::ptr;

use super::{Graph, Node};
use crate::attribute::{self, AttributeValue, ReadableFrom, Rules, ValidFor, place};
use crate::error::call;
use crate::sys::{CUDA_KERNEL_NODE_PARAMS, CUfunction, CUgraphNode, CUlaunchAttributeID};
use crate::{Arguments, Kernel, LaunchConfig, Result};

/// A node that launches a kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelNode<'g>(Node<'g>);

impl Graph {
    /// Adds a kernel that runs after `dependencies` (`cuGraphAddKernelNode`). Attributes are set on the node.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if the shape breaks a rule or a dependency belongs to another graph;
    /// otherwise what the driver answers.
    ///
    /// # Safety
    ///
    /// As [`Kernel::launch`], for every launch of every executable graph that has the node: made from this graph, from a
    /// clone or a parent of it, or updated with one; and the kernel's module is loaded until all of these are dropped, also
    /// if none is ever launched.
    pub unsafe fn add_kernel_node<A: Arguments>(
        &self,
        dependencies: &[Node<'_>],
        kernel: &Kernel<A>,
        config: &LaunchConfig,
        arguments: A,
    ) -> Result<KernelNode<'_>> {
        let dependencies = self.raw_dependencies(dependencies)?;
        kernel.check_shape(config)?;
        let mut node = ptr::null_mut();
        let mut raw = config.as_node_params(kernel.as_raw());
        let _entered = kernel.context().enter()?;
        arguments.with_pointers(|pointers| {
            raw.kernelParams = pointers;
            let (first, count) = (dependencies.as_ptr(), dependencies.len());
            // SAFETY: the handles live, the parameters are whole, and the kernel's context is current, without which
            // the driver crashes; the caller answers for the kernel.
            unsafe { call!(cuGraphAddKernelNode(&raw mut node, self.as_raw(), first, count, &raw const raw)) }
        })?;
        Ok(KernelNode(Node::new(self, node)))
    }
}

impl LaunchConfig {
    fn as_node_params(&self, function: CUfunction) -> CUDA_KERNEL_NODE_PARAMS {
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

impl<'g> KernelNode<'g> {
    /// A node that was found by other means.
    ///
    /// # Safety
    ///
    /// `raw` is a kernel node of `graph` and stays in it while the value lives.
    pub unsafe fn from_raw(graph: &'g Graph, raw: CUgraphNode) -> Self {
        Self(Node::new(graph, raw))
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
        let context = self.graph().context();
        attribute.check(&mut Rules::new(context))?;
        let mut value = attribute.encode();
        let id = CUlaunchAttributeID(attribute.id() as _);
        let _entered = context.enter()?;
        // SAFETY: the handle lives; the value is a whole union, which the driver may write to.
        unsafe { call!(cuGraphKernelNodeSetAttribute(self.as_raw(), id, value.as_mut_ptr())) }
            .map_err(|error| error.about(attribute::name(attribute.id())))
    }

    /// Sets every attribute to what `other` has (`cuGraphKernelNodeCopyAttributes`). Nodes of other graphs are fine.
    ///
    /// # Errors
    ///
    /// What the driver answers: `CUDA_ERROR_NOT_SUPPORTED` if either node is device-updatable,
    /// `CUDA_ERROR_INVALID_VALUE` for a cluster that does not divide the grid.
    pub fn copy_attributes_from(self, other: KernelNode<'_>) -> Result<()> {
        let _entered = self.graph().context().enter()?;
        // SAFETY: both handles live.
        unsafe { call!(cuGraphKernelNodeCopyAttributes(self.as_raw(), other.as_raw())) }
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
        let _entered = self.graph().context().enter()?;
        // SAFETY: the handle lives; the value is a whole union.
        unsafe {
            call!(cuGraphKernelNodeGetAttribute(self.as_raw(), CUlaunchAttributeID(id as _), value.as_mut_ptr()))
        }
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
