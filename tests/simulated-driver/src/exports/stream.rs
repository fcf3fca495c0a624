//! Streams.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use cuda_sys::CUresult;

use super::exports;
use crate::abi::{Handle, Result, UserData};
use crate::argument::Argument;
use crate::attributes;
use crate::record::Surface;
use crate::state::{find, find_mut, hold_back, lock};
use crate::stream::{self, Enqueued, resolve};
use crate::work::Task;
use crate::{context, device, event};

exports! {
    [0 Ordinary] fn cuStreamCreate(stream: *mut CUstream, flags: c_uint) {
        stream.required()?;
        stream.write(stream::create(&mut lock(), *flags, 0)?.pointer())
    }

    [0 Ordinary] fn cuStreamCreateWithPriority(stream: *mut CUstream, flags: c_uint, priority: c_int) {
        stream.required()?;
        stream.write(stream::create(&mut lock(), *flags, *priority)?.pointer())
    }

    [0 Query] fn cuStreamDestroy_v2(stream: CUstream) {
        stream::destroy(&mut lock(), stream.handle())
    }

    [0 Query ptsz] fn cuStreamQuery(stream: CUstream) {
        let mut state = lock();
        let stream = resolve(&mut state, stream.handle())?;
        stream::query(&mut state, stream)
    }

    [0 Query ptsz] fn cuStreamSynchronize(stream: CUstream) {
        let mut state = lock();
        let stream = resolve(&mut state, stream.handle())?;
        stream::synchronize(&mut state, stream)
    }

    [0 Ordinary ptsz] fn cuStreamGetCtx(stream: CUstream, context: *mut CUcontext) {
        let mut state = lock();
        let stream = resolve(&mut state, stream.handle())?;
        context.write(find(&state.streams, stream)?.context.pointer())
    }

    [12080 Ordinary ptsz] fn cuStreamGetDevice(stream: CUstream, device: *mut CUdevice) {
        resolve(&mut lock(), stream.handle())?;
        device.write(device::ORDINAL)
    }

    [0 Ordinary ptsz] fn cuStreamGetFlags(stream: CUstream, flags: *mut c_uint) {
        let mut state = lock();
        let stream = resolve(&mut state, stream.handle())?;
        flags.write(find(&state.streams, stream)?.flags)
    }

    [0 Ordinary ptsz] fn cuStreamGetPriority(stream: CUstream, priority: *mut c_int) {
        let mut state = lock();
        let stream = resolve(&mut state, stream.handle())?;
        priority.write(attributes::priority(&find(&state.streams, stream)?.attributes))
    }

    [12000 Query ptsz] fn cuStreamGetId(stream: CUstream, id: *mut c_ulonglong) {
        id.required()?;
        let mut state = lock();
        let stream = resolve(&mut state, stream.handle())?;
        context::check(&state, find(&state.streams, stream)?.context)?;
        stream::forbid_in_capture(&mut state, stream)?;
        id.write(stream.number())
    }

    [0 Query ptsz] fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint) {
        const EXTERNAL: c_uint = 1;
        if *flags & !EXTERNAL != 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let mut state = lock();
        let stream = resolve(&mut state, stream.handle())?;
        event::wait_in_stream(&mut state, stream, event.handle())
    }

    [0 Ordinary ptsz] fn cuStreamCopyAttributes(to: CUstream, from: CUstream) {
        let mut state = lock();
        let to = resolve(&mut state, to.handle())?;
        let from = resolve(&mut state, from.handle())?;
        let copied = find(&state.streams, from)?.attributes.clone();
        find_mut(&mut state.streams, to)?.attributes = copied;
        Ok(())
    }

    [0 Query ptsz] fn cuStreamGetAttribute(stream: CUstream, id: CUstreamAttrID, value: *mut CUstreamAttrValue) {
        let mut state = lock();
        let stream = resolve(&mut state, stream.handle())?;
        write(value, &attributes::get(Surface::StreamGet, id.0, &find(&state.streams, stream)?.attributes)?)
    }

    [0 Ordinary ptsz] fn cuStreamSetAttribute(stream: CUstream, id: CUstreamAttrID, value: *const CUstreamAttrValue) {
        let mut state = lock();
        let stream = resolve(&mut state, stream.handle())?;
        if context::current_or_null() == Handle::NULL {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        attributes::set(Surface::StreamSet, id.0, value.bytes()?, &mut find_mut(&mut state.streams, stream)?.attributes)
    }

    [0 Ordinary ptsz] fn cuStreamAddCallback(
        stream: CUstream, callback: CUstreamCallback, user_data: *mut c_void, flags: c_uint
    ) {
        let function = (*callback).filter(|_| *flags == 0).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        stream::add_callback(&mut lock(), stream.handle(), function, UserData(*user_data))
    }

    [0 Query ptsz] fn cuLaunchHostFunc(stream: CUstream, function: CUhostFn, user_data: *mut c_void) {
        launch_host_function(stream, *function, *user_data)
    }

    [13020 Query ptsz] fn cuLaunchHostFunc_v2(
        stream: CUstream, function: CUhostFn, user_data: *mut c_void, sync_mode: c_uint
    ) {
        const SPIN_WAIT: c_uint = 1;
        if *sync_mode > SPIN_WAIT {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        launch_host_function(stream, *function, *user_data)?;
        lock().spin_wait_host_functions += u64::from(*sync_mode == SPIN_WAIT);
        Ok(())
    }
}

fn launch_host_function(
    stream: Argument<cuda_sys::CUstream>,
    function: cuda_sys::CUhostFn,
    user_data: *mut c_void,
) -> Result {
    let function = function.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    let mut state = lock();
    hold_back(&mut state);
    let stream = resolve(&mut state, stream.handle())?;
    stream::enqueue(&mut state, stream, Task::Host { function, data: UserData(user_data) }).map(|Enqueued| ())
}

/// Writes the bytes that the driver writes, and leaves the others.
pub(super) fn write<T>(value: Argument<*mut T>, written: &attributes::Written) -> Result {
    for (index, byte) in written.iter().enumerate() {
        if let Some(byte) = byte {
            value.write_byte(index, *byte)?;
        }
    }
    value.required()
}
