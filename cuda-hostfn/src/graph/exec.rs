//! Executable graphs.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ptr;

use super::{Graph, HostNode, InstantiateOptions};
use crate::error::call;
use crate::host::{self, EnqueueError, Kept};
use crate::sys::{CUDA_HOST_NODE_PARAMS, CUgraphExec, cuGraphExecDestroy};
use crate::{CaptureStatus, Context, Error, Result, StreamRef};

/// An executable graph. It keeps its context and its closures alive. Dropping it while it runs is fine: the driver
/// finishes what was launched.
#[derive(Debug)]
pub struct GraphExec {
    raw: CUgraphExec,
    context: Context,
    /// How many launches there were.
    launches: Cell<u64>,
    /// Keeps the closures that [`GraphExec::replace_host_node`] has set.
    kept: Kept,
    /// Some other graph may have got its closures.
    was_captured: Cell<bool>,
}

// SAFETY: an executable graph may be used by any thread, by one at a time.
unsafe impl Send for GraphExec {}

impl GraphExec {
    pub(super) fn new(graph: &Graph, options: InstantiateOptions) -> Result<Self> {
        let context = graph.context();
        let _entered = context.enter()?;
        let instantiate = || {
            let mut raw = ptr::null_mut();
            // SAFETY: the handle lives; the pointer is valid for a write.
            let result =
                unsafe { call!(entry::cuGraphInstantiateWithFlags(&raw mut raw, graph.as_raw(), options.flags())) };
            // SAFETY: what the driver gives is the caller's. If it reports an error all the same, such as that of earlier
            // work, nothing is left behind.
            let exec = (!raw.is_null()).then(|| unsafe { Self::from_raw(context, raw) });
            result?;
            exec.ok_or_else(|| Error::unknown("CUgraphExec", 0))
        };
        // SAFETY: the graph lives, and the executable graph is made from it.
        let (mut exec, kept) = unsafe { host::with_keeper(graph.as_raw(), instantiate) }?;
        exec.keep(kept);
        Ok(exec)
    }

    pub(super) fn keep(&mut self, kept: Kept) {
        self.kept = kept;
    }

    /// Takes over a foreign executable graph, which is destroyed when the value is dropped. It keeps no closures
    /// ([`replace_host_node`](Self::replace_host_node)) before an [`update`](Self::update).
    ///
    /// # Safety
    ///
    /// `raw` is an executable graph that nobody else destroys or uses on another thread, and it may be launched.
    pub unsafe fn from_raw(context: &Context, raw: CUgraphExec) -> Self {
        let (launches, was_captured) = (Cell::new(0), Cell::new(false));
        Self { raw, context: context.clone(), launches, kept: Kept::default(), was_captured }
    }

    /// Gives the executable graph out; the caller destroys it.
    pub fn into_raw(self) -> CUgraphExec {
        let exec = ManuallyDrop::new(self);
        // SAFETY: `exec` is not used or dropped afterwards.
        drop(unsafe { ptr::read(&raw const exec.context) });
        // SAFETY: as above.
        drop(unsafe { ptr::read(&raw const exec.kept) });
        exec.raw
    }

    /// CUDA's handle. It is valid while this value lives. Who launches it by other means than [`launch`](Self::launch), calls
    /// closures that were [replaced](Self::replace_host_node) earlier than they should be given up: they may be missing then.
    pub fn as_raw(&self) -> CUgraphExec {
        self.raw
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Puts the graph into a stream (`cuGraphLaunch`). Launches of one executable graph run one after another, in whatever
    /// streams.
    ///
    /// Whoever put the kernels into the graph promised that this is sound.
    ///
    /// # Errors
    ///
    /// [`Error::Capturing`](crate::Error::Capturing) if the stream is capturing, and the capture goes on (a driver refuses it,
    /// and makes the capture invalid); otherwise what the driver answers.
    pub fn launch(&self, stream: &StreamRef) -> Result<()> {
        let _entered = self.context.enter()?;
        let settled = stream.context().captures().settled();
        if stream.current_capture_status()? != CaptureStatus::None {
            return Err(Error::Capturing);
        }
        // A launch that fails may have happened; a closure that is given up late is better than one that is missing.
        self.launches.set(self.launches.get() + 1);
        // SAFETY: both handles live.
        let result = unsafe { call!(cuGraphLaunch(self.raw, stream.as_raw())) };
        if !stream.context().captures().none_since(settled) {
            self.was_captured.set(true);
        }
        result
    }

    /// Makes the device ready for a launch in that stream, which then takes less time (`cuGraphUpload`).
    ///
    /// # Errors
    ///
    /// What the driver answers; `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` while the stream is capturing.
    pub fn upload(&self, stream: &StreamRef) -> Result<()> {
        let _entered = self.context.enter()?;
        // SAFETY: both handles live.
        unsafe { call!(cuGraphUpload(self.raw, stream.as_raw())) }
    }

    /// Calls another closure in launches from now on (`cuGraphExecHostNodeSetParams`). `node` is one of the graph that this
    /// was made from, which is not changed.
    ///
    /// Launches that are pending call the closure that they were launched with. When they are done, a closure that an
    /// earlier call has set is dropped, by an ordinary thread. The closure that came with the graph is dropped when the
    /// executable graph is gone or [updated](Self::update).
    ///
    /// # Errors
    ///
    /// The closure comes back in the error. [`Error::Invalid`] for a [foreign](Self::from_raw) executable graph;
    /// `CUDA_ERROR_INVALID_VALUE` for a node of another graph; [`Error::CalledFromHostFunction`]; otherwise what the
    /// driver answers.
    pub fn replace_host_node<F>(&mut self, node: HostNode<'_>, f: F) -> Result<(), EnqueueError<F>>
    where
        F: FnMut() + Send + 'static,
    {
        let _entered = match self.context.enter() {
            Ok(entered) => entered,
            Err(error) => return Err(EnqueueError::new(error, f)),
        };
        let (exec, node) = (self.raw, node.as_raw());
        self.kept.replace(node, self.launches.get(), self.was_captured.get(), f, |function, data| {
            let parameters = CUDA_HOST_NODE_PARAMS { fn_: function, userData: data };
            // SAFETY: the handles live; the executable graph keeps what the function is called with.
            unsafe { call!(cuGraphExecHostNodeSetParams(exec, node, &raw const parameters)) }
        })
    }
}

impl Drop for GraphExec {
    fn drop(&mut self) {
        // SAFETY: the value owns the executable graph. A failure leaves nothing to be done.
        unsafe { self.context.release(cuGraphExecDestroy, self.raw) };
    }
}
