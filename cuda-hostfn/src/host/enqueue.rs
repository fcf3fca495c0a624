//! Putting host functions into a stream.

use std::ffi::{c_uint, c_void};

use super::executor::{Lease, Shared};
use super::handle::Handle;
use super::hook::{self, Moment};
use super::job::{Boxed, Job, Launch, Once, Retire, With};
use super::record::Record;
use super::task::{self, Origin, Take};
use super::{EnqueueError, HostTask, captured, reclaim, trampoline};
use crate::context::Settled;
use crate::error::call;
use crate::sys::{CUhostFn, CUresult, driver};
use crate::{CaptureStatus, Context, Error, Result, StreamRef, capture};

/// How the driver's thread waits for the host function's turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SyncMode {
    /// It sleeps (`CU_HOST_TASK_BLOCKING`); what every driver does.
    #[default]
    Blocking,
    /// It spins (`CU_HOST_TASK_SPINWAIT`): the function is called sooner, at the price of a processor. Needs a driver
    /// of CUDA 13.2.
    SpinWait,
}

impl SyncMode {
    /// As the driver numbers it (`CUhostTaskSyncMode`).
    pub(crate) const fn number(self) -> c_uint {
        match self {
            Self::Blocking => 0,
            Self::SpinWait => 1,
        }
    }

    /// Whether the driver has it, and if not, the error that says so.
    pub(crate) fn check_supported(self) -> Result<()> {
        if self == Self::SpinWait && driver::symbol(c"cuLaunchHostFunc_v2").is_none() {
            return crate::error::check("cuLaunchHostFunc_v2", CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND);
        }
        Ok(())
    }
}

/// A stream together with a [`SyncMode`]: [`StreamRef::in_sync_mode`].
#[derive(Clone, Copy, Debug)]
pub struct HostFunctions<'s> {
    stream: &'s StreamRef,
    way: Way<'s>,
}

/// Who calls.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way<'s> {
    /// The driver's thread.
    Driver(SyncMode),
    /// An executor's workers.
    Executor(&'s Shared),
    /// The driver's thread, for an executor that has no workers.
    InsteadOfExecutor,
}

/// The stream takes host functions.
struct Ready {
    settled: Settled,
    /// How many captures had been ended.
    ended: usize,
    is_capturing: bool,
}

impl<'s> HostFunctions<'s> {
    pub(super) fn new(stream: &'s StreamRef, mode: SyncMode) -> Self {
        Self::by(stream, Way::Driver(mode))
    }

    pub(super) fn by(stream: &'s StreamRef, way: Way<'s>) -> Self {
        Self { stream, way }
    }

    pub(super) fn supported(stream: &'s StreamRef, mode: SyncMode) -> Result<Self> {
        mode.check_supported()?;
        Ok(Self::new(stream, mode))
    }

    /// [`StreamRef::host_launch`] in this mode.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn host_launch<F>(self, f: F) -> Result<(), EnqueueError<F>>
    where
        F: FnMut() + Send + 'static,
    {
        match self.ready() {
            Ok(ready) if ready.is_capturing => match self.way {
                Way::Driver(mode) => captured::capture(self.stream, f, |function, data| self.put(mode, function, data)),
                Way::Executor(_) | Way::InsteadOfExecutor => Err(EnqueueError::new(Error::Capturing, f)),
            },
            Ok(ready) => self.launch(&ready, Launch(f)).map_err(|error| error.map(|job| job.0)),
            Err(error) => Err(EnqueueError::new(error, f)),
        }
    }

