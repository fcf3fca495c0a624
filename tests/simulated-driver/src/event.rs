//! Events.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use cuda_sys::CUresult;

use crate::abi::{Handle, Result};
use crate::state::{Guard, State, find};
use crate::stream::{self, Enqueued};
use crate::work::Task;
use crate::{capture, context};

pub(crate) const BLOCKING_SYNC: u32 = 1;
pub(crate) const DISABLE_TIMING: u32 = 2;
pub(crate) const INTERPROCESS: u32 = 4;

#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) context: Handle,
    pub(crate) flags: u32,
    last: Last,
}

/// What an event was last recorded in.
#[derive(Debug)]
enum Last {
    Nothing,
    Stream(Arc<Record>),
    /// A capture, and the nodes that a wait for the event depends on.
    Capture(Handle, Vec<Handle>),
}

/// One recording of an event in a stream, which outlives the event.
#[derive(Debug, Default)]
pub(crate) struct Record {
    reached: OnceLock<Instant>,
}

impl Record {
    pub(crate) fn reach(&self) {
        let _ = self.reached.set(Instant::now());
    }

    pub(crate) fn is_reached(&self) -> bool {
        self.reached.get().is_some()
    }
}

impl Event {
    pub(crate) fn has_timing(&self) -> bool {
        self.flags & DISABLE_TIMING == 0
    }

    /// A new recording, which has yet to be reached.
    pub(crate) fn renew(&mut self) -> Arc<Record> {
        let record = Arc::<Record>::default();
        self.last = Last::Stream(Arc::clone(&record));
        record
    }

    /// The recording that a wait would be for.
    pub(crate) fn pending(&self) -> Option<Arc<Record>> {
        match &self.last {
            Last::Stream(record) => Some(Arc::clone(record)),
            _ => None,
        }
    }

    pub(crate) fn set_captured(&mut self, capture: Handle, nodes: Vec<Handle>) {
        self.last = Last::Capture(capture, nodes);
    }
}

pub(crate) fn create(state: &mut State, flags: u32) -> Result<Handle> {
    let current = context::current(state)?;
    context::check(state, current)?;
    let needs_no_timing = flags & INTERPROCESS != 0 && flags & DISABLE_TIMING == 0;
    if flags & !(BLOCKING_SYNC | DISABLE_TIMING | INTERPROCESS) != 0 || needs_no_timing {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let handle = state.new_handle();
    state.events.insert(handle, Event { context: current, flags, last: Last::Nothing });
    Ok(handle)
}

pub(crate) fn destroy(state: &mut State, event: Handle) -> Result {
    let context = find(&state.events, event)?.context;
    state.events.remove(&event);
    context::check(state, context)
}

/// Records an event in a stream, or in the graph that the stream captures.
pub(crate) fn record(state: &mut State, event: Handle, stream: Handle) -> Result {
    let context = find(&state.events, event)?.context;
    if find(&state.streams, stream)?.context != context {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    if let Some(capture) = capture::of_stream(state, stream)? {
        let nodes = capture::dependencies(state, stream)?;
        if let Some(event) = state.events.get_mut(&event) {
            event.set_captured(capture, nodes);
        }
        return Ok(());
    }
    let record = Arc::<Record>::default();
    stream::enqueue(state, stream, Task::Record(Arc::clone(&record)))?;
    if let Some(event) = state.events.get_mut(&event) {
        event.last = Last::Stream(record);
    }
    Ok(())
}

/// Makes a stream wait for an event; a stream that waits for a captured event joins the capture.
pub(crate) fn wait_in_stream(state: &mut State, stream: Handle, event: Handle) -> Result {
    match &find(&state.events, event)?.last {
        Last::Nothing => find(&state.streams, stream).map(drop),
        Last::Capture(capture, nodes) => {
            let (capture, nodes) = (*capture, nodes.clone());
            capture::join(state, stream, capture, &nodes)
        }
        Last::Stream(record) => {
            let record = Arc::clone(record);
            if capture::of_stream(state, stream)?.is_some() {
                capture::invalidate(state, stream);
                return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
            }
            stream::enqueue(state, stream, Task::Wait(record)).map(|Enqueued| ())
        }
    }
}

fn recorded(state: &mut State, event: Handle) -> Result<Option<Arc<Record>>> {
    let context = find(&state.events, event)?.context;
    if let Last::Capture(capture, _) = find(&state.events, event)?.last {
        capture::set_invalid(state, capture);
        return Err(CUresult::CUDA_ERROR_CAPTURED_EVENT);
    }
    capture::forbid_unsafe_call(state)?;
    context::notice(state, context)?;
    Ok(find(&state.events, event)?.pending())
}

pub(crate) fn query(state: &mut State, event: Handle) -> Result {
    match recorded(state, event)? {
        Some(record) if !record.is_reached() => Err(CUresult::CUDA_ERROR_NOT_READY),
        _ => Ok(()),
    }
}

pub(crate) fn synchronize(state: &mut Guard, event: Handle) -> Result {
    let context = find(&state.events, event)?.context;
    let Some(record) = recorded(state, event)? else { return Ok(()) };
    while !record.is_reached() {
        context::notice(state, context)?;
        context::wait_for_change(state, context);
    }
    Ok(())
}

pub(crate) fn elapsed(state: &mut State, start: Handle, end: Handle) -> Result<f32> {
    let mut times = [None; 2];
    for (event, time) in [start, end].into_iter().zip(&mut times) {
        if !find(&state.events, event)?.has_timing() {
            return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
        }
        let record = recorded(state, event)?.ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
        *time = Some(*record.reached.get().ok_or(CUresult::CUDA_ERROR_NOT_READY)?);
    }
    let [Some(start), Some(end)] = times else { return Err(CUresult::CUDA_ERROR_INVALID_HANDLE) };
    let later = end.saturating_duration_since(start).as_secs_f32();
    let earlier = start.saturating_duration_since(end).as_secs_f32();
    Ok((later - earlier) * 1000.0)
}
