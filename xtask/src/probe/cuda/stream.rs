//! Streams, their attributes, and capturing on them.

use std::marker::PhantomData;
use std::ptr;

use cuda_sys::{
    CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUgraph, CUlaunchAttributeID, CUstream, CUstream_flags,
    CUstreamCaptureMode, CUstreamCaptureStatus, cuStreamBeginCapture, cuStreamCreate, cuStreamDestroy,
    cuStreamEndCapture, cuStreamGetAttribute, cuStreamIsCapturing, cuStreamSetAttribute, cuStreamSynchronize,
};

use super::attribute::{self, Attribute};
use super::context::Context;
use super::graph::Graph;
use super::status::{Failed, Status, check};

/// A stream that does not wait for the NULL stream.
#[derive(Debug)]
pub(crate) struct Stream<'context> {
    handle: CUstream,
    context: PhantomData<&'context Context>,
}

impl<'context> Stream<'context> {
    pub(crate) fn new(_: &'context Context) -> Result<Self, Failed> {
        let mut handle: CUstream = ptr::null_mut();
        // SAFETY: the pointer is valid for the call.
        check("cuStreamCreate", unsafe { cuStreamCreate(&raw mut handle, CUstream_flags::CU_STREAM_NON_BLOCKING.0) })?;
        Ok(Self { handle, context: PhantomData })
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        // SAFETY: created by `new`, destroyed only here; the driver finishes what is pending.
        let _: Status = unsafe { cuStreamDestroy(self.handle) }.into();
    }
}

/// What a stream handle can stand for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target<'stream> {
    Own(&'stream Stream<'stream>),
    Null,
    Legacy,
    PerThread,
}

impl Target<'_> {
    pub(super) fn handle(self) -> CUstream {
        match self {
            Self::Own(stream) => stream.handle,
            Self::Null => ptr::null_mut(),
            Self::Legacy => CU_STREAM_LEGACY,
            Self::PerThread => CU_STREAM_PER_THREAD,
        }
    }

    pub(crate) fn synchronise(self) -> Result<(), Failed> {
        // SAFETY: the stream is alive, or one that always is.
        check("cuStreamSynchronize", unsafe { cuStreamSynchronize(self.handle()) })
    }

    pub(crate) fn set(self, attribute: Attribute) -> Status {
        let mut value = attribute::lower(attribute.value);
        // SAFETY: the stream is alive, and the value has the 64 bytes that every attribute has. It may be wrong on
        // purpose: a driver that crashes at it ends this process alone.
        unsafe { cuStreamSetAttribute(self.handle(), CUlaunchAttributeID(attribute.id), &raw mut value) }.into()
    }

    pub(crate) fn get(self, id: u32) -> (Status, Vec<Option<u8>>) {
        attribute::read(|value| {
            // SAFETY: the stream is alive, and `value` has the 64 bytes that every attribute has.
            let result = unsafe { cuStreamGetAttribute(self.handle(), CUlaunchAttributeID(id), value) };
            let status = Status::from(result);
            (status, status.is_success())
        })
    }

    /// Captures what `launch` puts on the stream, on this thread alone.
    pub(crate) fn capture<R>(self, context: &Context, launch: impl FnOnce() -> R) -> Result<Captured<'_, R>, Failed> {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is alive.
        check("cuStreamBeginCapture", unsafe { cuStreamBeginCapture(self.handle(), mode) })?;
        let result = launch();
        let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: the stream is alive, the pointer valid for the call.
        let asked = unsafe { cuStreamIsCapturing(self.handle(), &raw mut status) };
        let mut graph: CUgraph = ptr::null_mut();
        // SAFETY: the capture began above on this thread; the pointer is valid for the call.
        let ended = unsafe { cuStreamEndCapture(self.handle(), &raw mut graph) };
        let active =
            Status::from(asked).is_success() && status == CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE;
        // SAFETY: a graph that capturing gave is the caller's.
        let graph = (!graph.is_null()).then(|| unsafe { Graph::from_raw(context, graph) });
        Ok(Captured { result, survived: active && Status::from(ended).is_success(), graph })
    }
}

/// What came of a capture.
#[derive(Debug)]
pub(crate) struct Captured<'context, R> {
    /// What the launch gave.
    pub(crate) result: R,
    /// Whether the capture was still good after it.
    pub(crate) survived: bool,
    pub(crate) graph: Option<Graph<'context>>,
}
