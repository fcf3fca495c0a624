//! Capturing: what is put into a stream becomes a node of a graph.

mod info;

use cuda_sys::CUresult;

use crate::abi::{Handle, Result};
use crate::attributes::Attributes;
use crate::graph::{self, EdgeData, Kind};
use crate::state::{State, find, find_mut};
use crate::stream;
use crate::user_object::{self, Destructor};
use crate::{context, gate};
pub(crate) use info::{Info, Status, info, status};

/// A capture that goes on, in one stream or several.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) graph: Handle,
    /// Capturing into a graph that the program has.
    is_graph_borrowed: bool,
    origin: Handle,
    mode: Mode,
    thread: u64,
    pub(crate) is_invalid: bool,
}

/// A stream's part in a capture.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) capture: Handle,
    /// What the next node depends on.
    pub(crate) after: Vec<(Handle, EdgeData)>,
    /// The same as arrays that the program was given.
    shown: info::Shown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Global,
    ThreadLocal,
    Relaxed,
}

thread_local! {
    static THREAD_MODE: std::cell::Cell<Mode> = const { std::cell::Cell::new(Mode::Global) };
}

pub(crate) fn exchange_mode(mode: Mode) -> Mode {
    THREAD_MODE.replace(mode)
}

/// The capture that a stream is in. An invalid one is an error, and so is the legacy stream while a stream that waits
/// for it captures, which costs that capture.
pub(crate) fn of_stream(state: &mut State, stream: Handle) -> Result<Option<Handle>> {
    let found = find(&state.streams, stream)?;
    if let Some(member) = &found.capturing {
        let is_invalid = state.captures.get(&member.capture).is_none_or(|capture| capture.is_invalid);
        return if is_invalid {
            Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
        } else {
            Ok(Some(member.capture))
        };
    }
    if found.kind == stream::Kind::Legacy {
        refuse_legacy(state, stream, true)?;
    }
    Ok(None)
}

/// Refuses the legacy stream while a stream that waits for it captures.
fn refuse_legacy(state: &mut State, legacy: Handle, invalidates: bool) -> Result {
    let context = find(&state.streams, legacy)?.context;
    let waiting = state.streams.values().filter(|other| other.context == context && other.is_blocking());
    let captures: Vec<Handle> = waiting.filter_map(|other| Some(other.capturing.as_ref()?.capture)).collect();
    if captures.is_empty() {
        return Ok(());
    }
    for capture in captures.into_iter().filter(|_| invalidates) {
        set_invalid(state, capture);
    }
    Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
}

