//! Device faults, and what becomes of who waits.

use std::fmt::Debug;
use std::time::Duration;

use cuda_hostfn::sys::CUresult;
use cuda_hostfn::{Kernel, LaunchConfig, Module, Stream, TaskError};
use libtest_mimic::Failed;
use parking_lot::Mutex;
use simulated_driver_client::KERNELS;

use crate::{Machine, equal};

/// How long a waiter waits at most. The driver notices a fault after some 350 ms.
pub const BOUND: Duration = Duration::from_secs(1);

/// Launches a kernel that traps.
///
/// # Errors
///
/// The driver's.
pub fn trap(machine: &Machine, stream: &Stream) -> Result<(), Failed> {
    launch_trap(Module::from_ptx(&machine.context, KERNELS)?.kernel("trap")?, stream)
}

/// The same with the kernel `trap`, which was loaded before.
///
/// # Errors
///
/// The driver's.
pub fn launch_trap(trap: Kernel<()>, stream: &Stream) -> Result<(), Failed> {
    // SAFETY: it touches no memory.
    unsafe { trap.launch(stream, &LaunchConfig::new(1, 1), ()) }?;
    // Unloading it would wait for the fault.
    static KEPT: Mutex<Vec<Kernel<()>>> = Mutex::new(Vec::new());
    KEPT.lock().push(trap);
    Ok(())
}

/// That a task was lost to the trap.
///
/// # Errors
///
/// What became of it else.
pub fn is_lost<T: Debug>(result: Result<T, TaskError>) -> Result<(), Failed> {
    match result {
        Err(TaskError::Lost(error)) => equal("code", &error.code(), &Some(CUresult::CUDA_ERROR_LAUNCH_FAILED)),
        other => Err(format!("{other:?}, expected it to be lost").into()),
    }
}
