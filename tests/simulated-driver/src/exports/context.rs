//! Devices and contexts.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong};

use super::exports;
use crate::abi::Handle;
#[allow(unused_imports, reason = "the header may have it")]
use crate::abi::newer::*;
use crate::context::{self, check_device};
use crate::state::lock;
use crate::{capture, device};

exports! {
    [0 Ordinary] fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int) {
        check_device(*ordinal)?;
        device.write(*ordinal)
    }

    [0 Ordinary] fn cuDeviceGetCount(count: *mut c_int) {
        count.write(1)
    }

    [0 Ordinary] fn cuDeviceGetName(name: *mut c_char, length: c_int, device: CUdevice) {
        check_device(*device)?;
        name.required()?;
        let room = usize::try_from(*length).ok().filter(|room| *room > 0).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        let text: Vec<c_char> = device::name().bytes().take(room - 1).map(u8::cast_signed).collect();
        name.write_all(&text, room, 0);
        Ok(())
    }

    [0 Ordinary] fn cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, device: CUdevice) {
        check_device(*device)?;
        value.write(device::attribute(&lock(), *attribute)?)
    }

    [0 Ordinary] fn cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice) {
        check_device(*device)?;
        bytes.write(device::MEMORY)
    }

    [0 Ordinary] fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice) {
        check_device(*device)?;
        context.required()?;
        context.write(context::retain_primary(&mut lock())?.pointer())
    }

    [0 Ordinary] fn cuDevicePrimaryCtxRelease_v2(device: CUdevice) {
        check_device(*device)?;
        context::release_primary(&mut lock())
    }

    [0 Ordinary] fn cuDevicePrimaryCtxReset_v2(device: CUdevice) {
        check_device(*device)?;
        context::reset_primary(&mut lock());
        Ok(())
    }

    [0 Ordinary] fn cuDevicePrimaryCtxGetState(device: CUdevice, flags: *mut c_uint, active: *mut c_int) {
        check_device(*device)?;
        let state = lock();
        flags.write(state.primary.flags)?;
        active.write(context::is_active(&state).into())
    }

    [0 Ordinary] fn cuDevicePrimaryCtxSetFlags_v2(device: CUdevice, flags: c_uint) {
        check_device(*device)?;
        lock().primary.flags = *flags;
        Ok(())
    }

    [0 Ordinary renamed] fn cuCtxCreate_v2(context: *mut CUcontext, flags: c_uint, device: CUdevice) {
        check_device(*device)?;
        create(context, *flags)
    }

    [12050 Ordinary] fn cuCtxCreate_v4(
        context: *mut CUcontext, _parameters: *mut CUctxCreateParams, flags: c_uint, device: CUdevice
    ) {
        check_device(*device)?;
        create(context, *flags)
    }

    [0 Ordinary] fn cuCtxDestroy_v2(context: CUcontext) {
        context::destroy(&mut lock(), context.handle())
    }

    [0 Ordinary] fn cuCtxPushCurrent_v2(context: CUcontext) {
        context::push(&lock(), context.handle())
    }

    [0 Ordinary] fn cuCtxPopCurrent_v2(context: *mut CUcontext) {
        let popped = context::pop()?;
        context.write_if_wanted(popped.pointer());
        Ok(())
    }

    [0 Ordinary] fn cuCtxSetCurrent(context: CUcontext) {
        context::set_current(&lock(), context.handle())
    }

    [0 Ordinary] fn cuCtxGetCurrent(context: *mut CUcontext) {
        context.write(context::current_or_null().pointer())
    }

    [0 Ordinary] fn cuCtxGetDevice(device: *mut CUdevice) {
        context::current(&lock())?;
        device.write(device::ORDINAL)
    }

    [0 Ordinary] fn cuCtxGetFlags(flags: *mut c_uint) {
        let state = lock();
        let current = context::current(&state)?;
        flags.write(state.contexts.get(&current).map_or(0, |context| context.flags))
    }

    [12000 Ordinary] fn cuCtxGetId(context: CUcontext, id: *mut c_ulonglong) {
        let state = lock();
        let asked = match context.handle() {
            Handle::NULL => context::current(&state)?,
            handle => context::usable(&state, handle)?,
        };
        id.write(state.contexts.get(&asked).map_or(0, |context| context.id))
    }

    [0 Ordinary] fn cuCtxResetPersistingL2Cache() {
        context::current(&lock()).map(drop)
    }

    [0 Ordinary] fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        context::current(&lock())?;
        least.write_if_wanted(device::PRIORITIES.0);
        greatest.write_if_wanted(device::PRIORITIES.1);
        Ok(())
    }

    [0 Ordinary] fn cuCtxSynchronize() {
        let mut state = lock();
        let current = context::current(&state)?;
        capture::forbid_in_context(&mut state, current)?;
        capture::forbid_unsafe_call(&mut state)?;
        context::synchronize(&mut state, current)
    }
}

/// A context that was created is current from then on.
fn create(context: crate::argument::Argument<*mut cuda_sys::CUcontext>, flags: c_uint) -> crate::abi::Result {
    context.required()?;
    let mut state = lock();
    let created = context::create(&mut state, flags);
    context::push(&state, created)?;
    context.write(created.pointer())
}
