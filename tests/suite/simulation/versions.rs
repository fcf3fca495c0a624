//! Each version is a library with the names that it had. A process has one driver, so each is a child's.

use std::ffi::{CStr, c_uint, c_void};
use std::ptr::{self, NonNull};

use cuda_sys::{CUhostFn, CUresult, CUstream, driver};
use libtest_mimic::Failed;
use simulated_driver_client::{Client, Version};
use tests::equal;

use crate::raw::{made, ok};

/// What a child is told to check.
pub(crate) const QUESTIONS: [(&str, Version); 5] = [
    ("11.4 has its number and its names", Version::V11_4),
    ("12.2 has its number and its names", Version::V12_2),
    ("12.4 has its number and its names", Version::V12_4),
    ("13.0 has its number and its names", Version::V13_0),
    ("13.2 has its number and its names", Version::V13_2),
];

/// Names that some versions have, and the first that has them.
const NAMES: [(&CStr, Version); 9] = [
    (c"cuLaunchHostFunc", Version::V11_4),
    (c"cuStreamGetCaptureInfo_v2", Version::V11_4),
    (c"cuStreamBatchMemOp", Version::V11_4),
    (c"cuStreamBatchMemOp_v2_ptsz", Version::V12_2),
    (c"cuStreamGetId", Version::V12_2),
    (c"cuLaunchKernelEx", Version::V12_2),
    (c"cuStreamGetCaptureInfo_v3", Version::V12_4),
    (c"cuLaunchHostFunc_v2", Version::V13_2),
    (c"cuLaunchHostFunc_v2_ptsz", Version::V13_2),
];

pub(crate) fn check(version: Version) -> Result<(), Failed> {
    let client = simulated_driver_client::load(version)?;
    let mut number = 0;
    ok!(cuDriverGetVersion(&raw mut number));
    equal("the number", &number, &version.number())?;
    ok!(cuInit(0));
    for (name, since) in NAMES {
        equal(&name.to_string_lossy(), &driver::symbol(name).is_some(), &(version >= since))?;
    }
    driver::symbol(c"cuLaunchHostFunc_v2").map_or(Ok(()), |launch| in_both_modes(client, launch))
}

fn in_both_modes(client: Client, launch: NonNull<c_void>) -> Result<(), Failed> {
    type Launch = unsafe extern "C" fn(CUstream, CUhostFn, *mut c_void, c_uint) -> CUresult;
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    // SAFETY: the function of that name has this type.
    let launch = unsafe { std::mem::transmute::<NonNull<c_void>, Launch>(launch) };
    let context = made!(cuDevicePrimaryCtxRetain(0));
    ok!(cuCtxSetCurrent(context));
    // SAFETY: NULL is a stream, and the function needs no data.
    let codes = [0, 1, 2].map(|mode| unsafe { launch(ptr::null_mut(), Some(nothing), ptr::null_mut(), mode) });
    equal("codes", &codes, &[CUresult::CUDA_SUCCESS, CUresult::CUDA_SUCCESS, CUresult::CUDA_ERROR_INVALID_VALUE])?;
    ok!(cuCtxSynchronize());
    equal(
        "host functions, and those that spin",
        &(client.host_functions_run(), client.spin_wait_host_functions()),
        &(2, 1),
    )
}

pub(crate) fn no_other() -> Result<(), Failed> {
    let refused = "12.3".parse::<Version>().unwrap_err();
    tests::check(refused.contains("12.2"), || refused)?;
    equal("the default", &"13.0".parse(), &Ok(Version::default()))
}
