//! CUDA user objects: what a graph owns, together with everything that is made from it.

use std::ffi::c_uint;
use std::ptr;
use std::sync::Arc;

use super::trampoline;
use crate::Result;
use crate::error::call;
use crate::sys::{
    CUgraph, CUuserObject, CUuserObject_flags, CUuserObjectRetain_flags, cuGraphReleaseUserObject, cuUserObjectRelease,
};

/// What graphs can own.
///
/// # Safety
///
/// The type is `repr(C)` and begins with a [`Node`](super::stack::Node) whose function takes over a strong reference of
/// an [`Arc`] of it.
pub(super) unsafe trait Owned: Send + Sync + 'static {}

/// The graph takes a reference. Executable graphs and clones of it will have references of their own; when the last is
/// gone, the driver's is given up through the reclaim queue.
///
/// # Safety
///
/// The graph lives, and its context is current.
pub(super) unsafe fn give<T: Owned>(graph: CUgraph, value: &Arc<T>) -> Result<CUuserObject> {
    let data = Arc::into_raw(value.clone()).cast_mut();
    let (mut object, flags): (CUuserObject, _) =
        (ptr::null_mut(), CUuserObject_flags::CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    let destroy = Some(trampoline::destroy as unsafe extern "C" fn(_));
    // SAFETY: the pointer is valid for a write; `data` is what `destroy` takes, one reference.
    unsafe { call!(cuUserObjectCreate(&raw mut object, data.cast(), destroy, 1, flags.0 as c_uint)) }.inspect_err(
        |_| {
            // SAFETY: the reference from above, which nobody took.
            drop(unsafe { Arc::from_raw(data) });
        },
    )?;
    let flags = CUuserObjectRetain_flags::CU_GRAPH_USER_OBJECT_MOVE;
    // SAFETY: the graph lives; the reference is this function's.
    unsafe { call!(cuGraphRetainUserObject(graph, object, 1, flags.0 as c_uint)) }.inspect_err(|_| {
        // SAFETY: the object's one reference, which the graph did not take; its destructor gives `data` up.
        let _ = unsafe { cuUserObjectRelease(object, 1) };
    })?;
    Ok(object)
}

/// The graph gives a reference up. If it does not, the value lives until the graph is gone.
///
/// # Safety
///
/// The graph lives, and no node of it needs the value any more.
pub(super) unsafe fn take_back(graph: CUgraph, object: CUuserObject) {
    // SAFETY: the graph lives; the driver checks that it has the reference.
    let _ = unsafe { cuGraphReleaseUserObject(graph, object, 1) };
}
