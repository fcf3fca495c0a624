//! Contexts, and the rule that calls for which it matters are made with the right one current.
//!
//! ```no_run
//! use cuda_hostfn::{Context, Device, Stream};
//!
//! let context = Context::primary(Device::get(0)?)?;
//! // Nothing has to be made current, on this thread or any other.
//! let stream = std::thread::scope(|scope| scope.spawn(|| Stream::new(&context)).join().unwrap())?;
//! println!("priorities: {:?}", context.priority_range()?);
//! # drop(stream);
//! # Ok::<(), cuda_hostfn::Error>(())
//! ```

use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;

use crate::error::call;
use crate::host::{self, Lane};
use crate::sys::{CUcontext, CUdevice, CUresult, cuCtxPopCurrent, cuDevicePrimaryCtxRelease};
use crate::{Device, Error, PriorityRange, Result, entry};

mod captures;
mod l2;

pub(crate) use captures::{Captures, Settled};

static ALL: Mutex<Vec<Weak<Inner>>> = Mutex::new(Vec::new());

/// A context: the primary one of a device, held while any clone or any handle made from it lives; or a foreign one.
///
/// [Host functions](crate::host) hold it as well: it is let go of by [`reclaim`](crate::host::reclaim) after the last of
/// them, or in passing, by one of the next calls into the crate.
///
/// `Send` and `Sync`. Where it matters to the driver, methods of this crate make it current for the duration of a call, and
/// leave the thread as they found it; nothing has to be set up on a thread.
#[derive(Clone, Debug)]
pub struct Context(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    raw: CUcontext,
    device: Device,
    /// The primary context is released when the last clone is dropped; a foreign one is its owner's.
    is_retained: bool,
    priorities: OnceLock<PriorityRange>,
    max_window: OnceLock<usize>,
    /// Tells the context from a later one at the same address.
    id: Option<u64>,
    lane: Lane,
    captures: Captures,
}

// SAFETY: a context may be used, made current and released by any thread, by several at once.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Context {
    /// Retains the device's primary context (`cuDevicePrimaryCtxRetain`), and creates it if nobody has.
    ///
    /// # Errors
    ///
    /// What the driver answers, such as `CUDA_ERROR_OUT_OF_MEMORY`.
    pub fn primary(device: Device) -> Result<Self> {
        crate::device::init()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the pointer is valid for a write.
        unsafe { call!(cuDevicePrimaryCtxRetain(&raw mut raw, device.as_raw())) }?;
        Ok(Self::new(raw, device, true))
    }

    /// Borrows a context that someone else owns, of whatever kind.
    ///
    /// # Errors
    ///
    /// What `cuCtxGetDevice` answers.
    ///
    /// # Safety
    ///
    /// `raw` is a context, and its owner keeps it until every clone of the value and every handle made with it is
    /// dropped, and every [host function](crate::host) in its streams has run and been [reclaimed](crate::host::reclaim).
    pub unsafe fn from_raw(raw: CUcontext) -> Result<Self> {
        // SAFETY: the caller's promise.
        let entered = unsafe { Entered::new(raw) }?;
        let mut device: CUdevice = 0;
        // SAFETY: the pointer is valid for a write.
        unsafe { call!(cuCtxGetDevice(&raw mut device)) }?;
        drop(entered);
        let device = Device::from_raw(device);
        Ok(Self::new(raw, device, false))
    }

    fn new(raw: CUcontext, device: Device, is_retained: bool) -> Self {
        let context = Self::unlisted(raw, device, is_retained, entry::context_id(raw));
        let mut all = ALL.lock();
        all.retain(|other| other.strong_count() > 0);
        all.push(Arc::downgrade(&context.0));
        context
    }

    fn unlisted(raw: CUcontext, device: Device, is_retained: bool, id: Option<u64>) -> Self {
        let (priorities, max_window) = (OnceLock::new(), OnceLock::new());
        let (lane, captures) = (Lane::new(), Captures::new());
        Self(Arc::new(Inner { raw, device, is_retained, priorities, max_window, id, lane, captures }))
    }

    /// Every context value there is, clones counted once. Those that come and go meanwhile may be missed.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let next = |index: &mut usize| {
            let one = ALL.lock().get(*index).map(Weak::upgrade);
            *index += 1;
            one
        };
        let mut index = 0;
        std::iter::from_fn(move || next(&mut index)).flatten().map(Self)
    }

    /// Whether this is a clone of the other.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn id(&self) -> Option<u64> {
        self.0.id
    }

    /// What is in its streams.
    #[inline]
    pub(crate) fn lane(&self) -> &Lane {
        &self.0.lane
    }

    /// Captures in its streams.
    #[inline]
    pub(crate) fn captures(&self) -> &Captures {
        &self.0.captures
    }

    /// CUDA's handle. It is valid while this value or a clone lives.
    pub fn as_raw(&self) -> CUcontext {
        self.0.raw
    }

    /// The device.
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// Waits for all work of the context, of this crate or not (`cuCtxSynchronize`).
    ///
    /// # Errors
    ///
    /// What the driver answers; a kernel that failed is reported here. [`Error::WouldDeadlock`] in a closure of an
    /// [executor](crate::HostExecutor) in this context.
    pub fn synchronize(&self) -> Result<()> {
        host::check_no_deadlock_in(self)?;
        let _entered = self.enter()?;
        // SAFETY: the context is current.
        unsafe { call!(cuCtxSynchronize()) }
    }

    /// The priorities that streams and kernels may have (`cuCtxGetStreamPriorityRange`). Asked once, then remembered.
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn priority_range(&self) -> Result<PriorityRange> {
        if let Some(&range) = self.0.priorities.get() {
            return Ok(range);
        }
        let _entered = self.enter()?;
        let (mut least, mut greatest): (c_int, c_int) = (0, 0);
        // SAFETY: the pointers are valid for writes; the context is current.
        unsafe { call!(cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest)) }?;
        Ok(*self.0.priorities.get_or_init(|| PriorityRange::new(least, greatest)))
    }

    /// Runs `f` with the context current on this thread, for calls of your own into [`sys`](crate::sys). Afterwards the
    /// thread has the context that it had before, also if `f` panics; `f` pops what it pushes itself.
    ///
    /// # Errors
    ///
    /// What `cuCtxPushCurrent` answers; `f` was not called then.
    pub fn with_current<R>(&self, f: impl FnOnce() -> R) -> Result<R> {
        let _entered = self.enter()?;
        Ok(f())
    }

    /// Makes a call that is about a handle, and works whatever context is current: most do. Where some driver's answer
    /// is `refusal`, it is made again with this context, unless that was current.
    #[inline]
    pub(crate) fn with_current_if<R>(&self, refusal: CUresult, mut call: impl FnMut() -> Result<R>) -> Result<R> {
        let result = call();
        if result.is_err() {
            return self.with_current_after(result, refusal, call);
        }
        result
    }

    /// Of a call that failed.
    #[cold]
    #[inline(never)]
    fn with_current_after<R>(
        &self,
        result: Result<R>,
        refusal: CUresult,
        call: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        if result.as_ref().err().and_then(Error::code) != Some(refusal) {
            return result;
        }
        let entered = self.enter()?;
        if entered.is_pushed { call() } else { result }
    }

    /// Makes the context current until the guard is dropped; nearly free if it is already.
    #[inline]
    pub(crate) fn enter(&self) -> Result<Entered> {
        // SAFETY: the context is retained, or its owner promised to keep it.
        unsafe { Entered::new(self.0.raw) }
    }

    /// A context of no driver, which nobody looks for when contexts are lost; its priorities are 0 to −5, and its windows have 128 MiB.
    /// Nothing may be called in it.
    #[cfg(test)]
    pub(crate) fn fake() -> Self {
        let context = Self::unlisted(ptr::null_mut(), Device::from_raw(0), false, None);
        context.0.priorities.set(PriorityRange::new(0, -5)).expect("new");
        context.0.max_window.set(1 << 27).expect("new");
        context
    }

    /// For destructors: runs `release` on what is to be destroyed, with the context current where that is possible, and
    /// without where it is not; later, if this is a host function. What it answers is nobody's to know: after a device
    /// fault, every release "fails".
    ///
    /// # Safety
    ///
    /// `release` may be called with `handle`, by any thread.
    pub(crate) unsafe fn release<H: 'static>(&self, release: unsafe extern "C" fn(*mut H) -> CUresult, handle: *mut H) {
        if host::in_host_function() {
            let (context, handle) = (self.clone(), handle.expose_provenance());
            return host::defer(move || {
                // SAFETY: the caller's promise.
                unsafe { context.release(release, ptr::with_exposed_provenance_mut(handle)) };
            });
        }
        let _entered = self.enter();
        // SAFETY: the caller's promise.
        let _ = unsafe { release(handle) };
    }
}

