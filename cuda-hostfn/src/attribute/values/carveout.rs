//! The split between shared memory and L1 cache.

use super::{Decode, Value};
use crate::attribute::AttributeValue;
use crate::{Error, Result};

/// A hint, which takes precedence over the kernel's function attribute of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PreferredSharedMemoryCarveout(u32);

impl PreferredSharedMemoryCarveout {
    /// As little shared memory as possible.
    pub const MIN: Self = Self(0);

    /// As much shared memory as possible.
    pub const MAX: Self = Self(100);

    /// Percent of the largest amount of shared memory.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] above 100.
    pub fn percent(percent: u32) -> Result<Self> {
        if percent > 100 {
            let rule = format!("{percent} is more than 100 percent");
            return Err(Error::invalid("PreferredSharedMemoryCarveout", rule));
        }
        Ok(Self(percent))
    }

    /// The percentage, 0 to 100.
    pub const fn as_percent(self) -> u32 {
        self.0
    }
}

impl Value for PreferredSharedMemoryCarveout {
    fn encode(&self) -> AttributeValue {
        AttributeValue::of(self.0)
    }
}

impl Decode for PreferredSharedMemoryCarveout {
    fn decode(value: &AttributeValue) -> Result<Self> {
        let percent: u32 = value.get();
        Self::percent(percent).map_err(|_| Error::unknown("PreferredSharedMemoryCarveout", percent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::values::round_trip;

    #[test]
    fn percent() {
        for percent in [0, 50, 100] {
            let carveout = PreferredSharedMemoryCarveout::percent(percent).unwrap();
            assert_eq!(carveout.encode(), AttributeValue::of(percent));
            assert_eq!(carveout.as_percent(), percent);
            assert_eq!(round_trip(&carveout), carveout);
        }
        let error = PreferredSharedMemoryCarveout::percent(101).unwrap_err().to_string();
        assert_eq!(error, "PreferredSharedMemoryCarveout: 101 is more than 100 percent");
        assert!(PreferredSharedMemoryCarveout::decode(&AttributeValue::of(-1_i32)).is_err());
    }
}
