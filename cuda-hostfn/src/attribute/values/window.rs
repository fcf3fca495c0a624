//! The access policy window.

use super::{Decode, Value, WindowMember};
use crate::attribute::{AttributeValue, Rules};
use crate::sys::CUdeviceptr;
use crate::{Error, Result};

/// A share of the accesses to the window, [`hit_ratio`](Self::hit_ratio), has the property [`hit`](Self::hit), the rest
/// [`miss`](Self::miss). The window may have as many bytes as
/// [`Context::max_access_policy_window`](crate::Context::max_access_policy_window) says; setting a larger one is
/// [`Error::Invalid`].
///
/// ```
/// use cuda_hostfn::attribute::{AccessPolicyWindow, AccessProperty};
///
/// # let (base, bytes) = (0x7f00_0000_0000, 1 << 20);
/// let window = AccessPolicyWindow::new(base, bytes).with_hit(AccessProperty::Persisting).with_hit_ratio(0.6)?;
/// # Ok::<(), cuda_hostfn::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessPolicyWindow {
    base: CUdeviceptr,
    bytes: usize,
    hit_ratio: f32,
    hit: AccessProperty,
    miss: MissProperty,
}

/// How the L2 cache treats an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AccessProperty {
    /// As without a window (`CU_ACCESS_PROPERTY_NORMAL`).
    Normal = 0,
    /// Less likely to stay in the cache (`CU_ACCESS_PROPERTY_STREAMING`).
    Streaming = 1,
    /// More likely to stay in the part of the cache that is set aside (`CU_ACCESS_PROPERTY_PERSISTING`). Lines stay
    /// there after the work is done, until
    /// [`Context::reset_persisting_l2_cache`](crate::Context::reset_persisting_l2_cache) lets go of them.
    Persisting = 2,
}

/// How the L2 cache treats the accesses that are not hits; drivers refuse persisting ones here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MissProperty {
    /// As without a window (`CU_ACCESS_PROPERTY_NORMAL`).
    Normal = 0,
    /// Less likely to stay in the cache (`CU_ACCESS_PROPERTY_STREAMING`).
    Streaming = 1,
}

impl AccessPolicyWindow {
    /// No window: what the driver takes zeros for, and what a stream or node without one answers.
    pub const NONE: Self = Self::new(0, 0);

    /// A window of `bytes` bytes at the device address `base`, with hits and misses normal and a hit ratio of 0.
    pub const fn new(base: CUdeviceptr, bytes: usize) -> Self {
        Self { base, bytes, hit_ratio: 0.0, hit: AccessProperty::Normal, miss: MissProperty::Normal }
    }

    /// The share of accesses that are hits, 0 to 1.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it is less than 0, more than 1, or not a number.
    pub fn with_hit_ratio(mut self, hit_ratio: f32) -> Result<Self> {
        if !(0.0..=1.0).contains(&hit_ratio) {
            return Err(Error::invalid("AccessPolicyWindow.hit_ratio", format!("{hit_ratio} is not between 0 and 1")));
        }
        self.hit_ratio = hit_ratio;
        Ok(self)
    }

    /// How hits are treated.
    pub const fn with_hit(mut self, hit: AccessProperty) -> Self {
        self.hit = hit;
        self
    }

    /// How the other accesses are treated.
    pub const fn with_miss(mut self, miss: MissProperty) -> Self {
        self.miss = miss;
        self
    }

    /// The device address where the window starts.
    pub const fn base(self) -> CUdeviceptr {
        self.base
    }

    /// The window's size in bytes.
    pub const fn bytes(self) -> usize {
        self.bytes
    }

    /// The share of accesses that are hits, 0 to 1.
    pub const fn hit_ratio(self) -> f32 {
        self.hit_ratio
    }

    /// How hits are treated.
    pub const fn hit(self) -> AccessProperty {
        self.hit
    }

    /// How the other accesses are treated.
    pub const fn miss(self) -> MissProperty {
        self.miss
    }
}

impl Value for AccessPolicyWindow {
    fn encode(&self) -> AttributeValue {
        let Self { base, bytes, hit_ratio, hit, miss } = *self;
        AttributeValue::of(WindowMember { base, bytes, hit_ratio, hit: hit as u32, miss: miss as u32, padding: 0 })
    }

    fn check(&self, rules: &mut Rules<'_>) -> Result<()> {
        rules.window(self.bytes)
    }
}

impl Decode for AccessPolicyWindow {
    fn decode(value: &AttributeValue) -> Result<Self> {
        let WindowMember { base, bytes, hit_ratio, hit, miss, padding: _ } = value.get();
        let hit = match hit {
            0 => AccessProperty::Normal,
            1 => AccessProperty::Streaming,
            2 => AccessProperty::Persisting,
            other => return Err(Error::unknown("AccessPolicyWindow.hit", other)),
        };
        let miss = match miss {
            0 => MissProperty::Normal,
            1 => MissProperty::Streaming,
            other => return Err(Error::unknown("AccessPolicyWindow.miss", other)),
        };
        Ok(Self { base, bytes, hit_ratio, hit, miss })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::values::round_trip;

    #[test]
    fn values() {
        let window = AccessPolicyWindow::new(0x1000, 64)
            .with_hit_ratio(0.5)
            .unwrap()
            .with_hit(AccessProperty::Persisting)
            .with_miss(MissProperty::Streaming);
        assert_eq!(round_trip(&window), window);
        assert_eq!(window.base(), 0x1000);
        let mut bytes = Vec::new();
        bytes.extend(0x1000_u64.to_ne_bytes());
        bytes.extend(64_u64.to_ne_bytes());
        bytes.extend(0.5_f32.to_ne_bytes());
        bytes.extend([2_u32, 1].map(u32::to_ne_bytes).concat());
        assert_eq!(window.encode(), AttributeValue::from_bytes(&bytes).unwrap());
        assert_eq!(AccessPolicyWindow::NONE.encode(), AttributeValue::ZERO);
    }

    #[test]
    fn the_hit_ratio_is_a_share() {
        let window = AccessPolicyWindow::NONE;
        for good in [0.0, 0.5, 1.0] {
            assert_eq!(window.with_hit_ratio(good).unwrap().hit_ratio(), good);
        }
        for bad in [-0.1, 1.1, f32::NAN, f32::INFINITY] {
            let error = window.with_hit_ratio(bad).unwrap_err().to_string();
            assert_eq!(error, format!("AccessPolicyWindow.hit_ratio: {bad} is not between 0 and 1"));
        }
    }

    #[test]
    fn unknown_properties_are_errors() {
        let member = WindowMember { base: 1, bytes: 1, hit_ratio: 0.0, hit: 3, miss: 0, padding: 0 };
        assert!(AccessPolicyWindow::decode(&AttributeValue::of(member)).is_err());
        assert!(AccessPolicyWindow::decode(&AttributeValue::of(WindowMember { hit: 0, miss: 2, ..member })).is_err());
    }
}
