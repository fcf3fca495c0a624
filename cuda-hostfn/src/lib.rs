#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

/// The raw driver API that this crate is built on.
pub use cuda_sys as sys;

pub mod attribute;
pub mod capture;
pub mod context;
pub mod device;
mod entry;
mod error;
pub mod event;
pub mod graph;
pub mod host;
pub mod kernel;
pub mod launch;
pub mod module;
pub mod priority;
pub mod stream;
mod version;

pub use capture::{Capture, CaptureMode, CaptureStatus};
pub use context::Context;
pub use device::Device;
pub use error::{DriverError, Error, InvalidArgument, MissingFunction, Result, UnknownValue};
pub use event::{Event, EventOptions};
pub use graph::{Graph, GraphExec, HostNode, InstantiateOptions, KernelNode, Node};
pub use host::{EnqueueError, ExecutorOptions, HostExecutor, HostTask, SyncMode, TaskError, in_host_function};
pub use kernel::Kernel;
pub use launch::{Arguments, Dim3, KernelArgument, LaunchConfig, Launched};
pub use module::Module;
pub use priority::{Priority, PriorityRange};
pub use stream::{BorrowedStream, PerThreadStream, Stream, StreamOptions, StreamRef};
pub use version::{CudaVersion, driver_version};

#[cfg(test)]
mod tests {
    use crate::*;

    #[test]
    fn which_handles_cross_threads() {
        fn send<T: Send>() {}
        fn send_and_sync<T: Send + Sync>() {}
        send_and_sync::<Context>();
        send_and_sync::<Stream>();
        send_and_sync::<BorrowedStream<'_>>();
        send_and_sync::<Event>();
        send_and_sync::<Module>();
        send_and_sync::<Kernel<(u64, *mut f32)>>();
        send_and_sync::<LaunchConfig<((), attribute::ProgrammaticEvent<'_>)>>();
        send_and_sync::<Error>();
        send_and_sync::<HostExecutor>();
        send::<Graph>();
        send::<GraphExec>();
    }
}
