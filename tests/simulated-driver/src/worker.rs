//! The device: one thread that does the work of all streams, a piece at a time.

use std::time::{Duration, Instant};

use cuda_sys::CUresult;

use crate::abi::Handle;
use crate::event::Event;
use crate::host_functions::{Call, HostCall};
use crate::kernels::Progress;
use crate::state::{self, State, lock};
use crate::stream::{self, Kind, Stream};
use crate::work::{Phase, Place, Task, Work};
use crate::{kernels, memory, user_object};

/// How often memory is looked at by what waits for it to change.
const POLL: Duration = Duration::from_micros(50);

/// How long a memory operation looks at it all the time before: an answer is often close.
const SPIN: Duration = Duration::from_micros(100);

/// The thread's life.
pub(crate) fn run() {
    let mut state = lock();
    loop {
        let (ready, next) = ready(&mut state);
        if let Some(&place) = ready.get(state.faults.choose(ready.len())) {
            step(&mut state, place);
        } else if let Some(next) = next {
            if next > Instant::now() {
                state::rest_until(&mut state, next);
            } else {
                state::pause(&mut state);
            }
        } else {
            state::rest(&mut state);
        }
    }
}

/// What can be done now, the oldest first, and when to look again at what cannot.
fn ready(state: &mut State) -> (Vec<Place>, Option<Instant>) {
    let now = Instant::now();
    let mut ready = Vec::new();
    let mut next: Option<Instant> = None;
    let mut not_before = |when: Instant| next = Some(next.map_or(when, |next| next.min(when)));
    let fronts: Vec<Handle> =
        state.streams.iter().filter(|(_, s)| !s.queue.is_empty()).map(|(handle, _)| *handle).collect();
    for handle in fronts {
        if !may_start(state, handle) {
            continue;
        }
        let State { streams, faults, events, memory, .. } = &mut *state;
        let Some(item) = streams.get_mut(&handle).and_then(|stream| stream.queue.front_mut()) else { continue };
        let start = *item.not_before.get_or_insert_with(|| now + faults.delay());
        if start > now {
            not_before(start);
            continue;
        }
        for node in item.open_nodes() {
            let Some((task, phase)) = item.task_mut(node) else { continue };
            let is_ready = match (task, *phase) {
                (Task::Wait(record), _) => record.is_reached(),
                (Task::WaitEvent(event), _) => {
                    events.get(event).and_then(Event::pending).is_none_or(|record| record.is_reached())
                }
                (_, Phase::Running(kernels::Running::Until(end))) => {
                    if end > now {
                        not_before(end);
                    }
                    end <= now
                }
                (_, Phase::Running(kernels::Running::UntilEqual { address, value })) => {
                    let is_over = memory.read_u32(address) != Ok(value);
                    if is_over {
                        not_before(now + POLL);
                    }
                    !is_over
                }
                (Task::Operations(batch), Phase::Running(kernels::Running::AtOperation { next, since })) => {
                    let is_ready = batch.is_ready(next, memory);
                    if !is_ready {
                        not_before(if now < since + SPIN { now } else { now + POLL });
                    }
                    is_ready
                }
                _ => true,
            };
            if is_ready {
                ready.push(Place { sequence: item.sequence, node, stream: handle });
            }
        }
    }
    ready.sort_unstable();
    (ready, next)
}

/// Whether the first item of a stream may start, as far as other streams are concerned.
fn may_start(state: &State, handle: Handle) -> bool {
    let Some(stream) = state.streams.get(&handle) else { return false };
    let Some(item) = stream.queue.front() else { return false };
    let earlier = |other: &Stream| other.queue.front().is_some_and(|first| first.sequence < item.sequence);
    let in_order = match stream.kind {
        Kind::Legacy => !state
            .streams
            .values()
            .any(|other| other.context == stream.context && other.is_blocking() && earlier(other)),
        _ if stream.is_blocking() => !state
            .streams
            .values()
            .any(|other| other.context == stream.context && other.kind == Kind::Legacy && earlier(other)),
        _ => true,
    };
    // Launches of one executable graph do not overlap.
    let alone = match &item.work {
        Work::Task(..) => true,
        Work::Graph(run) => !state.streams.values().flat_map(|other| &other.queue).any(
            |other| matches!(&other.work, Work::Graph(before) if before.exec == run.exec && other.sequence < item.sequence),
        ),
    };
    in_order && alone && !is_behind_a_wait(state, handle, stream, item.sequence)
}

