//! One function's address, resolved at its first call and remembered.

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::library;
use crate::CUresult;

/// A function that is asked for by name: one newer or older than the header, or with another signature there.
///
/// ```
/// use std::ffi::{c_int, c_void};
///
/// use cuda_sys::CUresult;
/// use cuda_sys::driver::Symbol;
///
/// static VERSION: Symbol = Symbol::new(c"cuDriverGetVersion");
///
/// fn version() -> Result<c_int, CUresult> {
///     let address = VERSION.get()?.as_ptr();
///     // SAFETY: the signature that this name has in every driver.
///     let function = unsafe {
///         std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_int) -> CUresult>(address)
///     };
///     let mut version = 0;
///     // SAFETY: the pointer is valid for a write.
///     match unsafe { function(&raw mut version) } {
///         CUresult::CUDA_SUCCESS => Ok(version),
///         code => Err(code),
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Symbol {
    address: AtomicPtr<c_void>,
    name: &'static CStr,
}

impl Symbol {
    /// A function by the name that the driver exports, such as `c"cuLaunchHostFunc_v2"`. Nothing is loaded yet.
    pub const fn new(name: &'static CStr) -> Self {
        Self { address: AtomicPtr::new(ptr::null_mut()), name }
    }

    /// The function's address. Any thread may ask, as often as it likes: the name is looked up once.
    ///
    /// # Errors
    ///
    /// The code to answer in place of the driver: `CUDA_ERROR_SHARED_OBJECT_INIT_FAILED` if there is none, and
    /// `CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND` if it lacks the function. A later call looks again.
    #[inline(always)]
    pub fn get(&self) -> Result<NonNull<c_void>, CUresult> {
        match NonNull::new(self.address.load(Ordering::Acquire)) {
            Some(address) => Ok(address),
            None => self.resolve(),
        }
    }

    #[cold]
    #[inline(never)]
    fn resolve(&self) -> Result<NonNull<c_void>, CUresult> {
        let library = library().map_err(|_| CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED)?;
        let address = library.symbol(self.name).ok_or(CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND)?;
        self.address.store(address.as_ptr(), Ordering::Release);
        Ok(address)
    }
}
