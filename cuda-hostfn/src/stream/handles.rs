//! Who owns a stream.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr;

use crate::error::call;
use crate::sys::{CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUresult, CUstream, cuStreamDestroy, driver};
use crate::{Context, Error, Result, StreamOptions, StreamRef, capture};

/// An owned stream. `Send` and `Sync`; it keeps its context alive.
///
/// Dropping it does not wait: the driver finishes the work that is in the stream, then releases it (`cuStreamDestroy`).
#[derive(Debug)]
pub struct Stream(StreamRef);

// SAFETY: the driver's streams may be used by any thread, by several at once. `StreamRef` is bound to its thread only
// for the sake of the per-thread default stream, which a `Stream` never is.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    /// A stream with default options: [`StreamOptions::new`].
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn new(context: &Context) -> Result<Self> {
        StreamOptions::new().create(context)
    }

    /// Takes over a foreign stream, which is destroyed when the value is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for the default streams (see [`BorrowedStream::legacy`], [`PerThreadStream::new`]); what
    /// `cuStreamGetCtx` answers. The stream is then still the caller's.
    ///
    /// # Safety
    ///
    /// `raw` is a stream that nobody else destroys, and its context is kept until the value, every clone of its
    /// [`context`](StreamRef::context) and every handle made with that is dropped.
    pub unsafe fn from_raw(raw: CUstream) -> Result<Self> {
        if [ptr::null_mut(), CU_STREAM_LEGACY, CU_STREAM_PER_THREAD].contains(&raw) {
            return Err(Error::invalid("raw", "a default stream cannot be owned; borrow it"));
        }
        // SAFETY: the caller's promise.
        unsafe { of_foreign(raw) }.map(Self)
    }

    /// Takes over a stream that was just created.
    ///
    /// # Safety
    ///
    /// `raw` is a stream of `context` that nobody else destroys.
    pub(super) unsafe fn from_new(raw: CUstream, context: Context) -> Self {
        Self(StreamRef::new(raw, context))
    }

    /// Gives the stream out; the caller destroys it and keeps the context alive until then, for instance by a clone of
    /// [`context`](StreamRef::context).
    pub fn into_raw(self) -> CUstream {
        let stream = ManuallyDrop::new(self);
        // SAFETY: `stream` is not used or dropped afterwards.
        drop(unsafe { ptr::read(&raw const stream.0.context) });
        stream.0.raw
    }
}

impl Deref for Stream {
    type Target = StreamRef;

    fn deref(&self) -> &StreamRef {
        &self.0
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the value owns the stream. A failure leaves nothing to be done.
        unsafe { self.0.context.release(destroy, self.0.raw) };
    }
}

/// Destroys a stream, and with it a capture that began there and into which other streams may be capturing closures. A
/// thread that does not get done with that keeps the stream.
unsafe extern "C" fn destroy(stream: CUstream) -> CUresult {
    let Some(_turn) = capture::to_end() else { return CUresult::CUDA_ERROR_NOT_READY };
    // SAFETY: the caller's promise.
    unsafe { cuStreamDestroy(stream) }
}

/// A stream that belongs to someone else, such as another CUDA crate, or the legacy default stream. `Send` and `Sync`.
/// Dropping it does nothing to the stream.
///
/// ```no_run
/// # fn stream_of_another_crate() -> cuda_hostfn::sys::CUstream { std::ptr::null_mut() }
/// use cuda_hostfn::BorrowedStream;
/// use cuda_hostfn::attribute::SynchronizationPolicy;
///
/// let raw = stream_of_another_crate();
/// // SAFETY: the other crate keeps the stream and its context for as long as `stream` lives.
/// let stream = unsafe { BorrowedStream::from_raw(raw) }?;
/// stream.set_attribute(SynchronizationPolicy::BlockingSync)?;
/// # Ok::<(), cuda_hostfn::Error>(())
/// ```
#[derive(Debug)]
pub struct BorrowedStream<'a> {
    stream: StreamRef,
    _owner: PhantomData<&'a ()>,
}

// SAFETY: as for `Stream`; the per-thread default stream is refused by the constructors.
unsafe impl Send for BorrowedStream<'_> {}
// SAFETY: as above.
unsafe impl Sync for BorrowedStream<'_> {}

impl BorrowedStream<'_> {
    /// Borrows a stream for the lifetime `'a`, which the caller chooses. The NULL stream and the legacy stream are
    /// those of the context that is current on this thread.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for the per-thread default stream, which is not the same stream on another thread (see
    /// [`PerThreadStream`]); what `cuStreamGetCtx` answers.
    ///
    /// # Safety
    ///
    /// `raw` is a stream that lives for `'a`, and its context is kept until the value, every clone of its
    /// [`context`](StreamRef::context) and every handle made with that is dropped.
    pub unsafe fn from_raw(raw: CUstream) -> Result<Self> {
        if raw == CU_STREAM_PER_THREAD || (raw.is_null() && driver::PER_THREAD_DEFAULT_STREAM) {
            return Err(Error::invalid("raw", "the per-thread default stream: use PerThreadStream"));
        }
        // SAFETY: the caller's promise.
        let stream = unsafe { of_foreign(raw) }?;
        Ok(Self { stream, _owner: PhantomData })
    }

    /// The legacy default stream of a context (`CU_STREAM_LEGACY`), which is what NULL means unless a program asks for
    /// per-thread default streams. It waits for, and holds up, every stream that is not
    /// [non-blocking](StreamOptions::non_blocking). It cannot be captured.
    pub fn legacy(context: &Context) -> BorrowedStream<'static> {
        BorrowedStream { stream: StreamRef::new(CU_STREAM_LEGACY, context.clone()), _owner: PhantomData }
    }
}

impl Deref for BorrowedStream<'_> {
    type Target = StreamRef;

    fn deref(&self) -> &StreamRef {
        &self.stream
    }
}

/// The default stream of this thread and a context (`CU_STREAM_PER_THREAD`). Neither `Send` nor `Sync`: on another
/// thread the same handle would be another stream.
///
/// ```compile_fail,E0277
/// fn on_another_thread<T: Send>(_: T) {}
/// fn give_away(stream: cuda_hostfn::PerThreadStream) {
///     on_another_thread(stream);
/// }
/// ```
#[derive(Debug)]
pub struct PerThreadStream(StreamRef);

impl PerThreadStream {
    /// This thread's default stream in a context.
    pub fn new(context: &Context) -> Self {
        Self(StreamRef::new(CU_STREAM_PER_THREAD, context.clone()))
    }
}

impl Deref for PerThreadStream {
    type Target = StreamRef;

    fn deref(&self) -> &StreamRef {
        &self.0
    }
}

/// # Safety
///
/// `raw` is a stream, and its context outlives everything that is made from the result.
unsafe fn of_foreign(raw: CUstream) -> Result<StreamRef> {
    let mut context = ptr::null_mut();
    // SAFETY: the handle lives; the pointer is valid for a write.
    unsafe { call!(cuStreamGetCtx(raw, &raw mut context)) }?;
    // SAFETY: the stream's context, kept alive by the caller's promise.
    let context = unsafe { Context::from_raw(context) }?;
    Ok(StreamRef::new(raw, context))
}
