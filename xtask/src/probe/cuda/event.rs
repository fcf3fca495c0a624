//! Events, which two attributes record.

use std::ffi::c_uint;
use std::marker::PhantomData;
use std::ptr;

use cuda_sys::{CUevent, cuEventCreate, cuEventDestroy};

use super::context::Context;
use super::status::{Failed, Status, check};

#[derive(Debug)]
pub(crate) struct Event<'context> {
    handle: CUevent,
    context: PhantomData<&'context Context>,
}

impl<'context> Event<'context> {
    pub(crate) fn new(_: &'context Context, flags: c_uint) -> Result<Self, Failed> {
        let mut handle: CUevent = ptr::null_mut();
        // SAFETY: the pointer is valid for the call.
        check("cuEventCreate", unsafe { cuEventCreate(&raw mut handle, flags) })?;
        Ok(Self { handle, context: PhantomData })
    }

    pub(crate) fn address(&self) -> u64 {
        self.handle.expose_provenance() as u64
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: created by `new`, destroyed only here; the driver keeps what a pending record needs.
        let _: Status = unsafe { cuEventDestroy(self.handle) }.into();
    }
}
