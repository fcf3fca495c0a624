//! What the driver calls. Nothing unwinds out of here: every closure and destructor below is run contained.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::captured::Replayed;
use super::panics::contained;
use super::record::{Caller, Header};
use super::stack::Node;
use super::thread;

/// The function of a call that was enqueued.
pub(super) unsafe extern "C" fn call(record: *mut c_void) {
    let Some(record) = NonNull::new(record.cast::<Header>()) else { return };
    // SAFETY: the driver passes the address that was enqueued with this function.
    unsafe { Header::call(record, &Driver) };
}

/// Its thread, where CUDA may not be called.
struct Driver;

impl Caller for Driver {
    fn run(&self, run: impl FnOnce()) {
        thread::host_function(run);
    }

    fn over(&self) {}

    fn wake(&self, wake: impl FnOnce()) {
        thread::host_function(|| contained(wake));
    }
}

/// The function of a node that was captured.
pub(super) unsafe extern "C" fn replay(closure: *mut c_void) {
    // SAFETY: the driver passes the address that was captured with this function, and the graph keeps it alive.
    unsafe { Replayed::call(closure.cast()) };
}

/// The destructor of a user object. The driver calls it on any thread, also on that of whoever calls the driver: so it
/// runs none of the user's code.
pub(super) unsafe extern "C" fn destroy(closure: *mut c_void) {
    // SAFETY: the node is the first field of a closure that was captured, and the graphs' reference to it ends here.
    unsafe { super::reclaim::push(closure.cast::<Node>()) };
}
