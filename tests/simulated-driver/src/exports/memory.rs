//! Memory.

use std::ffi::{c_uchar, c_uint, c_ushort, c_void};

use cuda_sys::{CUresult, CUstream};

use super::exports;
use crate::abi::{Handle, Result};
use crate::argument::Argument;
use crate::memory::{self, Copy, Fill, Kind, Source};
use crate::state::{Guard, State, lock};
use crate::stream::{self, Enqueued, resolve};
use crate::work::Task;
use crate::{capture, context, device};

exports! {
    [0 Ordinary] fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let state = lock();
        context::current(&state)?;
        free.write(device::MEMORY - state.memory.used())?;
        total.write(device::MEMORY)
    }

    [0 Ordinary] fn cuMemAlloc_v2(address: *mut CUdeviceptr, length: usize) {
        address.required()?;
        address.write(allocate(Kind::Device, *length)?)
    }

    [0 Ordinary] fn cuMemFree_v2(address: CUdeviceptr) {
        free(Kind::Device, *address)
    }

    [0 Ordinary] fn cuMemAllocHost_v2(address: *mut *mut c_void, length: usize) {
        address.required()?;
        address.write(pointer(allocate(Kind::PinnedHost, *length)?))
    }

    [0 Ordinary] fn cuMemHostAlloc(address: *mut *mut c_void, length: usize, _flags: c_uint) {
        address.required()?;
        address.write(pointer(allocate(Kind::PinnedHost, *length)?))
    }

    [0 Ordinary] fn cuMemFreeHost(address: *mut c_void) {
        free(Kind::PinnedHost, number(address.as_const()))
    }

    [0 Ordinary] fn cuMemHostRegister_v2(address: *mut c_void, length: usize, _flags: c_uint) {
        let mut state = lock();
        let context = context::current(&state)?;
        context::check(&state, context)?;
        state.memory.register(context, number(address.as_const()), *length)
    }

    [0 Ordinary] fn cuMemHostUnregister(address: *mut c_void) {
        free(Kind::RegisteredHost, number(address.as_const()))
    }

    [0 Ordinary] fn cuMemHostGetDevicePointer_v2(device: *mut CUdeviceptr, address: *mut c_void, _flags: c_uint) {
        let address = number(address.as_const());
        let state = lock();
        context::current(&state)?;
        if !state.memory.is_host(address) {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        device.write(address)
    }

    [0 Ordinary ptds] fn cuMemcpyHtoD_v2(to: CUdeviceptr, from: *const c_void, length: usize) {
        copy_and_wait(*to, number(from), *length, &[*to])
    }

    [0 Ordinary ptds] fn cuMemcpyDtoH_v2(to: *mut c_void, from: CUdeviceptr, length: usize) {
        copy_and_wait(number(to.as_const()), *from, *length, &[*from])
    }

    [0 Ordinary ptds] fn cuMemcpyDtoD_v2(to: CUdeviceptr, from: CUdeviceptr, length: usize) {
        copy_and_wait(*to, *from, *length, &[*to, *from])
    }

    [0 Ordinary ptds] fn cuMemcpy(to: CUdeviceptr, from: CUdeviceptr, length: usize) {
        copy_and_wait(*to, *from, *length, &[])
    }

    [0 Ordinary ptsz] fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, length: usize, stream: CUstream) {
        copy(stream, *to, number(from), *length, &[*to])
    }

    [0 Ordinary ptsz] fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, length: usize, stream: CUstream) {
        copy(stream, number(to.as_const()), *from, *length, &[*from])
    }

    [0 Ordinary ptsz] fn cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, length: usize, stream: CUstream) {
        copy(stream, *to, *from, *length, &[*to, *from])
    }

    [0 Ordinary ptsz] fn cuMemcpyAsync(to: CUdeviceptr, from: CUdeviceptr, length: usize, stream: CUstream) {
        copy(stream, *to, *from, *length, &[])
    }

    [0 Ordinary ptds] fn cuMemsetD8_v2(address: CUdeviceptr, value: c_uchar, count: usize) {
        fill_default(*address, &value.to_le_bytes(), *count)
    }

    [0 Ordinary ptds] fn cuMemsetD16_v2(address: CUdeviceptr, value: c_ushort, count: usize) {
        fill_default(*address, &value.to_le_bytes(), *count)
    }

    [0 Ordinary ptds] fn cuMemsetD32_v2(address: CUdeviceptr, value: c_uint, count: usize) {
        fill_default(*address, &value.to_le_bytes(), *count)
    }

    [0 Ordinary ptsz] fn cuMemsetD8Async(address: CUdeviceptr, value: c_uchar, count: usize, stream: CUstream) {
        fill(stream.handle(), *address, &value.to_le_bytes(), *count)
    }

    [0 Ordinary ptsz] fn cuMemsetD16Async(address: CUdeviceptr, value: c_ushort, count: usize, stream: CUstream) {
        fill(stream.handle(), *address, &value.to_le_bytes(), *count)
    }

    [0 Ordinary ptsz] fn cuMemsetD32Async(address: CUdeviceptr, value: c_uint, count: usize, stream: CUstream) {
        fill(stream.handle(), *address, &value.to_le_bytes(), *count)
    }
}

