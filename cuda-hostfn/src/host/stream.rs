//! The calls that streams have for host functions.

use super::copy::Copy;
use super::{EnqueueError, HostFunctions, HostTask, SyncMode};
use crate::sys::CUhostFn;
use crate::{Error, Result, StreamRef};

/// Host functions: see [`host`](crate::host) for what they may do.
impl StreamRef {
    /// Calls a closure when the stream gets there, after the work that is in it and before what comes later
    /// (`cuLaunchHostFunc`).
    ///
    /// While the stream is capturing, the closure becomes a node of the graph, and belongs to it and to everything that
    /// is made from it (`cuGraphRetainUserObject`): it is called whenever the graph runs, never twice at once, and
    /// dropped when the last of them is gone. That is why it is an `FnMut`.
    ///
    /// It cannot borrow what may be gone by then: `move` values or an `Arc` into it, or use [`scope`](Self::scope), which
    /// waits for closures that borrow.
    ///
    /// **Ownership**: the crate, or the graph, keeps the closure; an ordinary thread drops it, never the driver's.
    ///
    /// ```no_run
    /// # fn f(stream: &cuda_hostfn::Stream) -> cuda_hostfn::Result<()> {
    /// let (send, receive) = std::sync::mpsc::channel();
    /// stream.host_launch(move || send.send("the work before this is over").unwrap())?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// The closure comes back in the error. [`Error::CalledFromHostFunction`]; otherwise what the driver answers, such
    /// as the fault of earlier work.
    pub fn host_launch<F>(&self, f: F) -> Result<(), EnqueueError<F>>
    where
        F: FnMut() + Send + 'static,
    {
        HostFunctions::new(self, SyncMode::Blocking).host_launch(f)
    }

