//! Attributes that are one of a list. A number that is not on it is an error when it is read, never a wrong variant.

use super::{Decode, Value};
use crate::attribute::AttributeValue;
use crate::{Error, Result};

macro_rules! choices {
    ($(
        $(#[$doc:meta])*
        $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $number:literal $(| $also:literal)?,)* }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $type {
            $($(#[$variant_doc])* $variant = $number,)*
        }

        impl Value for $type {
            #[inline]
            fn encode(&self) -> AttributeValue {
                AttributeValue::of(*self as i32)
            }
        }

        impl Decode for $type {
            #[inline]
            fn decode(value: &AttributeValue) -> Result<Self> {
                match value.get::<i32>() {
                    $($number $(| $also)? => Ok(Self::$variant),)*
                    other => Err(Error::unknown(stringify!($type), other)),
                }
            }
        }
    )*};
}

choices! {
    /// It holds for every thread that waits in [`StreamRef::synchronize`](crate::StreamRef::synchronize). A stream on
    /// which nothing was set answers −1, which reads as [`Auto`](Self::Auto);
    /// [`StreamRef::raw_attribute`](crate::StreamRef::raw_attribute) tells the two apart.
    ///
    /// ```no_run
    /// # fn f(stream: &cuda_hostfn::StreamRef) -> cuda_hostfn::Result<()> {
    /// use cuda_hostfn::attribute::SynchronizationPolicy;
    ///
    /// stream.set_synchronization_policy(SynchronizationPolicy::BlockingSync)?;
    /// stream.synchronize()?; // sleeps
    /// # Ok(()) }
    /// ```
    SynchronizationPolicy {
        /// The driver chooses (`CU_SYNC_POLICY_AUTO`).
        Auto = 1 | -1,
        /// Spin: shortest delay, one processor busy (`CU_SYNC_POLICY_SPIN`).
        Spin = 2,
        /// Spin, and let other threads run between looks (`CU_SYNC_POLICY_YIELD`).
        Yield = 3,
        /// Sleep: the processor is free, at the price of a longer delay (`CU_SYNC_POLICY_BLOCKING_SYNC`).
        BlockingSync = 4,
    }

    /// Nodes store any number without a word, so that reading one may give an
    /// [`Error::UnknownValue`](crate::Error::UnknownValue). A captured launch stores what the driver made of its
    /// preference, so that [`Default`](Self::Default) reads back as [`Spread`](Self::Spread) there.
    ClusterSchedulingPolicy {
        /// The driver chooses (`CU_CLUSTER_SCHEDULING_POLICY_DEFAULT`).
        Default = 0,
        /// Spread the blocks over the multiprocessors (`CU_CLUSTER_SCHEDULING_POLICY_SPREAD`).
        Spread = 1,
        /// Let the hardware balance the load (`CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING`).
        LoadBalancing = 2,
        /// Keep blocks close that share memory (`CU_CLUSTER_SCHEDULING_POLICY_RUBIN_DSMEM_LOCALITY`, CUDA 13.4; older
        /// drivers refuse it on launches).
        RubinDsmemLocality = 3,
    }

    /// A kernel in the remote domain does not hold up memory fences of kernels in the default one, and the reverse.
    MemSyncDomain {
        /// `CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT`.
        Default = 0,
        /// For kernels that talk to other devices (`CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE`).
        Remote = 1,
    }

    /// See [`Kernel::set_non_portable_cluster_size_allowed`](crate::Kernel::set_non_portable_cluster_size_allowed) for
    /// the same permission on drivers that do not know the attribute.
    PortableClusterSizeMode {
        /// What the kernel's function attribute says (`CU_LAUNCH_PORTABLE_CLUSTER_MODE_DEFAULT`).
        Default = 0,
        /// Only portable sizes (`CU_LAUNCH_PORTABLE_CLUSTER_MODE_REQUIRE_PORTABLE`).
        RequirePortable = 1,
        /// Other sizes too (`CU_LAUNCH_PORTABLE_CLUSTER_MODE_ALLOW_NON_PORTABLE`).
        AllowNonPortable = 2,
    }

    /// See [`Kernel::set_max_dynamic_shared_memory`](crate::Kernel::set_max_dynamic_shared_memory) for the permission
    /// on drivers that do not know the attribute.
    SharedMemoryMode {
        /// What the kernel's function attribute says (`CU_SHARED_MEMORY_MODE_DEFAULT`).
        Default = 0,
        /// Only portable sizes (`CU_SHARED_MEMORY_MODE_REQUIRE_PORTABLE`).
        RequirePortable = 1,
        /// Up to the device's opt-in maximum (`CU_SHARED_MEMORY_MODE_ALLOW_NON_PORTABLE`).
        AllowNonPortable = 2,
        /// More than that, at the expense of the L1 cache (`CU_SHARED_MEMORY_MODE_ALLOW_OVERSIZED_SHARED_MEMORY`).
        AllowOversizedSharedMemory = 3,
        /// Likewise, and preferred (`CU_SHARED_MEMORY_MODE_PREFER_OVERSIZED_SHARED_MEMORY`).
        PreferOversizedSharedMemory = 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::values::round_trip;

    #[test]
    fn the_four_policies_and_the_unset_one() {
        use SynchronizationPolicy::{Auto, BlockingSync, Spin, Yield};
        for (number, policy) in (1..).zip([Auto, Spin, Yield, BlockingSync]) {
            assert_eq!(policy.encode(), AttributeValue::of(number));
            assert_eq!(round_trip(&policy), policy);
        }
        assert_eq!(SynchronizationPolicy::decode(&AttributeValue::of(-1_i32)).unwrap(), Auto);
    }

    #[test]
    fn unknown_numbers_are_errors() {
        for number in [0, 5, -2] {
            let error = SynchronizationPolicy::decode(&AttributeValue::of(number)).unwrap_err();
            assert!(matches!(error, Error::UnknownValue(value) if value.raw() == i64::from(number)), "{error}");
        }
        let error = ClusterSchedulingPolicy::decode(&AttributeValue::of(9_i32)).unwrap_err().to_string();
        assert!(error.contains('9') && error.contains("ClusterSchedulingPolicy"), "{error}");
    }
}
