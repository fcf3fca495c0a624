//! Streams.

use std::collections::VecDeque;

use cuda_sys::CUresult;

use crate::abi::{CallbackFn, Handle, Result, UserData};
use crate::attributes::{self, Attributes};
use crate::host_functions::{self, HostCall};
use crate::state::{Guard, State, find, find_mut};
use crate::work::{Item, Phase, Task, Work};
use crate::{capture, context, gate, user_object};

pub(crate) const NON_BLOCKING: u32 = 1;

/// `CU_STREAM_LEGACY` and `CU_STREAM_PER_THREAD`.
const LEGACY: u64 = 1;
const PER_THREAD: u64 = 2;

#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) context: Handle,
    /// How many were there before it.
    pub(crate) place: u64,
    pub(crate) kind: Kind,
    pub(crate) flags: u32,
    pub(crate) attributes: Attributes,
    pub(crate) queue: VecDeque<Item>,
    /// Destroyed by the program with work in it.
    pub(crate) destroyed: bool,
    pub(crate) capturing: Option<capture::Member>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Legacy,
    PerThread,
    Created,
}

/// Work was accepted; whether it will be done is another matter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Enqueued;

impl Stream {
    /// Whether the program created it and has not destroyed it.
    pub(crate) fn is_of_program(&self) -> bool {
        self.kind == Kind::Created && !self.destroyed
    }

    /// Whether it and the legacy stream wait for each other.
    pub(crate) fn is_blocking(&self) -> bool {
        self.kind != Kind::Legacy && self.flags & NON_BLOCKING == 0
    }
}

pub(crate) fn add(state: &mut State, context: Handle, kind: Kind, flags: u32, priority: i32) -> Handle {
    let handle = state.new_handle();
    let stream = Stream {
        context,
        place: state.streams_created,
        kind,
        flags,
        attributes: attributes::of_new_stream(priority),
        queue: VecDeque::new(),
        destroyed: false,
        capturing: None,
    };
    state.streams_created += 1;
    state.streams.insert(handle, stream);
    handle
}

pub(crate) fn create(state: &mut State, flags: u32, priority: i32) -> Result<Handle> {
    let current = context::current(state)?;
    context::check(state, current)?;
    if flags & !NON_BLOCKING != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    Ok(add(state, current, Kind::Created, flags, priority))
}

/// The stream that a program's handle stands for. The default streams are those of the current context.
pub(crate) fn resolve(state: &mut State, handle: Handle) -> Result<Handle> {
    match handle.number() {
        0 if gate::null_is_per_thread() => per_thread(state),
        PER_THREAD => per_thread(state),
        0 | LEGACY => {
            let current = context::current(state)?;
            Ok(state.contexts.get(&current).map_or(Handle::NULL, |context| context.legacy))
        }
        _ => match state.streams.get(&handle) {
            Some(stream) if !stream.destroyed && stream.kind == Kind::Created => Ok(handle),
            _ => Err(CUresult::CUDA_ERROR_INVALID_HANDLE),
        },
    }
}

fn per_thread(state: &mut State) -> Result<Handle> {
    let current = context::current(state)?;
    let thread = gate::thread();
    if let Some(stream) = state.contexts.get(&current).and_then(|context| context.per_thread.get(&thread)) {
        return Ok(*stream);
    }
    let stream = add(state, current, Kind::PerThread, 0, 0);
    if let Some(context) = state.contexts.get_mut(&current) {
        context.per_thread.insert(thread, stream);
    }
    Ok(stream)
}

/// Puts work into a stream, or a node into the graph that it captures.
pub(crate) fn enqueue(state: &mut State, stream: Handle, task: Task) -> Result<Enqueued> {
    if capture::of_stream(state, stream)?.is_some() {
        return capture::add(state, stream, task.into(), Attributes::new()).map(|_| Enqueued);
    }
    enqueue_work(state, stream, Work::Task(task, Phase::Waiting))
}

