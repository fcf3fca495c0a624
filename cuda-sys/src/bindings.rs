//! What `build.rs` generated.

#![allow(
    missing_debug_implementations,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::multiple_unsafe_ops_per_block,
    clippy::undocumented_unsafe_blocks,
    rustdoc::all,
    reason = "bindgen's code, C's names and NVIDIA's documentation"
)]

include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
