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
use std::sync::Arc;
use std::thread::JoinHandle;

use self::operations::Width;
pub use self::options::{ExecutorOptions, Method, Waiting};
pub(super) use self::shared::{Lease, Shared};
use self::worker::Current;
use super::enqueue::Way;
use super::{EnqueueError, HostFunctions, HostTask, in_host_function};
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
    /// With [default options](ExecutorOptions::new).
    ///
    /// # Errors
    ///
    /// As [`ExecutorOptions::create`].
    pub fn new(context: &Context) -> Result<Self> {
        ExecutorOptions::new().create(context)
    }

    /// With default options; where driver or device cannot, the driver calls the closures.
    ///
    /// # Errors
    ///
    /// As [`ExecutorOptions::create_or_driver`].
    pub fn new_or_driver(context: &Context) -> Result<Self> {
        ExecutorOptions::new().create_or_driver(context)
    }

    fn start(context: &Context, workers: usize, waiting: Waiting) -> Result<Self> {
        let shared = Arc::new(Shared::new(context, Width::of(context)?, waiting)?);
        let mut staff = Staff { shared, workers: Vec::with_capacity(workers) };
        for rank in 0..workers {
            staff.workers.push(staff.hire(rank)?);
        }
        let threads = staff.workers.iter().map(|worker| worker.thread().clone()).collect();
        staff.shared.crew.set_threads(threads);
        Ok(Self { context: context.clone(), staff: Some(staff) })
    }

    fn without_workers(context: &Context) -> Self {
        Self { context: context.clone(), staff: None }
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
}

impl Drop for Staff {
    fn drop(&mut self) {
        self.shared.crew.dismiss();
        self.workers.iter().for_each(|worker| worker.thread().unpark());
        if in_host_function() || worker::current() != Current::Nothing {
            return;
        }
        for (rank, worker) in self.workers.drain(..).enumerate() {
            // That one may have to stay.
            if rank > 0 || !self.shared.strands.has_retired() {
                let _ = worker.join();
            }
        }
    }
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