    /// [`StreamRef::host_task`] in this mode.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn host_task<F, T>(self, f: F) -> Result<HostTask<T>, EnqueueError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.task(Once::new(f)).map_err(|error| error.map(Once::into_inner))
    }

    /// [`StreamRef::host_task_with`] in this mode.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn host_task_with<V, F, T>(self, value: V, f: F) -> Result<HostTask<T>, EnqueueError<(V, F)>>
    where
        V: Send + 'static,
        F: FnOnce(&mut V) -> T + Send + 'static,
        T: Send + 'static,
    {
        self.task(With::new(value, f)).map_err(|error| error.map(With::into_inner))
    }

    pub(super) fn retire<V: Send + 'static>(self, value: V) -> Result<(), EnqueueError<V>> {
        match self.ready_for_task() {
            // There is nothing to be dropped, so nobody can see when.
            Ok(_) if !std::mem::needs_drop::<V>() => Ok(()),
            Ok(ready) => self.launch(&ready, Retire(value)).map_err(|error| error.map(|job| job.0)),
            Err(error) => Err(EnqueueError::new(error, value)),
        }
    }

    /// A job with a handle.
    pub(super) fn task<J: Job>(self, job: J) -> Result<HostTask<J::Output>, EnqueueError<J>> {
        match self.ready_for_task() {
            Ok(ready) if Record::<J>::FITS => {
                self.submit(&ready, job, |handle, origin| self.accepted(handle, origin, task::take::<J>))
            }
            Ok(ready) => {
                let boxed = Boxed(Box::new(job));
                let keep = |handle, origin| self.accepted(handle, origin, task::take_boxed::<J>);
                self.submit(&ready, boxed, keep).map_err(|error| error.map(|boxed| *boxed.0))
            }
            Err(error) => Err(EnqueueError::new(error, job)),
        }
    }

    fn accepted<T>(self, handle: Handle, origin: Origin, take: Take<T>) -> HostTask<T> {
        handle.header().accepted();
        // SAFETY: they belong together, and the handle is of this context.
        unsafe { HostTask::new(handle, take, self.context().clone(), origin) }
    }

    /// Whose the records are. An executor has them all in its own, where its workers learn of a fault.
    fn context(self) -> &'s Context {
        match self.way {
            Way::Driver(_) | Way::InsteadOfExecutor => self.stream.context(),
            Way::Executor(executor) => executor.context(),
        }
    }

    fn ready(self) -> Result<Ready> {
        reclaim::drain_in_turn();
        let (settled, ended) = (self.stream.context().captures().settled(), capture::ends_begun());
        let is_capturing = match self.stream.with_context_if_needed(|| self.stream.current_capture_status())? {
            CaptureStatus::None => false,
            CaptureStatus::Active => true,
            CaptureStatus::Invalidated => {
                let code = CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
                return Err(crate::error::check("cuStreamIsCapturing", code).expect_err("not a success"));
            }
        };
        Ok(Ready { settled, ended, is_capturing })
    }

    fn ready_for_task(self) -> Result<Ready> {
        self.ready().and_then(|ready| if ready.is_capturing { Err(Error::Capturing) } else { Ok(ready) })
    }

    /// A job that nobody waits for.
    fn launch<J: Job>(self, ready: &Ready, job: J) -> Result<(), EnqueueError<J>> {
        if Record::<J>::FITS {
            self.submit(ready, job, |handle, _| drop(handle))
        } else {
            let boxed = Boxed(Box::new(job));
            self.submit(ready, boxed, |handle, _| drop(handle)).map_err(|error| error.map(|boxed| *boxed.0))
        }
    }

    /// Enqueues a job; `keep` takes the handle once the driver has accepted the call.
    fn submit<J: Job, R>(
        self,
        ready: &Ready,
        job: J,
        keep: impl FnOnce(Handle, Origin) -> R,
    ) -> Result<R, EnqueueError<J>> {
        let lease = match self.lease() {
            Ok(lease) => lease,
            // Begun by another thread since it was asked.
            Err(_) if self.is_capturing() == Some(true) => return Err(EnqueueError::new(Error::Capturing, job)),
            Err(error) => return Err(EnqueueError::new(error, job)),
        };
        let context = self.context();
        let handle = Handle::new(context, job);
        let put = match &lease {
            Some(lease) => lease.put(self.stream, handle.record()),
            None => self.enqueue(Some(trampoline::call), handle.record().as_ptr().cast()),
        };
        let origin = match &lease {
            Some(lease) => Origin::Executor(lease.stream_id()),
            None => Origin::Driver(self.stream.as_raw().addr()),
        };
        let handle = match put {
            Ok(()) if !self.was_perhaps_captured(ready) => handle,
            put => self.in_doubt(lease, handle, put)?,
        };
        hook::tell(handle.record(), Moment::Enqueued);
        let kept = keep(handle, origin);
        if context.lane().fault().is_some() {
            context.give_up_lost();
        }
        Ok(kept)
    }

    /// A call that was refused, or that may be a node of a graph now.
    #[cold]
    fn in_doubt<J: Job>(
        self,
        lease: Option<Lease<'_>>,
        handle: Handle,
        put: Result<()>,
    ) -> Result<Handle, EnqueueError<J>> {
        let was_accepted = put.is_ok();
        if was_accepted {
            handle.header().keep_for_ever();
        }
        let refusal = match put {
            // Workers would be waited for until the graph is launched.
            Ok(()) if lease.is_some() && self.is_capturing() == Some(true) => Some(Error::Capturing),
            result => result.err(),
        };
        let is_certain = !was_accepted && refusal.as_ref().is_none_or(is_certain);
        if let Some(lease) = lease.as_ref().filter(|_| !is_certain) {
            lease.retire();
        }
        let Some(error) = refusal else { return Ok(handle) };
        // SAFETY: the handle of such a job in this context.
        match unsafe { handle.refused::<J>(self.context(), is_certain) } {
            Ok(job) => {
                lease.into_iter().for_each(Lease::give_back);
                Err(EnqueueError::new(error, job))
            }
            // The driver reported what befell other work; this call had begun.
            Err(handle) => Ok(handle),
        }
    }

    /// Whether another thread may have begun a capture meanwhile, so that the call is a node of a graph, to be replayed.
    #[inline]
    fn was_perhaps_captured(self, ready: &Ready) -> bool {
        // One that began and is over was ended.
        !self.stream.context().captures().none_since(ready.settled)
            && (self.is_capturing() != Some(false) || capture::ends_begun() != ready.ended)
    }

    /// The stream's strand, if workers are to call.
    #[inline]
    fn lease(self) -> Result<Option<Lease<'s>>> {
        match self.way {
            Way::Driver(_) | Way::InsteadOfExecutor => Ok(None),
            Way::Executor(executor) => executor.lease(self.stream).map(Some),
        }
    }

    /// `None` if the driver does not say.
    fn is_capturing(self) -> Option<bool> {
        let status = self.stream.with_context_if_needed(|| self.stream.current_capture_status());
        status.ok().map(|status| status != CaptureStatus::None)
    }

    /// Whatever context is current.
    pub(super) fn enqueue(self, function: CUhostFn, data: *mut c_void) -> Result<()> {
        let mode = if let Way::Driver(mode) = self.way { mode } else { SyncMode::Blocking };
        self.stream.with_context_if_needed(|| self.put(mode, function, data))
    }

    /// The one place where host functions go to the driver.
    fn put(self, mode: SyncMode, function: CUhostFn, data: *mut c_void) -> Result<()> {
        let stream = self.stream.as_raw();
        match mode {
            // SAFETY: the handle lives; the function may be called with `data`, says who made them.
            SyncMode::Blocking => unsafe { call!(cuLaunchHostFunc(stream, function, data)) },
            // SAFETY: as above.
            mode => unsafe { call!(entry::cuLaunchHostFunc_v2(stream, function, data, mode.number())) },
        }
    }
}

/// Whether a refusal is about the call itself, so that the driver has kept nothing. Others may report what happened to
/// earlier work, after the function was enqueued.
fn is_certain(error: &Error) -> bool {
    error.code().is_none_or(|code| {
        matches!(
            code,
            CUresult::CUDA_ERROR_INVALID_VALUE
                | CUresult::CUDA_ERROR_INVALID_HANDLE
                | CUresult::CUDA_ERROR_INVALID_CONTEXT
                | CUresult::CUDA_ERROR_NOT_INITIALIZED
                | CUresult::CUDA_ERROR_NOT_PERMITTED
                | CUresult::CUDA_ERROR_NOT_SUPPORTED
                | CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                | CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                | CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION
                | CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
                | CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_about_earlier_work_is_not_certain() {
        let refused = |code| crate::error::check("cuLaunchHostFunc", code).expect_err("not a success");
        assert!(is_certain(&Error::CalledFromHostFunction));
        assert!(is_certain(&refused(CUresult::CUDA_ERROR_INVALID_HANDLE)));
        assert!(!is_certain(&refused(CUresult::CUDA_ERROR_LAUNCH_FAILED)));
        assert!(!is_certain(&refused(CUresult::CUDA_ERROR_OUT_OF_MEMORY)));
    }
}
