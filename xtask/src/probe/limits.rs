//! What a device says of itself, as far as samples depend on it.

use serde::{Deserialize, Serialize};

/// Where the good values end on this device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Limits {
    /// The largest number.
    pub(super) least_priority: i32,
    /// The smallest number.
    pub(super) greatest_priority: i32,
    /// Bytes.
    pub(super) access_window: u32,
    pub(super) memory_domains: u8,
    /// Blocks in a cluster of any kernel, and of one that allows more than every device has.
    pub(super) portable_cluster: u32,
    pub(super) largest_cluster: u32,
}

/// One of [`Limits`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    LeastPriority,
    GreatestPriority,
    AccessWindow,
    MemoryDomains,
    PortableCluster,
    LargestCluster,
}

impl Limits {
    pub(super) fn get(&self, limit: Limit) -> i64 {
        match limit {
            Limit::LeastPriority => self.least_priority.into(),
            Limit::GreatestPriority => self.greatest_priority.into(),
            Limit::AccessWindow => self.access_window.into(),
            Limit::MemoryDomains => self.memory_domains.into(),
            Limit::PortableCluster => self.portable_cluster.into(),
            Limit::LargestCluster => self.largest_cluster.into(),
        }
    }
}

/// What an attribute needs of a device, and not every device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Feature {
    AccessWindow,
    CooperativeLaunch,
    Clusters,
    StreamPriorities,
    MemoryDomains,
}

impl Feature {
    pub(super) const ALL: [Self; 5] =
        [Self::AccessWindow, Self::CooperativeLaunch, Self::Clusters, Self::StreamPriorities, Self::MemoryDomains];

    /// The device attribute that tells, and the least value that means yes.
    pub(super) fn device_attribute(self) -> (u32, i32) {
        match self {
            Self::AccessWindow => (109, 1),
            Self::CooperativeLaunch => (95, 1),
            Self::Clusters => (120, 1),
            Self::StreamPriorities => (78, 1),
            Self::MemoryDomains => (126, 2),
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::AccessWindow => "access policy windows",
            Self::CooperativeLaunch => "cooperative launches",
            Self::Clusters => "clusters",
            Self::StreamPriorities => "stream priorities",
            Self::MemoryDomains => "memory synchronization domains",
        }
    }
}
