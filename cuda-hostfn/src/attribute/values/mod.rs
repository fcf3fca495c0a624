//! The values of the attributes: what each may be, and its bytes.

mod carveout;
mod choices;
mod cluster;
mod device_updatable;
mod domains;
mod events;
mod flags;
mod window;

pub use crate::Priority;
pub use carveout::PreferredSharedMemoryCarveout;
pub use choices::{
    ClusterSchedulingPolicy, MemSyncDomain, PortableClusterSizeMode, SharedMemoryMode, SynchronizationPolicy,
};
pub use cluster::{ClusterDimension, PreferredClusterDimension};
pub use device_updatable::{DeviceUpdatable, GraphDeviceNode};
pub use domains::MemSyncDomainMap;
pub use events::{LaunchCompletionEvent, ProgrammaticEvent};
pub use flags::{Cooperative, Ignore, NvlinkUtilCentricScheduling, ProgrammaticStreamSerialization};
pub use window::{AccessPolicyWindow, AccessProperty, MissProperty};

use super::lower::{DeviceNodeMember, EventMember, WindowMember};
use super::{AttributeValue, Rules};
use crate::Result;

/// A value as the driver takes it: the bytes of the union's member for the attribute that the type is named after.
pub(super) trait Value {
    fn encode(&self) -> AttributeValue;

    /// Checks what only the context or the rest of the launch can tell; all else is checked where values are made.
    fn check(&self, rules: &mut Rules<'_>) -> Result<()> {
        let _ = rules;
        Ok(())
    }
}

/// A value as the driver answers it.
pub(super) trait Decode: Sized {
    fn decode(value: &AttributeValue) -> Result<Self>;
}

/// The priority as an attribute; the type has a file of its own, since more than attributes use it.
impl Value for Priority {
    #[inline]
    fn encode(&self) -> AttributeValue {
        AttributeValue::of(self.as_raw())
    }

    fn check(&self, rules: &mut Rules<'_>) -> Result<()> {
        rules.priority(*self)
    }
}

impl Decode for Priority {
    #[inline]
    fn decode(value: &AttributeValue) -> Result<Self> {
        Ok(Self::from_raw(value.get()))
    }
}

#[cfg(test)]
fn round_trip<T: Value + Decode>(value: &T) -> T {
    T::decode(&value.encode()).unwrap()
}
