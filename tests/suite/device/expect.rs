//! What trials expect of results.

use std::fmt;
use std::ptr;

use cuda_hostfn::sys::{self, CUcontext, CUresult};
use cuda_hostfn::{Error, Result};
use libtest_mimic::Failed;
use tests::{check, equal};

pub fn succeeded(code: CUresult) -> Result<(), Failed> {
    check(code == CUresult::CUDA_SUCCESS, || format!("{code:?}"))
}

/// The thread's current context, as the driver has it.
pub fn current_context() -> CUcontext {
    let mut context = ptr::null_mut();
    // SAFETY: the pointer is valid for a write.
    let code = unsafe { sys::cuCtxGetCurrent(&raw mut context) };
    assert_eq!(code, CUresult::CUDA_SUCCESS);
    context
}

/// The driver refused with this code.
pub fn refused<T: fmt::Debug>(what: &str, result: Result<T>, code: CUresult) -> Result<(), Failed> {
    match result {
        Err(error) if error.code() == Some(code) => Ok(()),
        other => Err(format!("{what}: {other:?}, expected {code:?}").into()),
    }
}

/// A local rule refused, before the driver was called.
pub fn invalid<T: fmt::Debug>(field: &str, result: Result<T>) -> Result<(), Failed> {
    match result {
        Err(Error::Invalid(error)) if error.field() == field => Ok(()),
        other => Err(format!("{other:?}, expected a rule about {field}").into()),
    }
}

/// On a thread that has never called CUDA.
pub fn elsewhere<T: Send>(run: impl FnOnce() -> Result<T, Failed> + Send) -> Result<T, Failed> {
    std::thread::scope(|scope| scope.spawn(run).join().map_err(|_| Failed::from("the other thread panicked"))?)
}

/// The trials of a kind have covered exactly the rows of the table that offer it.
pub fn all_covered(covered: &[u32], offered: impl Fn(&cuda_hostfn::attribute::Entry) -> bool) -> Result<(), Failed> {
    let mut covered = covered.to_vec();
    covered.sort_unstable();
    covered.dedup();
    let rows = cuda_hostfn::attribute::CATALOGUE.iter().filter(|row| offered(row));
    equal("the rows covered", &covered, &rows.map(|row| row.id).collect())
}
