//! The device: one, as the recorded machine has.

use cuda_sys::{CUdevice_attribute, CUresult};

use crate::abi::Result;
use crate::record;
use crate::state::State;

pub(crate) const ORDINAL: i32 = 0;

/// Priorities of streams and kernels: the least and the greatest, which is the smaller number.
pub(crate) const PRIORITIES: (i32, i32) = (0, -5);

/// The most blocks of a cluster, and of one that a kernel has to allow.
pub(crate) const PORTABLE_CLUSTER: u32 = 8;
pub(crate) const LARGEST_CLUSTER: u32 = 16;

pub(crate) const MULTIPROCESSORS: u32 = 132;
/// Blocks that are resident at once: the limit of a cooperative launch.
pub(crate) const RESIDENT_BLOCKS: u64 = MULTIPROCESSORS as u64 * 32;
pub(crate) const THREADS_PER_BLOCK: u32 = 1024;
pub(crate) const MEMORY: usize = 1 << 34;

/// Attributes of the recorded machine that a program may look at, by number.
const ATTRIBUTES: &[(u32, i32)] = &[
    (1, THREADS_PER_BLOCK as i32), // MAX_THREADS_PER_BLOCK
    (2, 1024),                     // MAX_BLOCK_DIM_X
    (3, 1024),
    (4, 64),
    (5, i32::MAX), // MAX_GRID_DIM_X
    (6, 65535),
    (7, 65535),
    (8, 49152),                   // MAX_SHARED_MEMORY_PER_BLOCK
    (10, 32),                     // WARP_SIZE
    (16, MULTIPROCESSORS as i32), // MULTIPROCESSOR_COUNT
    (19, 1),                      // CAN_MAP_HOST_MEMORY
    (31, 1),                      // CONCURRENT_KERNELS
    (41, 1),                      // UNIFIED_ADDRESSING
    (78, 1),                      // STREAM_PRIORITIES_SUPPORTED
    (83, 1),                      // MANAGED_MEMORY
    (95, 1),                      // COOPERATIVE_LAUNCH
    (108, 39_321_600),            // MAX_PERSISTING_L2_CACHE_SIZE
    (109, 134_217_728),           // MAX_ACCESS_POLICY_WINDOW_SIZE
    (120, 1),                     // CLUSTER_LAUNCH
    (123, 1),                     // CAN_USE_STREAM_WAIT_VALUE_NOR
    (126, 4),                     // MEM_SYNC_DOMAIN_COUNT
];

const COMPUTE_CAPABILITY_MAJOR: u32 = 75;
const COMPUTE_CAPABILITY_MINOR: u32 = 76;
const CAN_USE_64_BIT_STREAM_MEM_OPS: u32 = 122;

/// Attributes without an entry answer 0, those that no header knows are invalid.
pub(crate) fn attribute(state: &State, attribute: CUdevice_attribute) -> Result<i32> {
    let (major, minor) = record::machine().compute_capability();
    match attribute.0 {
        COMPUTE_CAPABILITY_MAJOR => Ok(major),
        COMPUTE_CAPABILITY_MINOR => Ok(minor),
        CAN_USE_64_BIT_STREAM_MEM_OPS => Ok((!state.faults.is_without_wide_operations).into()),
        0 | 200.. => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        number => Ok(ATTRIBUTES.iter().find(|(known, _)| *known == number).map_or(0, |(_, value)| *value)),
    }
}

/// The recorded machine's name, so that nobody takes it for the machine itself.
pub(crate) fn name() -> String {
    format!("Simulated {}", record::machine().device)
}