/// Begins a capture, into a graph of the program's if it gives one.
pub(crate) fn begin(
    state: &mut State,
    stream: Handle,
    mode: Mode,
    into: Option<(Handle, Vec<(Handle, EdgeData)>)>,
) -> Result {
    let found = find(&state.streams, stream)?;
    context::check(state, found.context)?;
    if found.kind == stream::Kind::Legacy {
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    if found.capturing.is_some() {
        return Err(CUresult::CUDA_ERROR_ILLEGAL_STATE);
    }
    let is_graph_borrowed = into.is_some();
    let (graph, after) = match into {
        Some((graph, after)) => {
            graph::check_nodes(state, graph, after.iter().map(|(node, _)| *node))?;
            (graph, after)
        }
        None => (graph::create(state), Vec::new()),
    };
    let handle = state.new_handle();
    let thread = gate::thread();
    let capture = Capture { graph, is_graph_borrowed, origin: stream, mode, thread, is_invalid: false };
    state.captures.insert(handle, capture);
    find_mut(&mut state.graphs, graph)?.is_capturing = true;
    let member = Member { capture: handle, after, shown: info::Shown::default() };
    find_mut(&mut state.streams, stream)?.capturing = Some(member);
    Ok(())
}

/// Ends a capture. The graph of a bad one is gone, and the destructors of its user objects are the caller's to run.
pub(crate) fn end(state: &mut State, stream: Handle) -> (Result<Handle>, Vec<Destructor>) {
    let (handle, outcome) = match judge_end(state, stream) {
        Ok(judged) => judged,
        Err(code) => return (Err(code), Vec::new()),
    };
    let (graph, is_borrowed) = match leave(state, handle) {
        Some(capture) => (capture.graph, capture.is_graph_borrowed),
        None => return (Err(CUresult::CUDA_ERROR_UNKNOWN), Vec::new()),
    };
    match outcome {
        Ok(()) => (Ok(graph), Vec::new()),
        Err(code) if is_borrowed => (Err(code), Vec::new()),
        Err(code) => {
            let references = graph::remove(state, graph);
            (Err(code), user_object::take_all(state, references))
        }
    }
}

/// Whether a capture can end here and now, and if so, how.
fn judge_end(state: &mut State, stream: Handle) -> Result<(Handle, Result)> {
    let member = find(&state.streams, stream)?.capturing.as_ref().ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
    let handle = member.capture;
    let capture = state.captures.get(&handle).ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
    if capture.mode != Mode::Relaxed && capture.thread != gate::thread() {
        return Ok((handle, Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)));
    }
    if capture.origin != stream {
        set_invalid(state, handle);
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    }
    if capture.is_invalid {
        return Ok((handle, Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)));
    }
    let is_joined = {
        let reached = graph::ancestors(state, capture.graph, member.after.iter().map(|(node, _)| *node));
        let others = state.streams.values().filter_map(|stream| stream.capturing.as_ref());
        let mut ends = others.filter(|other| other.capture == handle).flat_map(|other| &other.after);
        ends.all(|(node, _)| reached.contains(node) || !state.nodes.contains_key(node))
    };
    let outcome = if is_joined { Ok(()) } else { Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED) };
    Ok((handle, outcome))
}

/// All streams leave a capture.
fn leave(state: &mut State, handle: Handle) -> Option<Capture> {
    for stream in state.streams.values_mut() {
        if stream.capturing.as_ref().is_some_and(|member| member.capture == handle) {
            stream.capturing = None;
        }
    }
    let capture = state.captures.remove(&handle)?;
    if let Some(graph) = state.graphs.get_mut(&capture.graph) {
        graph.is_capturing = false;
    }
    Some(capture)
}

/// Makes the capture that a stream is in invalid.
pub(crate) fn invalidate(state: &mut State, stream: Handle) {
    let member = state.streams.get(&stream).and_then(|stream| stream.capturing.as_ref());
    if let Some(capture) = member.map(|member| member.capture) {
        set_invalid(state, capture);
    }
}

/// If it still goes on.
pub(crate) fn set_invalid(state: &mut State, capture: Handle) {
    if let Some(capture) = state.captures.get_mut(&capture) {
        capture.is_invalid = true;
    }
}

/// A stream is destroyed: its capture cannot end any more, or is invalid without it.
pub(crate) fn abandon(state: &mut State, stream: Handle) {
    let Some(member) = state.streams.get_mut(&stream).and_then(|stream| stream.capturing.take()) else { return };
    set_invalid(state, member.capture);
    if state.captures.get(&member.capture).is_some_and(|capture| capture.origin == stream)
        && let Some(capture) = leave(state, member.capture)
        && !capture.is_graph_borrowed
    {
        let references = graph::remove(state, capture.graph);
        user_object::drop_all(state, references);
    }
}

pub(crate) fn abandon_all(state: &mut State, context: Handle) {
    let streams = state.streams.iter().filter(|(_, stream)| stream.context == context);
    let streams: Vec<Handle> = streams.map(|(handle, _)| *handle).collect();
    for stream in streams {
        abandon(state, stream);
    }
}

