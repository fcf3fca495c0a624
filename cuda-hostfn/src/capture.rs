//! Turning the work of a stream into a graph.
//!
//! ```no_run
//! # fn f(stream: &cuda_hostfn::Stream) -> cuda_hostfn::Result<()> {
//! use cuda_hostfn::CaptureMode;
//!
//! let graph = stream.capture(CaptureMode::ThreadLocal, |stream| {
//!     // … launches …
//!     Ok(stream.host_launch(|| println!("at each launch of the graph"))?)
//! })?;
//! let executable = graph.instantiate(Default::default())?;
//! executable.launch(stream)?;
//! # Ok(()) }
//! ```
//!
//! Where a closure does not fit, [`Capture`] is a capture as a value: it ends when it is dropped.
//! [`StreamRef::begin_capture`] and [`StreamRef::end_capture`] are the driver's calls as they are.

mod guard;
mod turns;

use std::ptr;

use crate::error::call;
use crate::sys::{CUstreamCaptureMode, CUstreamCaptureStatus};
use crate::{Error, Graph, Result, StreamRef};
pub use guard::Capture;
pub(crate) use turns::{ends_begun, to_add, to_end};

/// Which calls are forbidden while a capture goes on, because they could not be captured (such as `cuMemAlloc`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CaptureMode {
    /// All of them, on every thread (`CU_STREAM_CAPTURE_MODE_GLOBAL`).
    Global,
    /// Those of this thread (`CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`).
    ThreadLocal,
    /// None (`CU_STREAM_CAPTURE_MODE_RELAXED`). Only then may another thread end the capture.
    Relaxed,
}

/// Whether a stream is capturing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CaptureStatus {
    /// It is not.
    None,
    /// It is.
    Active,
    /// It was, and something made the capture invalid; [`StreamRef::end_capture`] gives the stream back.
    Invalidated,
}

impl StreamRef {
    /// Begins a capture (`cuStreamBeginCapture`): work is no longer run but becomes nodes of a graph.
    ///
    /// No other thread should use the stream until the capture has ended. Where one enqueued in the very stream in which another
    /// began and ended captures, a driver (580.159.04) crashed, for a program in C too; this crate cannot prevent that.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` for the legacy default stream; `CUDA_ERROR_ILLEGAL_STATE` if the stream
    /// is capturing already.
    pub fn begin_capture(&self, mode: CaptureMode) -> Result<()> {
        let mode = match mode {
            CaptureMode::Global => CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL,
            CaptureMode::ThreadLocal => CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
            CaptureMode::Relaxed => CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED,
        };
        let _entered = self.context().enter()?;
        let _changing = self.context().captures().changing();
        // SAFETY: the handle lives.
        unsafe { call!(cuStreamBeginCapture(self.as_raw(), mode)) }
    }

    /// Ends a capture and gives the graph (`cuStreamEndCapture`). On the thread that began it, unless the mode is
    /// [`CaptureMode::Relaxed`].
    ///
    /// # Errors
    ///
    /// [`Error::CaptureInvalidated`] if the capture became invalid; `CUDA_ERROR_STREAM_CAPTURE_UNJOINED` if other streams
    /// were drawn into it and not joined again; `CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD` on another thread. The stream is
    /// then not capturing any more, and the graph is gone.
    ///
    /// The capture goes on with [`Error::Invalid`] if other threads are in the middle of capturing closures
    /// ([`host_launch`](StreamRef::host_launch)) and do not get done within a second.
    /// `CUDA_ERROR_ILLEGAL_STATE` if the stream is not capturing, `CUDA_ERROR_STREAM_CAPTURE_UNMATCHED` if the capture began
    /// in another stream, which makes it invalid.
    pub fn end_capture(&self) -> Result<Graph> {
        let mut graph = ptr::null_mut();
        let _entered = self.context().enter()?;
        let turn = to_end().ok_or_else(|| {
            Error::invalid("stream", "other threads are capturing closures and do not get done; end the capture later")
        })?;
        // SAFETY: the handle lives; the pointer is valid for a write.
        let result = unsafe { call!(cuStreamEndCapture(self.as_raw(), &raw mut graph)) };
        drop(turn);
        // SAFETY: the driver gives the graph to the caller; NULL, if the capture was invalid.
        unsafe { Graph::given(self.context(), graph, result) }
    }

    /// Whether the stream is capturing (`cuStreamIsCapturing`).
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_STREAM_CAPTURE_IMPLICIT` for the legacy default stream while a stream that waits for it is
    /// capturing; [`Error::UnknownValue`] for a state newer than this crate.
    pub fn capture_status(&self) -> Result<CaptureStatus> {
        let _entered = self.context().enter()?;
        self.current_capture_status()
    }

    /// [`StreamRef::capture_status`] while the context is current.
    #[inline]
    pub(crate) fn current_capture_status(&self) -> Result<CaptureStatus> {
        let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: the handle lives; the pointer is valid for a write.
        unsafe { call!(cuStreamIsCapturing(self.as_raw(), &raw mut status)) }?;
        match status {
            CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE => Ok(CaptureStatus::None),
            CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE => Ok(CaptureStatus::Active),
            CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED => Ok(CaptureStatus::Invalidated),
            CUstreamCaptureStatus(other) => Err(Error::unknown("CaptureStatus", other)),
        }
    }
}
