//! Attributes that are on or off.

use super::{Decode, Value};
use crate::Result;
use crate::attribute::AttributeValue;

/// It exists so that every entry of CUDA's enum has a type. For an attribute that depends on a condition,
/// [`LaunchConfig::attribute`](crate::LaunchConfig::attribute) takes an `Option`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ignore;

impl Value for Ignore {
    #[inline]
    fn encode(&self) -> AttributeValue {
        AttributeValue::ZERO
    }
}

macro_rules! flags {
    ($($(#[$doc:meta])* $type:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $type(
            /// Whether it is on.
            pub bool,
        );

        impl Value for $type {
            #[inline]
            fn encode(&self) -> AttributeValue {
                AttributeValue::of(i32::from(self.0))
            }
        }

        impl Decode for $type {
            #[inline]
            fn decode(value: &AttributeValue) -> Result<Self> {
                Ok(Self(value.get::<i32>() != 0))
            }
        }
    )*};
}

flags! {
    /// As `cuLaunchCooperativeKernel`. The driver answers `CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE` if the grid does
    /// not fit on the device at once.
    Cooperative

    /// Such a kernel calls `cudaGridDependencySynchronize()` (PTX `griddepcontrol.wait`) before it touches what its
    /// predecessor in the stream writes. The overlap happens where the predecessor allows it; it is not guaranteed.
    ProgrammaticStreamSerialization

    /// Nothing is guaranteed about its effect.
    NvlinkUtilCentricScheduling
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::values::round_trip;

    #[test]
    fn on_and_off() {
        assert_eq!(Cooperative(true).encode(), AttributeValue::of(1_i32));
        assert_eq!(Cooperative(false).encode(), AttributeValue::ZERO);
        for is_on in [false, true] {
            assert_eq!(round_trip(&Cooperative(is_on)), Cooperative(is_on));
        }
        // The driver takes any number but 0 for on.
        assert_eq!(Cooperative::decode(&AttributeValue::of(2_i32)).unwrap(), Cooperative(true));
    }
}
