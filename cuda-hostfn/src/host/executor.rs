//! Closures in stream order, called by threads of this crate instead of the driver's.

mod chunk;
mod crew;
mod operations;
mod options;
mod shared;
mod strand;
mod strands;
mod worker;

use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::thread::JoinHandle;

use self::operations::Width;
pub use self::options::{ExecutorOptions, Method, Waiting};
pub(super) use self::shared::{Lease, Shared};
use self::worker::Turn;
use super::enqueue::Way;
use super::task::Origin;
use super::{EnqueueError, HostFunctions, HostTask, in_host_function};
use crate::sys::{CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
use crate::{Context, Error, Result, StreamRef};

/// Calls closures in stream order on threads of its own.
pub struct HostExecutor {
    context: Context,
    /// None: the driver's thread calls.
    staff: Option<Staff>,
}

struct Staff {
    shared: Arc<Shared>,
    /// By rank.
    workers: Vec<JoinHandle<()>>,
}

impl HostExecutor {
    /// An executor for the streams of a context.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] without workers, or if the operating system gives no threads for them; [`Error::MissingFunction`]
    /// if the driver has no `cuStreamBatchMemOp_v2` or no `cuStreamGetId`, which came with CUDA 11.7 and 12.0;
    /// `CUDA_ERROR_NOT_SUPPORTED` if the device has no stream memory operations; otherwise what the driver answers.
    pub fn new(context: &Context, options: ExecutorOptions) -> Result<Self> {
        options.start(context)
    }

    /// As [`new`](Self::new); where driver or device cannot, an executor whose closures the driver calls, one after
    /// another ([`Method::HostFunctions`]). [`method`](Self::method) says which it is.
    ///
    /// # Errors
    ///
    /// As there, but for what the driver or the device cannot.
    pub fn new_or_driver(context: &Context, options: ExecutorOptions) -> Result<Self> {
        match options.start(context) {
            Err(error) if operations::are_missing(&error) => Ok(Self { context: context.clone(), staff: None }),
            result => result,
        }
    }

    fn start(context: &Context, workers: usize, waiting: Waiting) -> Result<Self> {
        let shared = Arc::new(Shared::new(context, Width::of(context)?, waiting)?);
        let mut staff = Staff { shared, workers: Vec::with_capacity(workers) };
        for rank in 0..workers {
            match staff.hire(rank) {
                Ok(worker) => staff.workers.push(worker),
                Err(error) => {
                    staff.end();
                    return Err(error);
                }
            }
        }
        let threads = staff.workers.iter().map(|worker| worker.thread().clone()).collect();
        staff.shared.crew.set_threads(threads);
        Ok(Self { context: context.clone(), staff: Some(staff) })
    }

    /// The context whose streams it is for.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// How it calls closures.
    pub fn method(&self) -> Method {
        self.staff.as_ref().map_or(Method::HostFunctions, |staff| staff.shared.method())
    }

    /// As [`StreamRef::host_launch`], called by a worker.
    ///
    /// # Errors
    ///
    /// The closure comes back in the error.
    pub fn host_launch<F>(&self, stream: &StreamRef, f: F) -> Result<(), EnqueueError<F>>
    where
        F: FnMut() + Send + 'static,
    {
        match self.on(stream) {
            Ok(functions) => functions.host_launch(f),
            Err(error) => Err(EnqueueError::new(error, f)),
        }
    }

    /// As [`StreamRef::host_task`], called by a worker.
    ///
    /// # Errors
    ///
    /// The closure comes back in the error.
    pub fn host_task<F, T>(&self, stream: &StreamRef, f: F) -> Result<HostTask<T>, EnqueueError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        match self.on(stream) {
            Ok(functions) => functions.host_task(f),
            Err(error) => Err(EnqueueError::new(error, f)),
        }
    }

    /// As [`StreamRef::host_task_with`], called by a worker.
    ///
    /// # Errors
    ///
    /// Value and closure come back in the error.
    pub fn host_task_with<V, F, T>(
        &self,
        stream: &StreamRef,
        value: V,
        f: F,
    ) -> Result<HostTask<T>, EnqueueError<(V, F)>>
    where
        V: Send + 'static,
        F: FnOnce(&mut V) -> T + Send + 'static,
        T: Send + 'static,
    {
        match self.on(stream) {
            Ok(functions) => functions.host_task_with(value, f),
            Err(error) => Err(EnqueueError::new(error, (value, f))),
        }
    }

    fn on<'e>(&'e self, stream: &'e StreamRef) -> Result<HostFunctions<'e>> {
        if *stream.context() != self.context {
            return Err(Error::invalid("stream", "is not of the executor's context"));
        }
        let way = self.staff.as_ref().map_or(Way::InsteadOfExecutor, |staff| Way::Executor(&staff.shared));
        Ok(HostFunctions::by(stream, way))
    }
}

