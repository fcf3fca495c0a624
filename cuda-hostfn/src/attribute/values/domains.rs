//! The map from logical to physical memory synchronization domains.

use super::{Decode, Value};
use crate::Result;
use crate::attribute::AttributeValue;

/// Each is smaller than the device's `CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT`; the driver answers
/// `CUDA_ERROR_INVALID_VALUE` otherwise. A stream on which nothing was set answers 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemSyncDomainMap {
    /// The domain that [`MemSyncDomain::Default`](super::MemSyncDomain::Default) stands for.
    pub default: u8,
    /// The domain that [`MemSyncDomain::Remote`](super::MemSyncDomain::Remote) stands for.
    pub remote: u8,
}

impl Value for MemSyncDomainMap {
    fn encode(&self) -> AttributeValue {
        AttributeValue::of([self.default, self.remote])
    }
}

impl Decode for MemSyncDomainMap {
    fn decode(value: &AttributeValue) -> Result<Self> {
        let [default, remote] = value.get();
        Ok(Self { default, remote })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::values::round_trip;

    #[test]
    fn values() {
        let map = MemSyncDomainMap { default: 2, remote: 3 };
        assert_eq!(map.encode(), AttributeValue::from_bytes(&[2, 3]).unwrap());
        assert_eq!(round_trip(&map), map);
    }
}
