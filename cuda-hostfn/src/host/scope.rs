//! Closures that borrow.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::job::Job;
use super::panics::contained;
use super::{EnqueueError, HostFunctions, HostTask, SyncMode, TaskError, check_no_deadlock, in_host_function};
use crate::{Error, Result, StreamRef};

/// Where closures that borrow are enqueued: [`StreamRef::scope`].
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    stream: &'scope StreamRef,
    calls: RefCell<Vec<Call>>,
    /// Invariant in both, like [`std::thread::Scope`].
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
}

/// What was enqueued, and its closure.
#[derive(Debug)]
struct Call {
    task: HostTask<()>,
    closure: Closure,
}

/// A closure on the heap that the driver's thread calls through a pointer, and of which it is forgotten what it borrows.
#[derive(Clone, Copy, Debug)]
struct Closure(*mut (dyn FnMut() + Send + 'static));

// SAFETY: the closure is `Send`, and one thread at a time uses it: the scope waits before it drops it.
unsafe impl Send for Closure {}

impl Job for Closure {
    type Output = ();
    const IS_TASK: bool = true;

    fn run(&mut self) {
        // SAFETY: the scope keeps the closure until this call is over.
        unsafe { (*self.0)() };
    }
}

impl<'scope> Scope<'scope, '_> {
    /// As [`StreamRef::host_launch`], with a closure that may borrow what outlives the scope.
    ///
    /// **Ownership**: the scope keeps the closure and drops it at its end, on the thread that opened it.
    ///
    /// # Errors
    ///
    /// The closure comes back in the error. [`Error::Capturing`]; otherwise what the driver answers.
    pub fn host_launch<F>(&'scope self, f: F) -> Result<(), EnqueueError<F>>
    where
        F: FnMut() + Send + 'scope,
    {
        let typed = Box::into_raw(Box::new(f));
        let closure: *mut (dyn FnMut() + Send + 'scope) = typed;
        // SAFETY: only the lifetime changes. `calls` keeps the closure until it can no longer be called, and then drops it.
        let closure = Closure(unsafe {
            std::mem::transmute::<*mut (dyn FnMut() + Send + 'scope), *mut (dyn FnMut() + Send + 'static)>(closure)
        });
        // Nothing may fail once the call is enqueued.
        self.calls.borrow_mut().reserve(1);
        match HostFunctions::new(self.stream, SyncMode::Blocking).task(closure) {
            Ok(task) => {
                self.calls.borrow_mut().push(Call { task, closure });
                Ok(())
            }
            // SAFETY: the closure from above, which nobody calls.
            Err(error) => Err(error.map(|_| *unsafe { Box::from_raw(typed) })),
        }
    }

    /// The stream.
    pub fn stream(&self) -> &'scope StreamRef {
        self.stream
    }

    /// Waits for every call, drops its closure, and says what went wrong first.
    fn finish(&self) -> Result<(), TaskError> {
        let mut first = Ok(());
        for Call { task, closure } in self.calls.take() {
            let result = task.join_anyway();
            // SAFETY: boxed by `host_launch`; the call is over, or will never be.
            contained(|| drop(unsafe { Box::from_raw(closure.0) }));
            first = first.and(result);
        }
        first
    }
}

impl StreamRef {
    /// Runs `body`, which may enqueue closures that borrow, in the manner of [`std::thread::scope`]: before this returns,
    /// each of them has run, or is known never to run, also if `body` panics or the device has a fault.
    ///
    /// ```no_run
    /// # fn f(stream: &cuda_hostfn::Stream) -> cuda_hostfn::Result<()> {
    /// let mut words = vec![0_u32; 1024];
    /// stream.scope(|scope| {
    ///     let words = &mut words;
    ///     scope.host_launch(move || words.fill(7))?;
    ///     Ok(())
    /// })?;
    /// assert_eq!(words[0], 7);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// What `body` answers; [`Error::Lost`] if closures were never called, after a device fault.
    /// [`Error::Capturing`], [`Error::CalledFromHostFunction`] and [`Error::WouldDeadlock`], without running `body`.
    ///
    /// # Panics
    ///
    /// With the payload of `body`, or else of the first closure that panicked, after all have run.
    pub fn scope<'env, R>(&self, body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<R>) -> Result<R> {
        if in_host_function() {
            return Err(Error::CalledFromHostFunction);
        }
        check_no_deadlock(self)?;
        if self.capture_status()? != crate::CaptureStatus::None {
            return Err(Error::Capturing);
        }
        let scope = Scope { stream: self, calls: RefCell::new(Vec::new()), _scope: PhantomData, _env: PhantomData };
        let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
        let finished = scope.finish();
        match (result, finished) {
            (Err(payload), _) => resume_unwind(payload),
            (Ok(_), Err(TaskError::Panicked(panic))) => resume_unwind(panic.into_payload()),
            (Ok(result), Ok(())) => result,
            (Ok(result), Err(lost)) => result.and(Err(lost.into())),
        }
    }
}
