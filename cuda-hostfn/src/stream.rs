//! Streams: owned, borrowed from elsewhere, or the default ones.
//!
//! Like `str` behind `String`, one type has the methods, [`StreamRef`], and the handles dereference to it: [`Stream`]
//! (owned), [`BorrowedStream`] (someone else's, or the legacy default stream) and [`PerThreadStream`]. Functions take
//! `&StreamRef`.
//!
//! ```no_run
//! use cuda_hostfn::attribute::SynchronizationPolicy;
//! use cuda_hostfn::{Context, Device, StreamOptions};
//!
//! let context = Context::primary(Device::get(0)?)?;
//! let stream = StreamOptions::new()
//!     .non_blocking(true)
//!     .priority(context.priority_range()?.highest())
//!     .synchronization_policy(SynchronizationPolicy::BlockingSync)
//!     .create(&context)?;
//! assert_eq!(stream.synchronization_policy()?, SynchronizationPolicy::BlockingSync);
//! stream.synchronize()?;
//! # Ok::<(), cuda_hostfn::Error>(())
//! ```

mod attributes;
mod handles;
mod options;

pub use handles::{BorrowedStream, PerThreadStream, Stream};
pub use options::StreamOptions;

use std::ffi::{c_int, c_uint};
use std::marker::PhantomData;
use std::ptr;
use std::sync::OnceLock;

use crate::error::call;
use crate::event::is_ready;
use crate::host::check_no_deadlock;
use crate::sys::{CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUresult, CUstream};
use crate::{Context, Event, Priority, Result, host};

/// A stream, whoever owns it: what [`Stream`], [`BorrowedStream`] and [`PerThreadStream`] dereference to.
///
/// Neither `Send` nor `Sync`, since it may be the per-thread default stream. The handles that are not, are both: share
/// a `&Stream` between threads.
///
/// ```compile_fail,E0277
/// fn on_another_thread<T: Send>(_: T) {}
/// fn share(stream: &cuda_hostfn::StreamRef) {
///     on_another_thread(stream);
/// }
/// ```
///
/// Every method may be called from any thread, also from one that never used CUDA.
#[derive(Debug)]
pub struct StreamRef {
    raw: CUstream,
    context: Context,
    id: OnceLock<u64>,
    _thread: PhantomData<*mut ()>,
}

impl StreamRef {
    fn new(raw: CUstream, context: Context) -> Self {
        Self { raw, context, id: OnceLock::new(), _thread: PhantomData }
    }

    /// Tells the stream from all that there were, also at the same address (`cuStreamGetId`). Asked once: the driver does not
    /// tell while the stream is capturing, and that costs the capture.
    pub(crate) fn id(&self) -> Result<u64> {
        if let Some(&id) = self.id.get() {
            return Ok(id);
        }
        let mut id = 0;
        // SAFETY: the handle lives; the pointer is valid for a write.
        self.with_context_if_needed(|| unsafe { call!(entry::cuStreamGetId(self.raw, &raw mut id)) })?;
        Ok(*self.id.get_or_init(|| id))
    }

    /// CUDA's handle. It is valid while this value lives.
    pub fn as_raw(&self) -> CUstream {
        self.raw
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Makes a call about this stream that works whatever context is current, as most do on the handle of a stream; the
    /// default streams are those of the current context.
    #[inline]
    pub(crate) fn with_context_if_needed<R>(&self, call: impl FnMut() -> Result<R>) -> Result<R> {
        self.with_context_if(CUresult::CUDA_ERROR_INVALID_CONTEXT, call)
    }

    /// The same, where some drivers ask for the context by another `refusal`.
    #[inline]
    fn with_context_if<R>(&self, refusal: CUresult, call: impl FnMut() -> Result<R>) -> Result<R> {
        let is_default = [ptr::null_mut(), CU_STREAM_LEGACY, CU_STREAM_PER_THREAD].contains(&self.raw);
        if is_default { self.context.with_current(call)? } else { self.context.with_current_if(refusal, call) }
    }

    /// Waits for all work in the stream (`cuStreamSynchronize`), in the way that its
    /// [`SynchronizationPolicy`](crate::attribute::SynchronizationPolicy) says.
    ///
    /// # Errors
    ///
    /// What the driver answers; a kernel that failed is reported here. `CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED` while
    /// the stream is capturing, which invalidates the capture. [`Error::WouldDeadlock`](crate::Error::WouldDeadlock) in a
    /// closure of an [executor](crate::HostExecutor) in this very stream.
    pub fn synchronize(&self) -> Result<()> {
        check_no_deadlock(self)?;
        let _entered = self.context.enter()?;
        // SAFETY: the handle lives.
        unsafe { call!(cuStreamSynchronize(self.raw)) }
    }

    /// Whether all work in the stream is complete (`cuStreamQuery`).
    ///
    /// # Errors
    ///
    /// As [`StreamRef::synchronize`].
    pub fn is_complete(&self) -> Result<bool> {
        host::drain();
        // SAFETY: the handle lives.
        is_ready(self.with_context_if_needed(|| unsafe { call!(cuStreamQuery(self.raw)) }))
    }

    /// Work that is put into the stream from now on waits for the event's record (`cuStreamWaitEvent`).
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        host::drain();
        let _changing = self.context.captures().changing();
        // SAFETY: both handles live; 0 is CU_EVENT_WAIT_DEFAULT.
        self.with_context_if_needed(|| unsafe { call!(cuStreamWaitEvent(self.raw, event.as_raw(), 0)) })
    }

    /// The priority (`cuStreamGetPriority`): the same as `attribute::<Priority>()`.
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn priority(&self) -> Result<Priority> {
        let _entered = self.context.enter()?;
        let mut priority: c_int = 0;
        // SAFETY: the handle lives; the pointer is valid for a write.
        unsafe { call!(cuStreamGetPriority(self.raw, &raw mut priority)) }?;
        Ok(Priority::from_raw(priority))
    }

    /// Whether the stream ignores the legacy default stream (`cuStreamGetFlags`, `CU_STREAM_NON_BLOCKING`).
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn is_non_blocking(&self) -> Result<bool> {
        let _entered = self.context.enter()?;
        let mut flags: c_uint = 0;
        // SAFETY: the handle lives; the pointer is valid for a write.
        unsafe { call!(cuStreamGetFlags(self.raw, &raw mut flags)) }?;
        Ok(flags & options::NON_BLOCKING != 0)
    }
}
