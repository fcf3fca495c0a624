//! What every exported function does before its own work: it is counted, may be made to fail, and is refused where the
//! driver refuses it.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use cuda_sys::CUresult;
use simulated_driver_client::When;

use crate::abi::Result;
use crate::state::lock;

/// When a function may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// After `cuInit`, and not while the driver runs code of the program's.
    Ordinary,
    /// After `cuInit`, also in a host function: what needs no current context, it seems. Recorded on a real driver.
    Query,
    /// At any time.
    Free,
}

thread_local! {
    /// This thread runs code of the program's on the driver's behalf.
    static OUTSIDE: Cell<bool> = const { Cell::new(false) };
    /// The function being called is a `_ptsz` or `_ptds` one: its NULL stream is the per-thread default stream.
    static PER_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Calls an exported function's body.
pub(crate) fn enter(name: &'static str, class: Class, per_thread: bool, body: impl FnOnce() -> Result) -> CUresult {
    let failure = {
        let mut state = lock();
        *state.calls.entry(name).or_default() += 1;
        if OUTSIDE.get() && !matches!(class, Class::Query | Class::Free) {
            return CUresult::CUDA_ERROR_NOT_PERMITTED;
        }
        if !state.initialised && !matches!(class, Class::Free) {
            return CUresult::CUDA_ERROR_NOT_INITIALIZED;
        }
        state.faults.on_call(name)
    };
    match failure {
        Some((code, When::Before)) => code,
        Some((code, When::After)) => {
            let _ = call(per_thread, body);
            code
        }
        None => call(per_thread, body),
    }
}

fn call(per_thread: bool, body: impl FnOnce() -> Result) -> CUresult {
    let before = PER_THREAD.replace(per_thread);
    let result = body();
    PER_THREAD.set(before);
    result.err().unwrap_or(CUresult::CUDA_SUCCESS)
}

/// Whether NULL means the per-thread default stream in this call.
pub(crate) fn null_is_per_thread() -> bool {
    PER_THREAD.get()
}

/// Whether this thread runs code of the program's on the driver's behalf.
pub(crate) fn is_outside() -> bool {
    OUTSIDE.get()
}

/// A number for this thread, which no other thread ever has.
pub(crate) fn thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    thread_local!(static THREAD: u64 = NEXT.fetch_add(1, Ordering::Relaxed));
    THREAD.with(|thread| *thread)
}

/// Runs code of the program's, which may not call CUDA. The state must not be locked.
pub(crate) fn outside(run: impl FnOnce()) {
    let before = OUTSIDE.replace(true);
    run();
    OUTSIDE.set(before);
}
