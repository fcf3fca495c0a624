//! Rust closures in stream order.

mod captured;
mod copy;
mod counters;
mod enqueue;
mod error;
mod job;
mod lane;
mod lost;
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
mod watch;

pub use counters::{Counters, counters, outstanding};
pub use enqueue::{HostFunctions, SyncMode};
pub use error::{EnqueueError, TaskError};
pub(crate) use lane::Lane;
pub use panics::{Panic, PanicHandler, set_panic_handler};
pub use reclaim::{Reclaimer, reclaim};
pub(crate) use reclaim::{defer, drain, suspect};
pub use scope::Scope;
pub use task::HostTask;
pub use thread::in_host_function;
