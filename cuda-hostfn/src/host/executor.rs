//! Closures in stream order, called by threads of this crate instead of the driver's.
//!
//! | file | its job |
//! |---|---|
//! | `strand` | the protocol between a stream and the workers |
//! | `strands`, `chunk` | which stream has which strand; their memory |
//! | `operations` | what goes to the driver |
//! | `crew`, `worker` | who of the workers is awake; what a worker does |
//! | `shared` | how a call gets into a stream |

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

/// Calls closures in stream order on threads of its own, through stream memory operations (`cuStreamBatchMemOp`): the
/// stream writes into memory of the host that it has got there, a worker sees it, runs the closure and answers, and the
/// stream goes on.
///
/// ```no_run
/// use cuda_hostfn::{Context, Device, ExecutorOptions, HostExecutor, Stream};
///
/// let context = Context::primary(Device::get(0)?)?;
/// let executor = HostExecutor::new(&context, ExecutorOptions::new().workers(4))?;
/// let (first, second) = (Stream::new(&context)?, Stream::new(&context)?);
/// executor.host_launch(&first, || println!("the work before this is over"))?;
/// // Streams do not wait for each other, and CUDA may be called.
/// let inside = context.clone();
/// let task = executor.host_task(&second, move || Stream::new(&inside).and_then(|stream| stream.priority()))?;
/// println!("{:?}", task.join()??);
/// # Ok::<(), cuda_hostfn::Error>(())
/// ```
///
/// Beside the driver's [host functions](crate::host), which [`StreamRef::host_launch`] enqueues:
///
/// * A kernel and a closure in turn take less than a third of the driver's time for a kernel and a host function, which is
///   some 20 µs on an H200.
/// * The driver calls all host functions of a process on one thread; an executor has as many as it is told.
/// * CUDA may be called: [`in_host_function`] is false there, and nothing of this crate is refused but what would never
///   end. The executor's context is current.
/// * Workers that wait for a closure's turn cost processor time: [`Waiting`] says how much. When nothing is in flight, they
///   sleep.
/// * Captures cannot have the closures; they come back with [`Error::Capturing`].
///
/// What is enqueued, how it is waited for, where values die, what becomes of panics, and what is lost after a device
/// fault, is as there; [`counters`](crate::host::counters()), [`outstanding`](crate::host::outstanding()), hooks and handlers know of
/// both. Closures of both may be in one stream.
///
/// **Dropping** an executor waits until nothing of it is in flight, or the context is lost, and then for the device, as freeing
/// memory does (`cuMemHostUnregister`). In a closure of an executor, and in a host function, it does not wait: a thread does.
/// At the end of the process nothing waits.
///
/// `Send` and `Sync`: threads share one, also for the same stream.
///
/// # What would never end
///
/// While a closure runs, **its stream waits**, and with it the device is never at rest. Waiting for that in the closure is
/// [`Error::WouldDeadlock`] where this crate can tell: [`StreamRef::synchronize`] and [`StreamRef::scope`] of the own
/// stream, [`Context::synchronize`], and [`HostTask::join`] and [`wait_timeout`](HostTask::wait_timeout) of a task that
/// comes later in the own stream.
///
/// ```no_run
/// # fn f(executor: &cuda_hostfn::HostExecutor, stream: std::sync::Arc<cuda_hostfn::Stream>) -> cuda_hostfn::Result<()> {
/// let own = stream.clone();
/// let task = executor.host_task(&stream, move || own.synchronize())?;
/// assert!(matches!(task.join()?, Err(cuda_hostfn::Error::WouldDeadlock)));
/// # Ok(()) }
/// ```
///
/// It cannot tell for
///
/// * what waits for the device: freeing memory (`cuMemFree`, `cuMemFreeHost`, `cuMemHostUnregister`), loading a module and
///   dropping the last handle to one. Hand such values out of the closure, or give them to
///   [`host_task_with`](Self::host_task_with), which drops them elsewhere;
/// * an event, a `Future` or a channel that is reached only behind the closure, in its own stream or in one that waits for it. The
///   legacy default stream and the streams in step with it wait for each other;
/// * another stream's closure, when every worker runs a closure that waits: have more workers than that.
///
/// ```no_run
/// # fn f(executor: &cuda_hostfn::HostExecutor, stream: &cuda_hostfn::Stream, module: cuda_hostfn::Module) -> cuda_hostfn::Result<()> {
/// // Wrong: unloading the module waits for the device, and that for this closure.
/// // executor.host_task(stream, move || drop(module))?;
///
/// // The value is dropped after the closure, when the stream has gone on.
/// drop(executor.host_task_with(stream, module, |_module| ())?);
/// # Ok(()) }
/// ```
///
/// # How many streams
///
/// A device takes up work from as many streams at once as it has connections: `CUDA_DEVICE_MAX_CONNECTIONS`, 8 unless the
/// variable says otherwise (up to 32) when the process first uses CUDA. A stream that waits for a closure occupies its connection. Other
/// streams that the driver has put on the same one, also those that never use an executor, stand still meanwhile. So no more closures run
/// at a time than there are connections, whatever the number of workers; and a closure must not wait for a closure, or
/// a kernel, of a stream that may share its connection: with up to as many streams as connections, made one after
/// another, none did.
///
/// Of an executor's streams, the first 128 keep the memory that they are given. Those after that hand it on when
/// they have nothing in flight, which costs each of their closures half a microsecond more. More of it is made when it is
/// needed, and goes when the executor is dropped.
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
    let is_own = |turn: Turn| stream.id().is_ok_and(|id| id == turn.id);
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
