//! Rust closures in stream order: called by the driver when a stream gets to them.
//!
//! ```no_run
//! # fn f(stream: &cuda_hostfn::Stream) -> cuda_hostfn::Result<()> {
//! // Fire and forget; while capturing, a node of the graph.
//! stream.host_launch(|| println!("the work before this is over"))?;
//! // With a result: wait for it, or await it.
//! let task = stream.host_task(|| 6 * 7)?;
//! assert_eq!(task.join()?, 42);
//! // Only to keep something until then.
//! stream.retire(vec![0_u8; 1 << 20])?;
//! // Closures that borrow.
//! let mut sum = 0;
//! stream.scope(|scope| Ok(scope.host_launch(|| sum += 1)?))?;
//! # Ok(()) }
//! ```
//!
//! | call | what it takes | who owns that, and where it is dropped | while capturing |
//! |---|---|---|---|
//! | [`host_launch`](crate::StreamRef::host_launch) | `FnMut()` | the crate; an ordinary thread | a node; the graph owns the closure |
//! | [`Graph::add_host_node`](crate::Graph::add_host_node) | `FnMut()` | the graph; an ordinary thread | |
//! | [`host_task`](crate::StreamRef::host_task) | `FnOnce() -> T` | the closure consumes itself where it runs; `T` is the task's | refused |
//! | [`host_task_with`](crate::StreamRef::host_task_with) | `V`, `FnOnce(&mut V) -> T` | the value: the crate, an ordinary thread | refused |
//! | [`retire`](crate::StreamRef::retire) | `V` | the crate; an ordinary thread | refused |
//! | [`host_copy`](crate::StreamRef::host_copy) | two buffers | the task gives both back | refused |
//! | [`scope`](crate::StreamRef::scope) | `FnMut()` that borrows | the scope; the thread that opened it | refused |
//! | [`host_launch_raw`](crate::StreamRef::host_launch_raw) | a C function, a pointer | the caller | a node that owns nothing |
//! | [`host_launch_raw_copy`](crate::StreamRef::host_launch_raw_copy) | a C function, bytes | the crate, or the graph | a node; the graph owns the copy |
//!
//! A call that is refused gives back what it was given, in [`EnqueueError`].
//!
//! A [`HostExecutor`] calls closures and tasks on threads of its own instead of the driver's: sooner, several at a time, and
//! CUDA is allowed there. What is said below of the driver's thread is not about those; the rest is.
//!
//! # In a host function
//!
//! The driver calls all host functions on a thread of its own, one after another, and CUDA may not be called there. So
//! in a host function ([`in_host_function`]) everything in this crate that would call the driver, or wait for it,
//! answers [`Error::CalledFromHostFunction`](crate::Error::CalledFromHostFunction); handles that are dropped there are
//! destroyed later, elsewhere. Keep host functions short: all streams of the process wait for them.
//!
//! **A panic** ends where it happens, and the stream goes on. [`HostTask::join`] gives the payload; the others are
//! counted, and told to the [handler](set_panic_handler).
//!
//! # Where values die
//!
//! A destructor may want to call CUDA, or take a lock that a thread holds while it waits for CUDA: so what the crate owns
//! is never dropped on the driver's thread. It is queued there, and dropped
//!
//! * in passing by the next call into this crate, on whatever ordinary thread makes it (of calls that enqueue, one in
//!   sixteen looks), by joining the task, or by [`reclaim`];
//! * or, while there is one, by a [`Reclaimer`]'s thread alone.
//!
//! What such a destructor calls disturbs no capture that goes on around it. If it panics, that is counted. A task's result that
//! nobody collects, the closures of graphs that are gone, and the payloads of panics go the same way. At the end of the
//! process, what is queued is leaked: nothing runs on a driver that is being taken down.
//!
//! An `FnOnce` drops what it captures where it runs; that is the language's rule. Give values whose destructors may not
//! run there to [`host_task_with`](crate::StreamRef::host_task_with).
//!
//! # Was it called?
//!
//! After a device fault, the driver accepts host functions for a while, and never calls them. Whoever waits then gets
//! [`TaskError::Lost`] with the fault, some tenths of a second after it; what was captured is released. The same happens
//! to what is pending when a context is destroyed, unless the driver still calls it.
//!
//! That a function *was called* says that the work before it is over, **not that it succeeded**. Ask the stream:
//!
//! ```no_run
//! # fn f(stream: &cuda_hostfn::Stream) -> cuda_hostfn::Result<()> {
//! let task = stream.host_task(|| "called")?;
//! let answer = task.join()?;
//! stream.synchronize()?; // An error here says that `answer` may be about data that never was there.
//! # Ok(()) }
//! ```
//!
//! # Deadlocks
//!
//! **A lock that a host function takes must not be held while waiting for CUDA.** Nor while enqueueing: that can wait for
//! room in the stream, and so for a host function.
//!
//! ```no_run
//! # fn f(stream: &cuda_hostfn::Stream) -> cuda_hostfn::Result<()> {
//! use std::sync::{Arc, Mutex};
//!
//! let results = Arc::new(Mutex::new(Vec::new()));
//! let collected = results.clone();
//! stream.host_launch(move || collected.lock().unwrap().push(1))?;
//!
//! // Wrong: the closure waits for the lock, and this thread, which has it, for the closure.
//! // let guard = results.lock().unwrap();
//! // stream.synchronize()?;
//!
//! stream.synchronize()?;
//! let guard = results.lock().unwrap();
//! # drop(guard);
//! # Ok(()) }
//! ```
//!
//! **A host function must not wait for another one**, nor for anything that comes after another one, on whatever stream:
//! they run one at a time.
//!
//! ```no_run
//! # fn f(first: &cuda_hostfn::Stream, second: &cuda_hostfn::Stream) -> cuda_hostfn::Result<()> {
//! use std::sync::mpsc::channel;
//!
//! let (send, receive) = channel();
//! // Wrong, if the driver gets to the second stream first: that closure would occupy the only thread that could call the
//! // other. Joining a task there is an error, but a channel does not know.
//! // second.host_launch(move || drop(receive.recv()))?;
//! // first.host_launch(move || send.send(1).unwrap())?;
//!
//! // An event makes the second stream wait, and no thread.
//! first.host_launch(move || send.send(1).unwrap())?;
//! let event = cuda_hostfn::Event::new(first.context())?;
//! event.record(first)?;
//! second.wait_event(&event)?;
//! second.host_launch(move || drop(receive.try_recv()))?;
//! # Ok(()) }
//! ```
//!
//! **A host function must not wait for a thread that makes a call which waits for the device.** Freeing memory, loading and
//! unloading modules, and resetting the context wait for everything that is pending, this host function included.
//!
//! ```no_run
//! # fn f(stream: &cuda_hostfn::Stream, module: cuda_hostfn::Module) -> cuda_hostfn::Result<()> {
//! use std::sync::mpsc::channel;
//!
//! let (go, wait) = channel::<()>();
//! stream.host_launch(move || drop(wait.recv()))?;
//!
//! // Wrong: unloading the module waits for the closure, which waits for `go`.
//! // drop(module);
//! // drop(go);
//!
//! drop(go);
//! drop(module);
//! # Ok(()) }
//! ```
//!
//! **A destructor must not want what its dropper holds**: in passing, values are dropped on a thread that happens to call
//! the crate. Where that thread may hold a lock that the destructor takes, start a [`Reclaimer`].
//!
//! ```no_run
//! # struct InUse(std::sync::Arc<std::sync::Mutex<u32>>);
//! # fn f(stream: &cuda_hostfn::Stream, users: std::sync::Arc<std::sync::Mutex<u32>>) -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//!
//! let reclaimer = cuda_hostfn::host::Reclaimer::spawn(Duration::from_millis(10))?;
//! // The destructor of `InUse` takes the lock; this thread may hold it while it calls the crate.
//! stream.retire(InUse(users.clone()))?;
//! let guard = users.lock().unwrap();
//! stream.is_complete()?;
//! # drop((guard, reclaimer));
//! # Ok(()) }
//! ```
//!
//! This crate holds no lock of its own during a call into the driver, and none while a closure runs, but for one: a
//! closure in a [graph](crate::graph) has a lock of its own, which is held while it runs, since the driver may replay it for
//! several launches. It can block another replay of the same closure, and nothing else.

mod block;
mod captured;
mod copy;
mod counters;
mod enqueue;
mod error;
mod executor;
mod handle;
mod hook;
mod job;
mod keeper;
mod lane;
mod lost;
mod marks;
mod panics;
mod reclaim;
mod record;
mod scope;
mod stack;
mod state;
mod stream;
mod task;
mod thread;
mod trampoline;
mod user_object;
mod watch;

pub(crate) use captured::{give_to_graph, take_from_graph};
pub use counters::{Counters, counters, outstanding};
pub use enqueue::{HostFunctions, SyncMode};
pub use error::{EnqueueError, TaskError};
pub use executor::{ExecutorOptions, HostExecutor, Method, Waiting};
pub(crate) use executor::{check_no_deadlock, check_no_deadlock_in};
pub use hook::{Call, Hook, Moment, set_hook};
pub(crate) use keeper::{Kept, with_keeper};
pub(crate) use lane::Lane;
pub use panics::{Panic, PanicHandler, set_panic_handler};
pub use reclaim::{Reclaimer, reclaim};
pub(crate) use reclaim::{defer, drain, suspect};
pub use scope::Scope;
pub use task::HostTask;
pub use thread::in_host_function;
