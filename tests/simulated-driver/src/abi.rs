//! What the exported functions and the model share: results, handles, and C types that older headers lack.

use std::ffi::c_void;
use std::ptr;

use cuda_sys::CUresult;

/// What a call comes to: `Err` is any code but `CUDA_SUCCESS`.
pub(crate) type Result<T = ()> = std::result::Result<T, CUresult>;

/// A handle that the driver gave out: a number, never an address, and never given out again. So a destroyed or foreign
/// handle is found out and not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Handle(u64);

impl Handle {
    pub(crate) const NULL: Self = Self(0);

    /// The `n`-th handle. No address of the host looks like it.
    pub(crate) const fn nth(n: u64) -> Self {
        Self(0xc0da_0000_0000 + n * 16)
    }

    pub(crate) fn of<T>(pointer: *mut T) -> Self {
        Self(pointer.addr() as u64)
    }

    pub(crate) fn pointer<T>(self) -> *mut T {
        ptr::without_provenance_mut(usize::try_from(self.0).unwrap_or_default())
    }

    pub(crate) const fn number(self) -> u64 {
        self.0
    }
}

/// A pointer of the program's, which the driver only passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UserData(pub(crate) *mut c_void);

// SAFETY: whoever gave the pointer to CUDA agreed to get it back on a thread of the driver's.
unsafe impl Send for UserData {}
// SAFETY: nothing here follows it.
unsafe impl Sync for UserData {}

/// A host function that is not NULL.
pub(crate) type HostFn = unsafe extern "C" fn(*mut c_void);
/// A stream callback that is not NULL.
pub(crate) type CallbackFn = unsafe extern "C" fn(cuda_sys::CUstream, CUresult, *mut c_void);

/// `CUDA_ERROR_LOSSY_QUERY`, which headers before 12.3 lack.
pub(crate) const LOSSY_QUERY: CUresult = CUresult(402);

/// C types under the names of newer headers, for builds on a header that lacks them: exported functions are declared
/// where `cuda_sys::*` comes first.
pub(crate) mod newer {
    #![allow(non_snake_case, missing_debug_implementations, reason = "CUDA's names")]
    #![allow(dead_code, reason = "each is used only where the header lacks it")]

    use std::ffi::{c_uchar, c_uint, c_void};

    use cuda_sys::{CUcontext, CUfunction, CUgraphExecUpdateResult, CUgraphNode};

    pub(crate) struct CUctxCreateParams {
        _opaque: [u8; 0],
    }

    #[repr(C, align(8))]
    pub(crate) struct CUgraphNodeParams {
        _opaque: [u8; 256],
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub(crate) struct CUgraphEdgeData {
        pub(crate) from_port: c_uchar,
        pub(crate) to_port: c_uchar,
        pub(crate) type_: c_uchar,
        pub(crate) reserved: [c_uchar; 5],
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub(crate) struct CUDA_KERNEL_NODE_PARAMS_v2 {
        pub(crate) func: CUfunction,
        pub(crate) gridDimX: c_uint,
        pub(crate) gridDimY: c_uint,
        pub(crate) gridDimZ: c_uint,
        pub(crate) blockDimX: c_uint,
        pub(crate) blockDimY: c_uint,
        pub(crate) blockDimZ: c_uint,
        pub(crate) sharedMemBytes: c_uint,
        pub(crate) kernelParams: *mut *mut c_void,
        pub(crate) extra: *mut *mut c_void,
        pub(crate) kern: *mut c_void,
        pub(crate) ctx: CUcontext,
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub(crate) struct CUgraphExecUpdateResultInfo {
        pub(crate) result: CUgraphExecUpdateResult,
        pub(crate) errorNode: CUgraphNode,
        pub(crate) errorFromNode: CUgraphNode,
    }
}
