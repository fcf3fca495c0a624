//! Closures that belong to a graph: captured, replayed any number of times, given up when the last graph is gone.

use std::ffi::c_uint;
use std::ptr;
use std::sync::Arc;

use parking_lot::Mutex;

use super::panics::{guarded, report};
use super::stack::Node;
use super::{EnqueueError, reclaim, thread, trampoline};
use crate::error::call;
use crate::sys::{
    CUgraph, CUresult, CUstreamCaptureStatus, CUuserObject, CUuserObject_flags, CUuserObjectRetain_flags,
    cuUserObjectRelease,
};
use crate::{Error, Result, StreamRef, capture, entry};

/// What every captured closure begins with.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Replayed {
    node: Node,
    call: unsafe fn(*const Replayed),
}

#[repr(C)]
struct Captured<F> {
    header: Replayed,
    /// The lock is held while the closure runs. `None` if the closure went back to the caller.
    closure: Mutex<Option<F>>,
}

impl<F: FnMut() + Send + 'static> Captured<F> {
    fn new(closure: F) -> Arc<Self> {
        let header = Replayed { node: Node::new(Self::reclaim), call: Self::call };
        Arc::new(Self { header, closure: Mutex::new(Some(closure)) })
    }

    unsafe fn call(header: *const Replayed) {
        // SAFETY: the header of such a closure.
        let captured = unsafe { &*header.cast::<Self>() };
        let mut closure = captured.closure.lock();
        let outcome = closure.as_mut().map_or(Ok(()), guarded);
        drop(closure);
        if let Err(panic) = outcome {
            report(&panic);
            reclaim::defer(move || drop(panic));
        }
    }

    unsafe fn reclaim(node: *mut Node) {
        // SAFETY: the node of such a closure; this is the graphs' reference.
        let captured = unsafe { Arc::from_raw(node.cast_const().cast::<Self>()) };
        reclaim::count();
        reclaim::dispose(captured);
    }
}

impl Replayed {
    /// # Safety
    ///
    /// `header` is that of a captured closure that lives.
    pub(super) unsafe fn call(header: *const Self) {
        // SAFETY: the caller's promise.
        let call = unsafe { &*header }.call;
        // SAFETY: as above.
        thread::host_function(|| unsafe { call(header) });
    }
}

/// Adds a closure to the graph that the stream is being captured into. `enqueue` puts a function into the stream while
/// the context is current, and runs no code of the user's.
pub(super) fn capture<F: FnMut() + Send + 'static>(
    stream: &StreamRef,
    closure: F,
    enqueue: impl FnOnce(crate::sys::CUhostFn, *mut std::ffi::c_void) -> Result<()>,
) -> Result<(), EnqueueError<F>> {
    // Until it is over, no thread ends the capture: it is the same graph that gets the closure and the node, and that still
    // has the closure when this thread's reference goes.
    let mut turn = None;
    let captured = Captured::new(closure);
    let data = Arc::as_ptr(&captured).cast_mut().cast::<std::ffi::c_void>();
    let result = stream.context().enter().and_then(|_entered| {
        turn = Some(capture::to_add().ok_or_else(|| {
            Error::invalid("stream", "other threads are ending captures and do not get done; enqueue the closure later")
        })?);
        give_to_graph(stream, &captured)?;
        enqueue(Some(trampoline::replay), data)
    });
    // What the graph may have got stays with it, emptied.
    result.map_err(|error| {
        let closure = captured.closure.lock().take();
        EnqueueError::new(error, closure.expect("taken once"))
    })
}

/// The graph takes a reference, before there is a node that needs it.
fn give_to_graph<F: FnMut() + Send + 'static>(stream: &StreamRef, captured: &Arc<Captured<F>>) -> Result<()> {
    let graph = graph_of(stream)?;
    let data = Arc::into_raw(captured.clone()).cast_mut();
    let (mut object, flags): (CUuserObject, _) =
        (ptr::null_mut(), CUuserObject_flags::CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    let destroy = Some(trampoline::destroy as unsafe extern "C" fn(_));
    // SAFETY: the pointer is valid for a write; `data` is what `destroy` takes, one reference.
    unsafe { call!(cuUserObjectCreate(&raw mut object, data.cast(), destroy, 1, flags.0 as c_uint)) }.inspect_err(
        |_| {
            // SAFETY: the reference from above, which nobody took.
            drop(unsafe { Arc::from_raw(data) });
        },
    )?;
    let flags = CUuserObjectRetain_flags::CU_GRAPH_USER_OBJECT_MOVE;
    // SAFETY: the stream is being captured into the graph; the reference is this function's.
    unsafe { call!(cuGraphRetainUserObject(graph, object, 1, flags.0 as c_uint)) }.inspect_err(|_| {
        // SAFETY: the object's one reference, which the graph did not take; its destructor gives `data` up.
        let _ = unsafe { cuUserObjectRelease(object, 1) };
    })
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
    if status == CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE && !graph.is_null() {
        Ok(graph)
    } else {
        Err(Error::invalid("stream", "its capture ended or became invalid meanwhile"))
    }
}
