//! Each version is a library with the names that it had.

use std::ffi::{c_uint, c_void};
use std::process::Command;
use std::ptr::{self, NonNull};

use cuda_sys::{CUhostFn, CUresult, CUstream, driver};
use simulated_driver_client::{Client, Version};

const CHILD: &str = "SIMULATED_DRIVER_TEST_VERSION";

/// Names that some versions have, and the first that has them.
const NAMES: [(&std::ffi::CStr, Version); 6] = [
    (c"cuLaunchHostFunc", Version::V11_4),
    (c"cuStreamGetCaptureInfo_v2", Version::V11_4),
    (c"cuLaunchKernelEx", Version::V12_2),
    (c"cuStreamGetCaptureInfo_v3", Version::V12_4),
    (c"cuLaunchHostFunc_v2", Version::V13_2),
    (c"cuLaunchHostFunc_v2_ptsz", Version::V13_2),
];

#[test]
fn each_has_its_number_and_its_names() {
    if let Ok(version) = std::env::var(CHILD) {
        return check(version.parse().unwrap());
    }
    for version in Version::ALL {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "versions::each_has_its_number_and_its_names", "--nocapture"]);
        let status = child.env(CHILD, version.to_string()).status().unwrap();
        assert!(status.success(), "{version}");
    }
}

fn check(version: Version) {
    let client = crate::common::load(version);
    let mut number = 0;
    crate::common::ok!(cuDriverGetVersion(&raw mut number));
    assert_eq!(number, version.number());
    crate::common::ok!(cuInit(0));
    for (name, since) in NAMES {
        assert_eq!(driver::symbol(name).is_some(), version >= since, "{name:?} in {version}");
    }
    if let Some(launch) = driver::symbol(c"cuLaunchHostFunc_v2") {
        launch_in_both_modes(client, launch);
    }
}

fn launch_in_both_modes(client: Client, launch: NonNull<c_void>) {
    type Launch = unsafe extern "C" fn(CUstream, CUhostFn, *mut c_void, c_uint) -> CUresult;
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    // SAFETY: the function of that name has this type.
    let launch = unsafe { std::mem::transmute::<NonNull<c_void>, Launch>(launch) };
    let mut context = ptr::null_mut();
    crate::common::ok!(cuDevicePrimaryCtxRetain(&raw mut context, 0));
    crate::common::ok!(cuCtxSetCurrent(context));
    // SAFETY: NULL is a stream, and the function needs no data.
    let codes = [0, 1, 2].map(|mode| unsafe { launch(ptr::null_mut(), Some(nothing), ptr::null_mut(), mode) });
    assert_eq!(codes, [CUresult::CUDA_SUCCESS, CUresult::CUDA_SUCCESS, CUresult::CUDA_ERROR_INVALID_VALUE]);
    crate::common::ok!(cuCtxSynchronize());
    assert_eq!((client.host_functions_run(), client.spin_wait_host_functions()), (2, 1));
}

#[test]
fn there_is_no_other_version() {
    assert!("12.3".parse::<Version>().unwrap_err().contains("12.2"));
    assert_eq!("13.0".parse(), Ok(Version::default()));
}