impl Staff {
    fn hire(&self, rank: usize) -> Result<JoinHandle<()>> {
        let shared = self.shared.clone();
        let thread = std::thread::Builder::new().name(format!("cuda-hostfn-executor-{rank}"));
        let worker = thread.spawn(move || worker::work(&shared, rank));
        worker.map_err(|error| {
            Error::invalid("ExecutorOptions.workers", format!("the operating system gives no thread: {error}"))
        })
    }

    /// Waits until nothing is in flight. The last owner of what is shared frees the memory, which waits for the device.
    fn end(mut self) {
        self.shared.crew.dismiss();
        for (rank, worker) in self.workers.drain(..).enumerate() {
            // It may not be among those whom the crew knows.
            worker.thread().unpark();
            // The first one may have to stay.
            if rank > 0 || !self.shared.strands.has_retired() {
                let _ = worker.join();
            }
        }
    }
}

impl Drop for HostExecutor {
    fn drop(&mut self) {
        let Some(staff) = self.staff.take() else { return };
        if !in_host_function() && !worker::is_worker() {
            return staff.end();
        }
        // Here that could be waiting for itself. Without a thread that waits, everything stays as it is.
        let staff = ManuallyDrop::new(staff);
        let thread = std::thread::Builder::new().name("cuda-hostfn-executor-end".to_owned());
        let _ = thread.spawn(move || ManuallyDrop::into_inner(staff).end());
    }
}

/// Refuses a wait for a stream in one of its own closures.
#[inline]
pub(crate) fn check_no_deadlock(stream: &StreamRef) -> Result<()> {
    let is_own = |turn: Turn| shared::id(stream).is_ok_and(|id| id == turn.id);
    if worker::turn_in(stream.context()).is_some_and(is_own) { Err(Error::WouldDeadlock) } else { Ok(()) }
}

/// Refuses a wait for everything in a context in a closure of one of its streams.
#[inline]
pub(crate) fn check_no_deadlock_in(context: &Context) -> Result<()> {
    if worker::turn_in(context).is_some() { Err(Error::WouldDeadlock) } else { Ok(()) }
}

/// Whether this is a closure in the stream where a task is.
#[inline]
pub(super) fn is_in_own_stream(context: &Context, origin: Origin) -> bool {
    let default_streams = [std::ptr::null_mut(), CU_STREAM_LEGACY, CU_STREAM_PER_THREAD].map(<*mut _>::addr);
    worker::turn_in(context).is_some_and(|turn| match origin {
        Origin::Executor(id) => id == turn.id,
        // The handle of a default stream says too little.
        Origin::Driver(raw) => raw == turn.raw && !default_streams.contains(&raw),
    })
}

impl fmt::Debug for HostExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let workers = self.staff.as_ref().map_or(0, |staff| staff.workers.len());
        f.debug_struct("HostExecutor")
            .field("method", &self.method())
            .field("workers", &workers)
            .finish_non_exhaustive()
    }
}
