//! Events: points in a stream that hosts and other streams can wait for.
//!
//! ```no_run
//! use cuda_hostfn::{Context, Device, Event, EventOptions, Stream};
//!
//! let context = Context::primary(Device::get(0)?)?;
//! let (first, second) = (Stream::new(&context)?, Stream::new(&context)?);
//! let event = EventOptions::new().disable_timing(true).create(&context)?;
//! event.record(&first)?;
//! second.wait_event(&event)?;
//! # Ok::<(), cuda_hostfn::Error>(())
//! ```

use std::ffi::c_uint;
use std::mem::ManuallyDrop;
use std::ptr;
use std::time::Duration;

use crate::error::call;
use crate::sys::{CUevent, CUresult, cuEventDestroy};
use crate::{Context, Error, Result, StreamRef, host};

/// How an [`Event`] is to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventOptions {
    pub(crate) disable_timing: bool,
    pub(crate) blocking_sync: bool,
    interprocess: bool,
}

impl EventOptions {
    /// With timing, waited for in the context's way, for this process.
    pub const fn new() -> Self {
        Self { disable_timing: false, blocking_sync: false, interprocess: false }
    }

    /// Records no time (`CU_EVENT_DISABLE_TIMING`): cheaper, and what launch attributes with events demand.
    pub const fn disable_timing(mut self, yes: bool) -> Self {
        self.disable_timing = yes;
        self
    }

    /// Threads that wait for the event sleep (`CU_EVENT_BLOCKING_SYNC`).
    pub const fn blocking_sync(mut self, yes: bool) -> Self {
        self.blocking_sync = yes;
        self
    }

    /// Other processes may open the event (`CU_EVENT_INTERPROCESS`).
    pub const fn interprocess(mut self, yes: bool) -> Self {
        self.interprocess = yes;
        self
    }

    /// Creates such an event (`cuEventCreate`).
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it is to be interprocess and have timing; otherwise what the driver answers.
    pub fn create(self, context: &Context) -> Result<Event> {
        let Self { disable_timing, blocking_sync, interprocess } = self;
        if interprocess && !disable_timing {
            return Err(Error::invalid("EventOptions.interprocess", "needs disable_timing"));
        }
        // CU_EVENT_BLOCKING_SYNC, CU_EVENT_DISABLE_TIMING, CU_EVENT_INTERPROCESS.
        let flags = c_uint::from(blocking_sync) | c_uint::from(disable_timing) << 1 | c_uint::from(interprocess) << 2;
        let _entered = context.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the pointer is valid for a write; the context is current.
        unsafe { call!(cuEventCreate(&raw mut raw, flags)) }?;
        Ok(Event { raw, context: context.clone(), options: Some(self) })
    }
}

/// An event. `Send` and `Sync`; it keeps its context alive. Dropping it while work refers to it is fine: the driver
/// releases it when that work is done.
#[derive(Debug)]
pub struct Event {
    raw: CUevent,
    context: Context,
    /// `None` for a foreign event: CUDA cannot be asked for the flags.
    options: Option<EventOptions>,
}

// SAFETY: the driver's events may be used by any thread, by several at once.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// An event with timing: [`EventOptions::new`].
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn new(context: &Context) -> Result<Self> {
        EventOptions::new().create(context)
    }

    /// Takes over a foreign event, which is destroyed when the value is dropped. Its flags are unknown: rules about
    /// them are left to the driver.
    ///
    /// # Safety
    ///
    /// `raw` is an event of `context` that nobody else destroys.
    pub unsafe fn from_raw(context: &Context, raw: CUevent) -> Self {
        Self { raw, context: context.clone(), options: None }
    }

    /// Gives the event out; the caller destroys it and keeps the context alive until then.
    pub fn into_raw(self) -> CUevent {
        let event = ManuallyDrop::new(self);
        // SAFETY: `event` is not used or dropped afterwards.
        drop(unsafe { ptr::read(&raw const event.context) });
        event.raw
    }

    /// CUDA's handle. It is valid while this value lives.
    pub fn as_raw(&self) -> CUevent {
        self.raw
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// How the event was created; `None` for a foreign one.
    pub fn options(&self) -> Option<EventOptions> {
        self.options
    }

    /// Puts the event into a stream, after the work that is there (`cuEventRecord`). An earlier record is forgotten.
    ///
    /// # Errors
    ///
    /// What the driver answers, such as `CUDA_ERROR_INVALID_HANDLE` for a stream of another context.
    pub fn record(&self, stream: &StreamRef) -> Result<()> {
        host::drain();
        // SAFETY: both handles live.
        stream.with_context_if_needed(|| unsafe { call!(cuEventRecord(self.raw, stream.as_raw())) })
    }

    /// Waits until the stream gets to the record (`cuEventSynchronize`); at once if there is none.
    ///
    /// # Errors
    ///
    /// What the driver answers; a kernel that failed is reported here.
    pub fn synchronize(&self) -> Result<()> {
        let _entered = self.context.enter()?;
        // SAFETY: the handle lives.
        unsafe { call!(cuEventSynchronize(self.raw)) }
    }

    /// Whether the stream got to the record (`cuEventQuery`); true if there is none.
    ///
    /// # Errors
    ///
    /// As [`Event::synchronize`].
    pub fn is_complete(&self) -> Result<bool> {
        host::drain();
        // SAFETY: the handle lives.
        let query = || unsafe { call!(cuEventQuery(self.raw)) };
        is_ready(self.context.with_current_if(CUresult::CUDA_ERROR_INVALID_CONTEXT, query))
    }

    /// The time between two records, with a resolution of about half a microsecond (`cuEventElapsedTime`).
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_NOT_READY` before both are complete, `CUDA_ERROR_INVALID_HANDLE` if one has no timing or no record;
    /// [`Error::Invalid`] if `start` is the later one.
    pub fn elapsed_since(&self, start: &Self) -> Result<Duration> {
        let _entered = self.context.enter()?;
        let mut milliseconds = 0.0;
        // SAFETY: the pointer is valid for a write; both handles live.
        unsafe { call!(entry::cuEventElapsedTime(&raw mut milliseconds, start.raw, self.raw)) }?;
        Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3)
            .map_err(|_| Error::invalid("start", "was reached after the event whose time is asked"))
    }
}

/// `CUDA_ERROR_NOT_READY` is an answer, not an error.
pub(crate) fn is_ready(result: Result<()>) -> Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.code() == Some(CUresult::CUDA_ERROR_NOT_READY) => Ok(false),
        Err(error) => Err(error),
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the value owns the event. A failure leaves nothing to be done.
        unsafe { self.context.release(cuEventDestroy, self.raw) };
    }
}
