//! Starting the driver, its version, and the names of codes.

use std::ffi::{c_char, c_int, c_uint};

use super::exports;
use crate::state::lock;
use crate::{error_names, threads, version};

exports! {
    [0 Free] fn cuInit(flags: c_uint) {
        if *flags != 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let mut state = lock();
        if !std::mem::replace(&mut state.initialised, true) {
            threads::start();
        }
        Ok(())
    }

    [0 Free] fn cuDriverGetVersion(version: *mut c_int) {
        version.write(version::of_this_library())
    }

    [0 Free] fn cuGetErrorName(error: CUresult, text: *mut *const c_char) {
        text.required()?;
        let Some((name, _)) = error_names::of(*error) else {
            text.write(std::ptr::null())?;
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        };
        text.write(name.as_ptr())
    }

    [0 Free] fn cuGetErrorString(error: CUresult, text: *mut *const c_char) {
        text.required()?;
        let Some((_, description)) = error_names::of(*error) else {
            text.write(std::ptr::null())?;
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        };
        text.write(description.as_ptr())
    }
}