impl PartialEq for Context {
    fn eq(&self, other: &Self) -> bool {
        self.0.raw == other.0.raw
    }
}

impl Eq for Context {}

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.is_retained {
            return;
        }
        let device = self.device.as_raw();
        let release = move || {
            // SAFETY: retained once by `Context::primary`. A failure leaves nothing to be done.
            let _ = unsafe { cuDevicePrimaryCtxRelease(device) };
        };
        if host::in_host_function() { host::defer(release) } else { release() }
    }
}

/// A context is current on this thread; dropping it restores the one that was.
#[derive(Debug)]
#[must_use = "the context is current only while this lives"]
pub(crate) struct Entered {
    is_pushed: bool,
    /// The current context belongs to the thread.
    _thread: PhantomData<*mut ()>,
}

impl Entered {
    /// # Safety
    ///
    /// `raw` is a live context.
    #[inline]
    unsafe fn new(raw: CUcontext) -> Result<Self> {
        host::drain();
        let mut current = ptr::null_mut();
        // SAFETY: the pointer is valid for a write.
        unsafe { call!(cuCtxGetCurrent(&raw mut current)) }?;
        if current == raw {
            return Ok(Self { is_pushed: false, _thread: PhantomData });
        }
        // SAFETY: a live context, says the caller.
        unsafe { Self::push(raw) }
    }

    /// # Safety
    ///
    /// As [`new`](Self::new).
    #[cold]
    unsafe fn push(raw: CUcontext) -> Result<Self> {
        // SAFETY: a live context, says the caller.
        unsafe { call!(cuCtxPushCurrent(raw)) }?;
        Ok(Self { is_pushed: true, _thread: PhantomData })
    }
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        if self.is_pushed {
            let mut popped = ptr::null_mut();
            // SAFETY: the pointer is valid for a write; takes off what `new` pushed.
            let _ = unsafe { cuCtxPopCurrent(&raw mut popped) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_equal_by_their_handle() {
        let context = |handle| Context::unlisted(ptr::without_provenance_mut(handle), Device::from_raw(0), false, None);
        assert_eq!(context(8), context(8));
        assert_ne!(context(8), context(16));
    }
}
