//! Closures that belong to a graph: called any number of times, given up when the last graph is gone.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use parking_lot::Mutex;

use super::panics::{guarded, report};
use super::stack::Node;
use super::user_object::{self, Owned};
use super::{EnqueueError, reclaim, thread, trampoline};
use crate::error::call;
use crate::sys::{CUDA_HOST_NODE_PARAMS, CUgraph, CUhostFn, CUresult, CUstreamCaptureStatus, CUuserObject_st};
use crate::{Error, Result, StreamRef, capture, entry};

/// What every closure of a graph begins with.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Replayed {
    node: Node,
    call: unsafe fn(*const Replayed),
    /// The user object that graphs own it by, if they do.
    object: AtomicPtr<CUuserObject_st>,
}

#[repr(C)]
struct Captured<F> {
    header: Replayed,
    /// The lock is held while the closure runs. `None` if the closure went back to the caller.
    closure: Mutex<Option<F>>,
}

// SAFETY: `repr(C)`, the header first, and in it the node, whose function takes an `Arc`.
unsafe impl<F: FnMut() + Send + 'static> Owned for Captured<F> {}

impl<F: FnMut() + Send + 'static> Captured<F> {
    fn new(closure: F) -> Arc<Self> {
        let header = Replayed::new(Self::reclaim, Self::call);
        Arc::new(Self { header, closure: Mutex::new(Some(closure)) })
    }

    unsafe fn call(header: *const Replayed) {
        // SAFETY: the header of such a closure.
        run(unsafe { &(*header.cast::<Self>()).closure });
    }

    unsafe fn reclaim(node: *mut Node) {
        // SAFETY: the node of such a closure; this is the graphs' reference.
        let captured = unsafe { Arc::from_raw(node.cast_const().cast::<Self>()) };
        reclaim::count();
        reclaim::dispose(captured);
    }
}

/// Runs a closure, if it is there, on the driver's thread.
pub(super) fn run<F: FnMut()>(closure: &Mutex<Option<F>>) {
    let mut closure = closure.lock();
    let outcome = closure.as_mut().map_or(Ok(()), guarded);
    drop(closure);
    if let Err(panic) = outcome {
        report(&panic);
        reclaim::defer(move || drop(panic));
    }
}

impl Replayed {
    pub(super) fn new(reclaim: unsafe fn(*mut Node), call: unsafe fn(*const Self)) -> Self {
        Self { node: Node::new(reclaim), call, object: AtomicPtr::new(ptr::null_mut()) }
    }

    /// # Safety
    ///
    /// `header` is that of a closure of a graph that lives.
    pub(super) unsafe fn call(header: *const Self) {
        // SAFETY: the caller's promise.
        let call = unsafe { &*header }.call;
        // SAFETY: as above.
        thread::host_function(|| unsafe { call(header) });
    }
}

/// Gives a closure to a graph, before `node` makes a node that calls a function with a pointer. Neither may run code of
/// the user's, and the graph's context is current.
///
/// # Safety
///
/// `graph` gives a graph that lives until this is over, and `node` makes a node of it or of what is made from it.
pub(crate) unsafe fn give_to_graph<F: FnMut() + Send + 'static, R>(
    closure: F,
    graph: impl FnOnce() -> Result<CUgraph>,
    node: impl FnOnce(CUhostFn, *mut c_void) -> Result<R>,
) -> Result<R, EnqueueError<F>> {
    let captured = Captured::new(closure);
    let data = Arc::as_ptr(&captured).cast_mut().cast();
    let result = graph().and_then(|graph| {
        // SAFETY: the caller's promise.
        let object = unsafe { user_object::give(graph, &captured) }?;
        captured.header.object.store(object, Ordering::Relaxed);
        node(Some(trampoline::replay), data)
    });
    // What the graph may have got stays with it, emptied.
    result.map_err(|error| {
        let closure = captured.closure.lock().take();
        EnqueueError::new(error, closure.expect("taken once"))
    })
}

/// A graph gives up the closure of a node that has got another one.
///
/// # Safety
///
/// The graph lives, and `before` was what its node called.
pub(crate) unsafe fn take_from_graph(graph: CUgraph, before: CUDA_HOST_NODE_PARAMS) {
    let replay: unsafe extern "C" fn(_) = trampoline::replay;
    if !before.fn_.is_some_and(|function| ptr::fn_addr_eq(function, replay)) {
        return;
    }
    // SAFETY: only closures of graphs are called by that function, and the graph has kept this one until now.
    let object = unsafe { &*before.userData.cast::<Replayed>() }.object.load(Ordering::Relaxed);
    if !object.is_null() {
        // SAFETY: the caller's promise; each node has a closure of its own.
        unsafe { user_object::take_back(graph, object) };
    }
}

/// Adds a closure to the graph that the stream is being captured into. `enqueue` puts a function into the stream while
/// the context is current, and runs no code of the user's.
pub(super) fn capture<F: FnMut() + Send + 'static>(
    stream: &StreamRef,
    closure: F,
    enqueue: impl FnOnce(CUhostFn, *mut c_void) -> Result<()>,
) -> Result<(), EnqueueError<F>> {
    let _entered = match stream.context().enter() {
        Ok(entered) => entered,
        Err(error) => return Err(EnqueueError::new(error, closure)),
    };
    // Until it is over, no thread ends the capture: it is the same graph that gets the closure and the node, and that still
    // has the closure when this thread's reference goes.
    let mut turn = None;
    let graph = || {
        turn = Some(capture::to_add().ok_or_else(|| {
            Error::invalid("stream", "other threads are ending captures and do not get done; enqueue the closure later")
        })?);
        graph_of(stream)
    };
    // SAFETY: the graph is that of a capture, which nobody ends.
    unsafe { give_to_graph(closure, graph, enqueue) }
}

/// The graph that the stream is being captured into.
fn graph_of(stream: &StreamRef) -> Result<CUgraph> {
    let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    let (mut id, mut graph) = (0, ptr::null_mut());
    let (raw, status_out, id_out, graph_out) = (stream.as_raw(), &raw mut status, &raw mut id, &raw mut graph);
    let none = ptr::null_mut();
    // SAFETY: the handle lives; the pointers are valid for writes or NULL, which asks for nothing.
    let newer = unsafe {
        entry::cuStreamGetCaptureInfo_v3(raw, status_out, id_out, graph_out, none, ptr::null_mut(), ptr::null_mut())
    };
    if newer == CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND {
        // SAFETY: as above.
        unsafe {
            call!(entry::cuStreamGetCaptureInfo_v2(
                raw,
                status_out,
                id_out,
                graph_out,
                ptr::null_mut(),
                ptr::null_mut()
            ))
        }?;
    } else {
        crate::error::check("cuStreamGetCaptureInfo_v3", newer)?;
    }
    if status == CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE {
        Ok(graph)
    } else {
        Err(Error::invalid("stream", "its capture ended or became invalid meanwhile"))
    }
}
