//! One function's address, resolved at its first call and remembered.

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::library;
use crate::CUresult;

#[derive(Debug)]
pub(crate) struct Symbol {
    address: AtomicPtr<c_void>,
    name: &'static CStr,
}

impl Symbol {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { address: AtomicPtr::new(ptr::null_mut()), name }
    }

    /// The address, or the code that the function answers in place of the driver.
    #[inline(always)]
    pub(crate) fn get(&self) -> Result<NonNull<c_void>, CUresult> {
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