/// Puts work into a stream that is not capturing.
pub(crate) fn enqueue_work(state: &mut State, stream: Handle, work: Work) -> Result<Enqueued> {
    let context = find(&state.streams, stream)?.context;
    if !context::on_enqueue(state, context)? {
        discard(state, context, work);
        return Ok(Enqueued);
    }
    let sequence = state.next_sequence();
    find_mut(&mut state.streams, stream)?.queue.push_back(Item::new(sequence, work));
    state.work_added();
    Ok(Enqueued)
}

/// `cuStreamAddCallback`, which cannot be captured.
pub(crate) fn add_callback(state: &mut State, given: Handle, function: CallbackFn, data: UserData) -> Result {
    let stream = resolve(state, given)?;
    forbid_in_capture(state, stream)?;
    let task = Task::Callback { function, stream: given, data };
    enqueue_work(state, stream, Work::Task(task, Phase::Waiting)).map(|Enqueued| ())
}

/// A call that a capturing stream cannot have; it costs the capture.
pub(crate) fn forbid_in_capture(state: &mut State, stream: Handle) -> Result {
    if capture::of_stream(state, stream)?.is_some() {
        capture::invalidate(state, stream);
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    Ok(())
}

/// Gives up work that will never be done.
pub(crate) fn discard(state: &mut State, context: Handle, work: Work) {
    match work {
        Work::Task(Task::Callback { function, stream, data }, Phase::Waiting) => {
            let status = state.contexts.get(&context).and_then(|context| context.fault);
            let status = status.unwrap_or(CUresult::CUDA_ERROR_UNKNOWN);
            let call = host_functions::Call::Callback { function, stream, status, data };
            state.host.push_back(HostCall { context, place: None, call });
        }
        Work::Task(..) => {}
        Work::Graph(run) => user_object::end_lease(state, run.lease),
    }
    state.changed();
}

pub(crate) fn query(state: &mut State, stream: Handle) -> Result {
    forbid_in_capture(state, stream)?;
    let context = find(&state.streams, stream)?.context;
    context::notice(state, context)?;
    let is_busy = match find(&state.streams, stream)?.kind {
        Kind::Legacy => state.streams.values().any(|other| {
            other.context == context && (other.kind == Kind::Legacy || other.is_blocking()) && !other.queue.is_empty()
        }),
        _ => !find(&state.streams, stream)?.queue.is_empty(),
    };
    if is_busy || context::hidden_until(state, context).is_some() {
        Err(CUresult::CUDA_ERROR_NOT_READY)
    } else {
        Ok(())
    }
}

/// Waits for what is in the stream now. The legacy stream has all streams in it that wait for it.
pub(crate) fn synchronize(state: &mut Guard, stream: Handle) -> Result {
    forbid_in_capture(state, stream)?;
    capture::forbid_unsafe_call(state)?;
    let context = find(&state.streams, stream)?.context;
    context::notice(state, context)?;
    if find(&state.streams, stream)?.kind == Kind::Legacy {
        enqueue_work(state, stream, Work::Task(Task::Nothing, Phase::Waiting))?;
    }
    let last = state.next_sequence();
    loop {
        context::notice(state, context)?;
        // A stream that is gone has nothing to wait for.
        let front = state.streams.get(&stream).and_then(|stream| stream.queue.front());
        let is_done = front.is_none_or(|front| front.sequence > last);
        if is_done && context::hidden_until(state, context).is_none() {
            return context::notice(state, context);
        }
        context::wait_for_change(state, context);
    }
}

/// Destroys a stream; what is in it is still done.
pub(crate) fn destroy(state: &mut State, stream: Handle) -> Result {
    let found = state.streams.get(&stream).filter(|found| !found.destroyed);
    let found = found.ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
    if found.kind != Kind::Created {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    let context = found.context;
    capture::abandon(state, stream);
    if let Some(found) = state.streams.get_mut(&stream) {
        found.destroyed = true;
    }
    remove_if_over(state, stream);
    context::check(state, context)
}

/// Forgets a destroyed stream when it is empty.
pub(crate) fn remove_if_over(state: &mut State, stream: Handle) {
    if state.streams.get(&stream).is_some_and(|stream| stream.destroyed && stream.queue.is_empty()) {
        state.streams.remove(&stream);
    }
}