/// Whether an earlier wait for memory in another stream holds up the connection that both share.
fn is_behind_a_wait(state: &State, handle: Handle, stream: &Stream, sequence: u64) -> bool {
    let Some(connections) = state.faults.connections else { return false };
    let others = state.streams.iter().filter(|(other, found)| {
        **other != handle && found.context == stream.context && found.place % connections == stream.place % connections
    });
    let mut items = others.flat_map(|(_, other)| &other.queue);
    items.any(|item| item.sequence < sequence && item.waits_for_memory())
}

/// Does one piece of work, or one step of it.
fn step(state: &mut State, place: Place) {
    let State { streams, events, memory, host, .. } = &mut *state;
    let Some(stream) = streams.get_mut(&place.stream) else { return };
    let context = stream.context;
    let Some(item) = stream.queue.front_mut() else { return };
    let Some((task, phase)) = item.task_mut(place.node) else { return finish(state, place) };
    let progress = match task {
        Task::Nothing | Task::Wait(_) | Task::WaitEvent(_) => Progress::Done,
        Task::Kernel(launch) => match *phase {
            Phase::Running(_) => Progress::Done,
            _ => launch.start(memory),
        },
        Task::Host { function, data } => {
            let call = Call::Function { function: *function, data: *data };
            host.push_back(HostCall { context, place: Some(place), call });
            Progress::AtHost
        }
        Task::Callback { function, stream, data } => {
            let status = CUresult::CUDA_SUCCESS;
            let call = Call::Callback { function: *function, stream: *stream, status, data: *data };
            host.push_back(HostCall { context, place: Some(place), call });
            Progress::AtHost
        }
        Task::Operations(batch) => match *phase {
            Phase::Running(kernels::Running::AtOperation { next, .. }) => batch.step(next, memory),
            _ => batch.step(0, memory),
        },
        Task::Copy(copy) => {
            memory.copy(copy);
            Progress::Done
        }
        Task::Fill(fill) => memory.fill(fill).into(),
        Task::Record(record) => {
            record.reach();
            Progress::Done
        }
        Task::RecordEvent(event) => {
            if let Some(event) = events.get_mut(event) {
                event.renew().reach();
            }
            Progress::Done
        }
    };
    match progress {
        Progress::Done => *phase = Phase::Done,
        Progress::Running(running) => *phase = Phase::Running(running),
        Progress::AtHost => *phase = Phase::AtHost,
        Progress::Fault(code) => return fault(state, context, code),
    }
    finish(state, place);
}

/// The thread for host functions is done with what it got from a place.
pub(crate) fn host_done(state: &mut State, place: Place) {
    let front = state.streams.get_mut(&place.stream).and_then(|stream| stream.queue.front_mut());
    if let Some((_, phase)) =
        front.filter(|item| item.sequence == place.sequence).and_then(|item| item.task_mut(place.node))
    {
        *phase = Phase::Done;
    }
    finish(state, place);
}

/// Takes the item out of its stream if all of it is done.
fn finish(state: &mut State, place: Place) {
    let Some(stream) = state.streams.get_mut(&place.stream) else { return };
    if stream.queue.front().is_some_and(|item| item.sequence == place.sequence && item.is_done()) {
        if let Some(Work::Graph(run)) = stream.queue.pop_front().map(|item| item.work) {
            user_object::end_lease(state, run.lease);
        }
        stream::remove_if_over(state, place.stream);
    }
    state.changed();
}

/// The device is lost to a context: what is in its streams will never be done.
pub(crate) fn fault(state: &mut State, context: Handle, code: CUresult) {
    let visible_at = Instant::now() + state.faults.notice_delay;
    if let Some(context) = state.contexts.get_mut(&context) {
        context.fault.get_or_insert(code);
        context.visible_at.get_or_insert(visible_at);
    }
    let streams: Vec<Handle> =
        state.streams.iter().filter(|(_, s)| s.context == context).map(|(handle, _)| *handle).collect();
    state.host.retain(|call| call.context != context || call.is_called_after_fault());
    for stream in streams {
        let queue = state.streams.get_mut(&stream).map(|stream| std::mem::take(&mut stream.queue)).unwrap_or_default();
        for item in queue {
            stream::discard(state, context, item.work);
        }
        stream::remove_if_over(state, stream);
    }
}

impl From<memory::Access> for Progress {
    fn from(access: memory::Access) -> Self {
        access.map_or_else(Self::Fault, |()| Self::Done)
    }
}