/// Adds a node that comes after what the stream captured so far.
pub(crate) fn add(state: &mut State, stream: Handle, kind: Kind, attributes: Attributes) -> Result<Handle> {
    let member = find(&state.streams, stream)?.capturing.as_ref().ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
    let (capture, after) = (member.capture, member.after.clone());
    let graph = find(&state.captures, capture)?.graph;
    let node = graph::add(state, graph, kind, attributes, &after, true)?;
    set_after(state, stream, vec![(node, EdgeData::default())])?;
    Ok(node)
}

fn set_after(state: &mut State, stream: Handle, after: Vec<(Handle, EdgeData)>) -> Result {
    let member = find_mut(&mut state.streams, stream)?.capturing.as_mut();
    member.ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?.after = after;
    Ok(())
}

/// What an event depends on that is recorded in a capturing stream.
pub(crate) fn dependencies(state: &State, stream: Handle) -> Result<Vec<Handle>> {
    let member = find(&state.streams, stream)?.capturing.as_ref().ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
    Ok(member.after.iter().map(|(node, _)| *node).collect())
}

/// A stream waits for an event of a capture, and so takes part in it.
pub(crate) fn join(state: &mut State, stream: Handle, capture: Handle, nodes: &[Handle]) -> Result {
    let found = find(&state.streams, stream)?;
    let mine = found.capturing.as_ref().map(|member| member.capture);
    if found.kind == stream::Kind::Legacy {
        set_invalid(state, capture);
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    }
    match state.captures.get(&capture) {
        // The capture is over, and its event was recorded nowhere else.
        None => return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION),
        Some(capture) if capture.is_invalid => return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED),
        Some(_) => {}
    }
    if let Some(other) = mine.filter(|mine| *mine != capture) {
        set_invalid(state, other);
        set_invalid(state, capture);
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    let stream = find_mut(&mut state.streams, stream)?;
    let member =
        stream.capturing.get_or_insert_with(|| Member { capture, after: Vec::new(), shown: info::Shown::default() });
    for node in nodes {
        if !member.after.iter().any(|(known, _)| known == node) {
            member.after.push((*node, EdgeData::default()));
        }
    }
    Ok(())
}

/// Replaces what the next node depends on, or adds to it.
pub(crate) fn update(state: &mut State, stream: Handle, nodes: Vec<(Handle, EdgeData)>, replaces: bool) -> Result {
    let capture = of_stream(state, stream)?.ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
    let graph = find(&state.captures, capture)?.graph;
    graph::check_nodes(state, graph, nodes.iter().map(|(node, _)| *node))?;
    let member = find(&state.streams, stream)?.capturing.as_ref();
    let mut after = member.filter(|_| !replaces).map(|member| member.after.clone()).unwrap_or_default();
    after.extend(nodes);
    set_after(state, stream, after)
}

/// A call that could disturb a capture. Which captures mind, is a matter of their mode and of the thread's.
pub(crate) fn forbid_unsafe_call(state: &mut State) -> Result {
    let (thread, thread_mode) = (gate::thread(), THREAD_MODE.get());
    let minds = |capture: &Capture| match (thread_mode, capture.mode) {
        (Mode::Relaxed, _) | (_, Mode::Relaxed) => false,
        (Mode::Global, Mode::Global) => true,
        _ => capture.thread == thread,
    };
    let mut is_forbidden = false;
    for capture in state.captures.values_mut().filter(|capture| minds(capture)) {
        capture.is_invalid = true;
        is_forbidden = true;
    }
    if is_forbidden { Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) } else { Ok(()) }
}

/// `cuCtxSynchronize` waits for all streams, so no stream may capture.
pub(crate) fn forbid_in_context(state: &mut State, context: Handle) -> Result {
    let streams = state.streams.values().filter(|stream| stream.context == context);
    let captures: Vec<Handle> = streams.filter_map(|stream| Some(stream.capturing.as_ref()?.capture)).collect();
    for capture in &captures {
        set_invalid(state, *capture);
    }
    if captures.is_empty() { Ok(()) } else { Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) }
}
