//! The table: one row for each attribute. All else about its number, its name and its places derives from it.
//!
//! A place stands in a row when a driver accepts the attribute there, not when the header says so. Only where no driver
//! at hand knows the attribute does the header decide (`Header`). A new CUDA version's attribute is one row here, and
//! its value in `values`.

use super::catalogue::Name;
use super::rows::{attributes, listed, valid_for};
use super::values::{Decode, Value};
use super::{Attribute, AttributeValue, Entry, Evidence, Places, ReadableFrom, Rules, ValidFor, place};
use crate::{CudaVersion, Result};

/// The number of a type, for this crate.
pub(crate) trait Known {
    const ID: u32;
}

/// Numbers up to the newest in [`CATALOGUE`] that no header assigns.
pub const GAPS: &[u32] = &[15];

attributes! {
    /// Nothing: an entry that the driver skips.
    0 "CU_LAUNCH_ATTRIBUTE_IGNORE" Ignore, since (11, 8), set [Launches], get [], Driver;

    /// Memory whose accesses the L2 cache treats in a way of its own.
    1 "CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW" AccessPolicyWindow, since (11, 8),
        set [Streams Launches Nodes], get [Streams Nodes], Driver;

    /// A cooperative launch: all blocks of the grid run at once and may wait for each other.
    2 "CU_LAUNCH_ATTRIBUTE_COOPERATIVE" Cooperative, since (11, 8), set [Launches Nodes], get [Nodes], Driver;

    /// How threads wait for a stream.
    3 "CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY" SynchronizationPolicy, since (11, 8),
        set [Streams], get [Streams], Driver,
        "Drivers refuse it on a launch, to which the header's text about `cuLaunchKernelEx` invites.";

    /// How many blocks form a cluster.
    4 "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION" ClusterDimension, since (11, 8),
        set [Launches Nodes], get [Nodes], Driver;

    /// How the blocks of a cluster are spread over multiprocessors.
    5 "CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE" ClusterSchedulingPolicy, since (11, 8),
        set [Launches Nodes], get [Nodes], Driver;

    /// The kernel may start before its predecessor in the stream ends, and waits for it by itself.
    6 "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION" ProgrammaticStreamSerialization, since (11, 8),
        set [Launches], get [], Driver;

    /// An event that is recorded when every block of the kernel has triggered it.
    7 "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT" ProgrammaticEvent<'e>, since (11, 8), set [Launches], get [], Driver;

    /// The priority, of which greater is more urgent.
    8 "CU_LAUNCH_ATTRIBUTE_PRIORITY" Priority, since (11, 8), set [Streams Launches Nodes], get [Streams Nodes], Driver;

    /// Which domains the two logical memory synchronization domains stand for.
    9 "CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP" MemSyncDomainMap, since (12, 0),
        set [Streams Launches Nodes], get [Streams Nodes], Driver;

    /// The logical memory synchronization domain.
    10 "CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN" MemSyncDomain, since (12, 0),
        set [Streams Launches Nodes], get [Streams Nodes], Driver;

    /// The cluster that is preferred where there is room for it, a multiple of the [`ClusterDimension`].
    11 "CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION" PreferredClusterDimension, since (12, 8),
        set [Launches], get [], Driver,
        "The header claims graph nodes too, and drivers refuse it there.";

    /// An event that is recorded when every block of the kernel has started.
    12 "CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT" LaunchCompletionEvent<'e>, since (12, 3),
        set [Launches], get [], Driver;

    /// A node that kernels can update while its graph runs.
    13 "CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE" DeviceUpdatable, since (12, 4),
        set [Launches Nodes], get [Nodes], Driver,
        "A launch can have it while its stream is capturing; otherwise the driver answers `CUDA_ERROR_NOT_SUPPORTED`.";

    /// How much of the on-chip memory is to be shared memory.
    14 "CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT" PreferredSharedMemoryCarveout, since (12, 5),
        set [Launches Nodes], get [Nodes], Driver,
        "The header's text claims launches only, and drivers accept it on nodes too.";

    /// A hint to spread the kernel's NVLink traffic evenly.
    16 "CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING" NvlinkUtilCentricScheduling, since (13, 0),
        set [Launches Nodes], get [], Driver,
        "The header claims streams too, and drivers refuse it there. On a node it can be set and not read.";

    /// Whether the cluster may be larger than every GPU of the architecture supports.
    17 "CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE" PortableClusterSizeMode, since (13, 2),
        set [Launches Nodes], get [Nodes], Header,
        "The places are those that the header claims; no driver that knows the attribute has been observed.";

    /// Whether the kernel may use more shared memory than every GPU of the architecture has.
    18 "CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE" SharedMemoryMode, since (13, 2),
        set [Launches Nodes], get [Nodes], Header,
        "The places are those that the header claims; no driver that knows the attribute has been observed.";
}

#[cfg(test)]
mod tests {
    use super::{CATALOGUE, GAPS};

    #[test]
    fn every_number_is_a_row_or_a_gap() {
        let mut ids: Vec<u32> = CATALOGUE.iter().map(|entry| entry.id).chain(GAPS.iter().copied()).collect();
        assert!(CATALOGUE.is_sorted_by(|a, b| a.id < b.id));
        ids.sort_unstable();
        assert_eq!(ids, Vec::from_iter(0..=18));
    }

    #[test]
    fn rows_are_coherent() {
        for entry in CATALOGUE {
            let (set, get) = (entry.set, entry.get);
            assert!(entry.name.starts_with("CU_LAUNCH_ATTRIBUTE_"), "{entry:?}");
            assert!(set.streams || set.launches || set.nodes, "{entry:?}");
            assert!(!get.launches && (!get.streams || set.streams) && (!get.nodes || set.nodes), "{entry:?}");
            assert!(CATALOGUE.iter().filter(|other| other.name == entry.name).count() == 1, "{entry:?}");
        }
    }
}