fn allocate(kind: Kind, length: usize) -> Result<u64> {
    let mut state = lock();
    let context = context::current(&state)?;
    context::check(&state, context)?;
    capture::forbid_unsafe_call(&mut state)?;
    state.memory.allocate(context, kind, length)
}

/// Waits for the device, as the real ones do, and frees.
fn free(kind: Kind, address: u64) -> Result {
    let mut state = lock();
    if address == 0 && kind == Kind::Device {
        return Ok(());
    }
    let context = context::current(&state)?;
    capture::forbid_unsafe_call(&mut state)?;
    let waited = context::synchronize(&mut state, context);
    state.memory.free(kind, address)?;
    waited
}

fn number(pointer: Argument<*const c_void>) -> u64 {
    pointer.expose_provenance() as u64
}

fn pointer(address: u64) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or_default())
}

/// Checks the addresses that have to be the device's, and takes memory that is not pinned as it is now.
fn prepare(state: &State, to: u64, from: u64, length: usize, device: &[u64]) -> Result<Task> {
    if !device.iter().all(|address| state.memory.is_known(*address, length)) {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let is_pinned = state.memory.is_known(from, length);
    let from = if is_pinned || length == 0 { Source::Memory(from) } else { memory::snapshot(from, length) };
    Ok(Task::Copy(Copy { to, from, length }))
}

fn copy(stream: Argument<CUstream>, to: u64, from: u64, length: usize, device: &[u64]) -> Result {
    let mut state = lock();
    let stream = resolve(&mut state, stream.handle())?;
    let task = prepare(&state, to, from, length, device)?;
    stream::enqueue(&mut state, stream, task).map(|Enqueued| ())
}

fn copy_and_wait(to: u64, from: u64, length: usize, device: &[u64]) -> Result {
    let mut state = lock();
    capture::forbid_unsafe_call(&mut state)?;
    let stream = resolve(&mut state, Handle::NULL)?;
    let task = prepare(&state, to, from, length, device)?;
    enqueue_and_wait(&mut state, stream, task)
}

fn enqueue_and_wait(state: &mut Guard, stream: Handle, task: Task) -> Result {
    stream::enqueue(state, stream, task)?;
    stream::synchronize(state, stream)
}

fn fill(stream: Handle, address: u64, pattern: &[u8], count: usize) -> Result {
    let mut state = lock();
    let stream = resolve(&mut state, stream)?;
    let task = prepare_fill(&state, address, pattern, count)?;
    stream::enqueue(&mut state, stream, task).map(|Enqueued| ())
}

fn fill_default(address: u64, pattern: &[u8], count: usize) -> Result {
    let mut state = lock();
    capture::forbid_unsafe_call(&mut state)?;
    let stream = resolve(&mut state, Handle::NULL)?;
    let task = prepare_fill(&state, address, pattern, count)?;
    enqueue_and_wait(&mut state, stream, task)
}

fn prepare_fill(state: &State, to: u64, pattern: &[u8], count: usize) -> Result<Task> {
    if !state.memory.is_known(to, pattern.len() * count) {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    Ok(Task::Fill(Fill { to, pattern: pattern.into(), count }))
}
