//! Captures as values, which end.

use super::CaptureMode;
use crate::sys::CUresult;
use crate::{Error, Graph, Result, StreamRef};

/// A capture that goes on in a stream. If it is dropped, it ends, and what was captured is given up.
///
/// It stays on the thread that began it.
///
/// ```no_run
/// # fn f(stream: &cuda_hostfn::Stream) -> cuda_hostfn::Result<()> {
/// use cuda_hostfn::{Capture, CaptureMode};
///
/// let capture = Capture::begin(stream, CaptureMode::ThreadLocal)?;
/// stream.host_launch(|| println!("at each launch of the graph"))?; // An error ends the capture.
/// let graph = capture.end()?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use = "the capture ends when this is dropped"]
pub struct Capture<'s> {
    stream: &'s StreamRef,
    is_over: bool,
}

impl<'s> Capture<'s> {
    /// Begins a capture ([`StreamRef::begin_capture`]).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn begin(stream: &'s StreamRef, mode: CaptureMode) -> Result<Self> {
        stream.begin_capture(mode)?;
        Ok(Self { stream, is_over: false })
    }

    /// The stream.
    pub fn stream(&self) -> &'s StreamRef {
        self.stream
    }

    /// Ends the capture and gives the graph ([`StreamRef::end_capture`]).
    ///
    /// # Errors
    ///
    /// As there. If the capture goes on all the same, there is one more attempt, and what was captured is given up.
    pub fn end(mut self) -> Result<Graph> {
        let result = self.stream.end_capture();
        self.is_over = match &result {
            Ok(_) | Err(Error::CaptureInvalidated(_)) => true,
            Err(error) => matches!(
                error.code(),
                Some(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED | CUresult::CUDA_ERROR_ILLEGAL_STATE)
            ),
        };
        result
    }
}

impl Drop for Capture<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // A failure leaves nothing to be done: it is over, or somebody else's.
            let _ = self.stream.end_capture();
        }
    }
}

impl StreamRef {
    /// Captures what `f` puts into the stream, and into others that it draws in by events.
    ///
    /// # Errors
    ///
    /// Those of [`StreamRef::begin_capture`], of `f`, and of [`StreamRef::end_capture`]. The stream is not capturing any
    /// more then, also if `f` panics, and what was captured is given up.
    pub fn capture(&self, mode: CaptureMode, f: impl FnOnce(&StreamRef) -> Result<()>) -> Result<Graph> {
        let capture = Capture::begin(self, mode)?;
        f(self)?;
        capture.end()
    }
}