    /// Calls a closure once when the stream gets there, and keeps its result for whoever waits for it.
    ///
    /// **Ownership**: what the closure captures is dropped where it runs, on the driver's thread; that is what calling
    /// an `FnOnce` means. For a value whose destructor may call CUDA there is [`host_task_with`](Self::host_task_with).
    /// The result is the task's; if nobody wants it, an ordinary thread drops it.
    ///
    /// ```no_run
    /// # fn f(stream: &cuda_hostfn::Stream) -> cuda_hostfn::Result<()> {
    /// let task = stream.host_task(|| 6 * 7)?;
    /// assert_eq!(task.join()?, 42);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// The closure comes back in the error. [`Error::Capturing`], which leaves the capture as it is;
    /// [`Error::CalledFromHostFunction`]; otherwise what the driver answers.
    pub fn host_task<F, T>(&self, f: F) -> Result<HostTask<T>, EnqueueError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        HostFunctions::new(self, SyncMode::Blocking).host_task(f)
    }

    /// As [`host_task`](Self::host_task), with a value that the closure may use and does not consume.
    ///
    /// **Ownership**: the value is dropped by an ordinary thread after the closure has run, or when it is lost.
    ///
    /// ```no_run
    /// # fn f(stream: &cuda_hostfn::Stream, event: cuda_hostfn::Event) -> cuda_hostfn::Result<()> {
    /// let buffer = vec![0_u8; 1 << 20];
    /// let sum = stream.host_task_with(buffer, |buffer| buffer.iter().map(|&byte| u64::from(byte)).sum::<u64>())?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// Value and closure come back in the error, for the same reasons.
    pub fn host_task_with<V, F, T>(&self, value: V, f: F) -> Result<HostTask<T>, EnqueueError<(V, F)>>
    where
        V: Send + 'static,
        F: FnOnce(&mut V) -> T + Send + 'static,
        T: Send + 'static,
    {
        HostFunctions::new(self, SyncMode::Blocking).host_task_with(value, f)
    }

    /// Keeps a value until the stream gets there: buffers that work in the stream uses, for instance.
    ///
    /// **Ownership**: the value is dropped by an ordinary thread, never the driver's.
    ///
    /// # Errors
    ///
    /// The value comes back in the error. [`Error::Capturing`], which leaves the capture as it is;
    /// [`Error::CalledFromHostFunction`]; otherwise what the driver answers.
    pub fn retire<V: Send + 'static>(&self, value: V) -> Result<(), EnqueueError<V>> {
        HostFunctions::new(self, SyncMode::Blocking).retire(value)
    }

    /// Copies between buffers of the host when the stream gets there, and gives both back through the task: what a
    /// kernel wrote into pinned memory, say, into ordinary memory, without a closure for it.
    ///
    /// **Ownership**: the buffers are the task's result.
    ///
    /// ```no_run
    /// # fn f(stream: &cuda_hostfn::Stream, pinned: Vec<f32>) -> cuda_hostfn::Result<()> {
    /// let copy = stream.host_copy(vec![0.0; pinned.len()], pinned)?;
    /// let (result, pinned) = copy.join()?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// Both come back in the error. [`Error::Invalid`] if they differ in length; otherwise as
    /// [`host_task`](Self::host_task).
    #[expect(clippy::type_complexity, reason = "two pairs")]
    pub fn host_copy<T, D, S>(&self, mut to: D, from: S) -> Result<HostTask<(D, S)>, EnqueueError<(D, S)>>
    where
        T: std::marker::Copy + 'static,
        D: AsMut<[T]> + Send + 'static,
        S: AsRef<[T]> + Send + 'static,
    {
        let (room, length) = (to.as_mut().len(), from.as_ref().len());
        if room != length {
            let error = Error::invalid("to", format!("has {room} elements, and `from` has {length}"));
            return Err(EnqueueError::new(error, (to, from)));
        }
        let copy = Copy::<T, D, S>::new(to, from);
        HostFunctions::new(self, SyncMode::Blocking).task(copy).map_err(|error| error.map(Copy::into_buffers))
    }

    /// Calls a C function with a pointer when the stream gets there: `cuLaunchHostFunc` as it is, with nothing
    /// allocated, and [`in_host_function`](crate::in_host_function) not knowing of it. While the stream is capturing,
    /// it becomes a node, and nothing is kept for it.
    ///
    /// **Ownership**: the caller's.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_VALUE` without a function; [`Error::CalledFromHostFunction`]; otherwise what the driver
    /// answers.
    ///
    /// # Safety
    ///
    /// `f` may be called with `data` by another thread at any time from now on, whenever and as often as the stream or
    /// a graph captured from it says. It does not unwind and calls no CUDA.
    pub unsafe fn host_launch_raw(&self, f: CUhostFn, data: *mut std::ffi::c_void) -> Result<()> {
        super::drain();
        HostFunctions::new(self, SyncMode::Blocking).enqueue(f, data)
    }

    /// As [`host_launch_raw`](Self::host_launch_raw), with the address of a copy of `data`, aligned to 16 bytes; NULL
    /// if there are no bytes.
    ///
    /// **Ownership**: the crate, or the graph that is being captured, keeps the copy until it has run, as the captures
    /// of a closure in [`host_launch`](Self::host_launch).
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] without a function; otherwise as [`host_launch`](Self::host_launch).
    ///
    /// # Safety
    ///
    /// `f` may be called with such an address by another thread. It does not unwind and calls no CUDA.
    pub unsafe fn host_launch_raw_copy(&self, f: CUhostFn, data: &[u8]) -> Result<()> {
        let f = f.ok_or_else(|| Error::invalid("f", "is NULL"))?;
        let mut data = super::copy::Aligned::new(data);
        // SAFETY: the caller's promise.
        Ok(self.host_launch(move || unsafe { f(data.as_mut_ptr()) })?)
    }

    /// Host functions whose turn the driver waits for in another way (`cuLaunchHostFunc_v2`).
    ///
    /// ```no_run
    /// # fn f(stream: &cuda_hostfn::Stream) -> cuda_hostfn::Result<()> {
    /// use cuda_hostfn::SyncMode;
    ///
    /// stream.in_sync_mode(SyncMode::SpinWait)?.host_launch(|| println!("soon"))?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::MissingFunction`] for [`SyncMode::SpinWait`] if the driver cannot, which those before CUDA 13.2 cannot.
    pub fn in_sync_mode(&self, mode: SyncMode) -> Result<HostFunctions<'_>> {
        HostFunctions::supported(self, mode)
    }
}
