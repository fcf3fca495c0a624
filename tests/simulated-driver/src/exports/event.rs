//! Events.

use std::ffi::{c_float, c_uint};

use super::exports;
use crate::abi::Result;
use crate::argument::Argument;
use crate::event;
use crate::state::lock;
use crate::stream::resolve;

exports! {
    [0 Ordinary] fn cuEventCreate(event: *mut CUevent, flags: c_uint) {
        event.required()?;
        event.write(event::create(&mut lock(), *flags)?.pointer())
    }

    [0 Query] fn cuEventDestroy_v2(event: CUevent) {
        event::destroy(&mut lock(), event.handle())
    }

    [0 Query ptsz] fn cuEventRecord(event: CUevent, stream: CUstream) {
        let mut state = lock();
        let stream = resolve(&mut state, stream.handle())?;
        event::record(&mut state, event.handle(), stream)
    }

    [0 Query] fn cuEventQuery(event: CUevent) {
        event::query(&mut lock(), event.handle())
    }

    [0 Query] fn cuEventSynchronize(event: CUevent) {
        event::synchronize(&mut lock(), event.handle())
    }

    [0 Ordinary] fn cuEventElapsedTime(milliseconds: *mut c_float, start: CUevent, end: CUevent) {
        elapsed(milliseconds, start, end)
    }

    [12080 Ordinary] fn cuEventElapsedTime_v2(milliseconds: *mut c_float, start: CUevent, end: CUevent) {
        elapsed(milliseconds, start, end)
    }
}

fn elapsed(
    milliseconds: Argument<*mut c_float>,
    start: Argument<cuda_sys::CUevent>,
    end: Argument<cuda_sys::CUevent>,
) -> Result {
    milliseconds.required()?;
    milliseconds.write(event::elapsed(&mut lock(), start.handle(), end.handle())?)
}
