//! The structures that carry attributes have had one layout in every header; code that passes ids newer than the
//! header relies on it. bindgen asserts what clang saw; this asserts what is promised.

use std::mem::{align_of, offset_of, size_of};

use crate::{CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue, CUlaunchConfig};

const _: () = {
    assert!(size_of::<CUlaunchAttributeID>() == 4);
    assert!(size_of::<CUlaunchAttributeValue>() == 64);
    assert!(align_of::<CUlaunchAttributeValue>() == 8);
    assert!(size_of::<CUlaunchAttribute>() == 72);
    assert!(align_of::<CUlaunchAttribute>() == 8);
    assert!(offset_of!(CUlaunchAttribute, id) == 0);
    assert!(offset_of!(CUlaunchAttribute, value) == 8);
};

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<CUlaunchConfig>() == 56);
    assert!(offset_of!(CUlaunchConfig, gridDimX) == 0);
    assert!(offset_of!(CUlaunchConfig, sharedMemBytes) == 24);
    assert!(offset_of!(CUlaunchConfig, hStream) == 32);
    assert!(offset_of!(CUlaunchConfig, attrs) == 40);
    assert!(offset_of!(CUlaunchConfig, numAttrs) == 48);
};
