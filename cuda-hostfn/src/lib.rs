//! Typed attributes and host functions on CUDA streams.
#![warn(missing_docs)]

/// The raw driver API that this crate is built on.
pub use cuda_sys as sys;
