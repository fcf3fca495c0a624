//! How a suite loads and controls the simulated driver.
//!
//! ```no_run
//! use simulated_driver_client::{Kind, Version, When};
//!
//! let driver = simulated_driver_client::load(Version::V13_0)?;
//! driver.fail("cuStreamCreate", 2, cuda_sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY, When::Before);
//! // … the second call of cuStreamCreate from here on fails …
//! assert_eq!(driver.alive(Kind::UserObjects), 0);
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```
//!
//! The driver is another package, because cargo gives a shared library one name whatever it is built for: one that is
//! loaded can be replaced at any time, one that is linked cannot. A package whose tests load it has both as
//! dependencies.

#![warn(missing_docs)]

mod client;
mod library;
pub mod protocol;
mod version;

use std::path::PathBuf;

use cuda_sys::driver;

pub use client::Client;
pub use library::Error as LibraryError;
pub use protocol::{Kind, When};
pub use version::Version;

/// Kernels that do something on the simulated driver, as PTX that does the same on a device.
pub const KERNELS: &str = include_str!("kernels.ptx");

/// The library that simulates a driver of a version.
///
/// # Errors
///
/// [`LibraryError`] says where it was looked for, and how to build it.
pub fn library(version: Version) -> Result<PathBuf, LibraryError> {
    library::of(version)
}

/// Every name that some version has, and the first version that does as a number such as 12040; 0 if all have it.
///
/// # Errors
///
/// As [`library`].
pub fn names() -> Result<Vec<(String, i32)>, LibraryError> {
    library::names()
}

/// Loads the simulated driver of a version, as this process's driver. Before the first call into CUDA.
///
/// # Errors
///
/// What [`library`] and cuda-sys's loader have to say, such as that another driver is loaded already.
pub fn load(version: Version) -> Result<Client, Box<dyn std::error::Error + Send + Sync>> {
    driver::load_from(library(version)?)?;
    Client::of_loaded_driver().ok_or_else(|| "the driver that is loaded is not the simulated one".into())
}
