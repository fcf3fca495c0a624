//! Clusters.

use super::{Decode, Value};
use crate::attribute::{AttributeValue, Rules};
use crate::{Dim3, Error, Result};

/// It must divide the grid in each dimension, which is checked before a launch. Every GPU with clusters supports up to
/// 8 blocks; more need
/// [`Kernel::set_non_portable_cluster_size_allowed`](crate::Kernel::set_non_portable_cluster_size_allowed).
///
/// A driver that finds a cluster impossible answers `CUDA_ERROR_INVALID_CLUSTER_SIZE`, which invalidates a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClusterDimension(Option<Dim3>);

/// Checked before a launch: it needs a [`ClusterDimension`] beside it (or a kernel that was compiled with one), is a
/// multiple of that in each dimension, and divides the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PreferredClusterDimension(Option<Dim3>);

macro_rules! clusters {
    ($($type:ident $x:literal $rule:ident)*) => {$(
        impl $type {
            /// No cluster: what the driver takes (0, 0, 0) for, and what a node without one answers.
            pub const NONE: Self = Self(None);

            /// A cluster of `x` × `y` × `z` blocks.
            ///
            /// # Errors
            ///
            /// [`Error::Invalid`] if one is 0.
            pub fn new(x: u32, y: u32, z: u32) -> Result<Self> {
                let dim = Dim3 { x, y, z };
                if dim.count() == 0 {
                    return Err(Error::invalid($x, format!("{dim} has a dimension of 0")));
                }
                Ok(Self(Some(dim)))
            }

            /// The blocks in each dimension; `None` for [`NONE`](Self::NONE).
            pub const fn dimension(self) -> Option<Dim3> {
                self.0
            }
        }

        impl Value for $type {
            fn encode(&self) -> AttributeValue {
                let Dim3 { x, y, z } = self.0.unwrap_or(Dim3 { x: 0, y: 0, z: 0 });
                AttributeValue::of([x, y, z])
            }

            fn check(&self, rules: &mut Rules<'_>) -> Result<()> {
                rules.clusters.$rule = self.0;
                Ok(())
            }
        }

        impl Decode for $type {
            fn decode(value: &AttributeValue) -> Result<Self> {
                match value.get::<[u32; 3]>() {
                    [0, 0, 0] => Ok(Self::NONE),
                    [x, y, z] => Ok(Self(Some(Dim3 { x, y, z }))),
                }
            }
        }
    )*};
}

clusters! {
    ClusterDimension "ClusterDimension" cluster
    PreferredClusterDimension "PreferredClusterDimension" preferred
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::values::round_trip;

    #[test]
    fn values() {
        let cluster = ClusterDimension::new(2, 1, 4).unwrap();
        assert_eq!(cluster.encode(), AttributeValue::of([2_u32, 1, 4]));
        assert_eq!(round_trip(&cluster), cluster);
        assert_eq!(ClusterDimension::NONE.encode(), AttributeValue::ZERO);
        assert_eq!(round_trip(&ClusterDimension::NONE).dimension(), None);
    }

    #[test]
    fn zero_is_refused() {
        let error = ClusterDimension::new(2, 0, 1).unwrap_err().to_string();
        assert_eq!(error, "ClusterDimension: (2, 0, 1) has a dimension of 0");
        assert!(PreferredClusterDimension::new(0, 0, 0).is_err());
    }
}
