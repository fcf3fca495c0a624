//! The CUDA version that this library is of.

use std::sync::atomic::{AtomicI32, Ordering};

use simulated_driver_client::Version;

/// Copies of the library for older versions have another number here.
#[unsafe(export_name = "simulated_driver_version")]
static VERSION: AtomicI32 = AtomicI32::new(Version::V13_2.number());

pub(crate) fn of_this_library() -> i32 {
    VERSION.load(Ordering::Relaxed)
}
