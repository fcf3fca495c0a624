//! What a machine without a driver answers. A process of its own, since a driver is loaded once.
#![cfg(not(feature = "link"))]

use std::error::Error as _;

use cuda_hostfn::sys::driver::OVERRIDE;
use cuda_hostfn::{Context, Device, Error, driver_version};

#[test]
fn the_error_says_what_was_looked_for() {
    const NOWHERE: &str = "/nonexistent/libcuda.so.1";
    // SAFETY: the only test of this process, and nothing else runs yet.
    unsafe { std::env::set_var(OVERRIDE, NOWHERE) };
    for error in [Device::get(0).unwrap_err(), Device::count().unwrap_err(), driver_version().unwrap_err()] {
        assert!(matches!(error, Error::NoDriver(_)), "{error:?}");
        assert!(error.to_string().contains(NOWHERE) && error.to_string().contains(OVERRIDE), "{error}");
        assert!(error.code().is_none() && error.source().is_none());
    }
    // SAFETY: NULL is no context, which is found out without one.
    let error = unsafe { Context::from_raw(std::ptr::null_mut()) }.unwrap_err();
    assert!(matches!(error, Error::NoDriver(_)), "{error:?}");
}
