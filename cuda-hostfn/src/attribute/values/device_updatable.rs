//! Nodes that kernels can update.

use std::ffi::c_void;

use super::{Decode, DeviceNodeMember, Value};
use crate::attribute::AttributeValue;
use crate::{Error, Result};

/// Once a node is updatable it stays so, cannot be copied from or to, cannot be removed from its graph, and the graph
/// can be instantiated once.
///
/// On success the driver gives a handle for the kernels that are to update the node: for a captured launch it is
/// [`Launched::device_node`](crate::Launched::device_node), for a node it is read back:
///
/// ```no_run
/// # fn f(node: &cuda_hostfn::KernelNode<'_>) -> cuda_hostfn::Result<()> {
/// use cuda_hostfn::attribute::DeviceUpdatable;
///
/// node.set_attribute(DeviceUpdatable::YES)?;
/// let handle = node.attribute::<DeviceUpdatable>()?.device_node().unwrap();
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceUpdatable {
    is_updatable: bool,
    node: Option<GraphDeviceNode>,
}

impl DeviceUpdatable {
    /// Updatable.
    pub const YES: Self = Self { is_updatable: true, node: None };

    /// Not updatable, as every node is at first. An updatable node refuses it.
    pub const NO: Self = Self { is_updatable: false, node: None };

    /// Whether the node is updatable.
    pub const fn is_updatable(self) -> bool {
        self.is_updatable
    }

    /// The handle for kernels, in a value that was read from an updatable node.
    pub const fn device_node(self) -> Option<GraphDeviceNode> {
        self.node
    }
}

impl Value for DeviceUpdatable {
    /// The handle is an output: the driver demands NULL.
    fn encode(&self) -> AttributeValue {
        AttributeValue::of(DeviceNodeMember { is_updatable: self.is_updatable.into(), padding: 0, node: 0 })
    }
}

impl Decode for DeviceUpdatable {
    fn decode(value: &AttributeValue) -> Result<Self> {
        let DeviceNodeMember { is_updatable, padding: _, node } = value.get();
        match is_updatable {
            0 => Ok(Self::NO),
            1 => Ok(Self { is_updatable: true, node: (node != 0).then_some(GraphDeviceNode(node)) }),
            other => Err(Error::unknown("DeviceUpdatable", other)),
        }
    }
}

/// A node, as kernels that update it know it (`CUgraphDeviceNode`): a [kernel argument](crate::KernelArgument) for the
/// device-side update functions. It is good for as long as the node's graph lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct GraphDeviceNode(usize);

impl GraphDeviceNode {
    /// CUDA's handle, a `CUgraphDeviceNode`.
    pub fn as_raw(self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handle_comes_out_and_never_goes_in() {
        let answer = AttributeValue::of(DeviceNodeMember { is_updatable: 1, padding: 0, node: 0x1000 });
        let value = DeviceUpdatable::decode(&answer).unwrap();
        assert!(value.is_updatable() && !DeviceUpdatable::NO.is_updatable());
        assert_eq!(value.device_node().unwrap().as_raw().addr(), 0x1000);
        assert_eq!(value.encode(), DeviceUpdatable::YES.encode());
        assert_eq!(DeviceUpdatable::decode(&AttributeValue::ZERO).unwrap(), DeviceUpdatable::NO);
        assert!(DeviceUpdatable::decode(&AttributeValue::of(2_i32)).is_err());
    }
}
