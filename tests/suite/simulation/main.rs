//! The simulated driver's own, of which a real one knows nothing.

#[path = "../conformance/common.rs"]
mod common;

mod versions;
