//! User objects: who holds them, and when and where their destructors run.

use std::ffi::c_void;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use cuda_sys::{CUresult, CUuserObject};

use crate::raw::{Driver, instantiate, launch, made, ok, stream, trials, until};

trials! {
    the_last_reference_destroys,
    a_graph_keeps_what_was_moved_to_it_through_clone_and_execution,
    an_executable_graph_that_is_destroyed_while_it_runs_keeps_them_until_it_has_run,
    an_update_swaps_them,
}

/// What became of an object.
#[derive(Default)]
pub(crate) struct Seen(Mutex<Vec<ThreadId>>);

impl Seen {
    pub(crate) fn calls(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub(crate) fn thread(&self) -> Option<ThreadId> {
        self.0.lock().unwrap().last().copied()
    }
}

unsafe extern "C" fn destroyed(seen: *mut c_void) {
    // SAFETY: made by `counting_object`; destructors run once.
    let seen = unsafe { Arc::from_raw(seen.cast::<Seen>()) };
    seen.0.lock().unwrap().push(std::thread::current().id());
}

/// An object with one reference of the test's.
pub(crate) fn counting_object() -> (CUuserObject, Arc<Seen>) {
    let seen = Arc::<Seen>::default();
    let data = Arc::into_raw(Arc::clone(&seen)).cast_mut().cast();
    (made!(cuUserObjectCreate(data, Some(destroyed), 1, 1)), seen)
}

fn the_last_reference_destroys(driver: &Driver) {
    let (object, seen) = counting_object();
    ok!(cuUserObjectRetain(object, 2));
    ok!(cuUserObjectRelease(object, 2));
    driver.settle();
    assert_eq!(seen.calls(), 0);
    ok!(cuUserObjectRelease(object, 1));
    until("destroyed", || seen.calls() == 1);
}

fn a_graph_keeps_what_was_moved_to_it_through_clone_and_execution(driver: &Driver) {
    let graph = made!(cuGraphCreate(0));
    let (object, seen) = counting_object();
    ok!(cuGraphRetainUserObject(graph, object, 1, 1));
    let clone = made!(cuGraphClone(graph));
    let (first, second) = (instantiate(graph), instantiate(clone));
    ok!(cuGraphDestroy(graph));
    ok!(cuGraphDestroy(clone));
    ok!(cuGraphExecDestroy(first));
    driver.settle();
    assert_eq!(seen.calls(), 0, "the second executable graph has it");
    ok!(cuGraphExecDestroy(second));
    until("destroyed", || seen.calls() == 1);
}

fn an_executable_graph_that_is_destroyed_while_it_runs_keeps_them_until_it_has_run(driver: &Driver) {
    let (stream, spin) = (stream(), driver.kernel(c"spin_microseconds"));
    let mut microseconds = 30_000_u64;
    crate::raw::begin_capture(stream);
    assert_eq!(launch(stream, spin, &mut [(&raw mut microseconds).cast()]), CUresult::CUDA_SUCCESS);
    let graph = crate::raw::end_capture(stream);
    let (object, seen) = counting_object();
    ok!(cuGraphRetainUserObject(graph, object, 1, 1));
    let exec = instantiate(graph);
    ok!(cuGraphDestroy(graph));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuGraphExecDestroy(exec));
    std::thread::sleep(std::time::Duration::from_millis(5));
    assert_eq!(seen.calls(), 0);
    ok!(cuStreamSynchronize(stream));
    until("destroyed", || seen.calls() == 1);
}

fn an_update_swaps_them(driver: &Driver) {
    let [old, new] = [(); 2].map(|()| {
        let graph = made!(cuGraphCreate(0));
        let mut node = std::ptr::null_mut();
        ok!(cuGraphAddEmptyNode(&raw mut node, graph, std::ptr::null(), 0));
        let (object, seen) = counting_object();
        ok!(cuGraphRetainUserObject(graph, object, 1, 1));
        (graph, seen)
    });
    let exec = instantiate(old.0);
    ok!(cuGraphDestroy(old.0));
    update(exec, new.0);
    ok!(cuGraphDestroy(new.0));
    driver.settle();
    assert_eq!((old.1.calls(), new.1.calls()), (1, 0));
    ok!(cuGraphExecDestroy(exec));
    driver.settle();
    assert_eq!((old.1.calls(), new.1.calls()), (1, 1));
}

/// `cuGraphExecUpdate`, whose signature is another one in headers before 12.0.
fn update(exec: cuda_sys::CUgraphExec, graph: cuda_sys::CUgraph) {
    let address = cuda_sys::driver::symbol(c"cuGraphExecUpdate_v2").expect("a name of 12.0");
    let mut result = [0_u64; 3];
    type Update = unsafe extern "C" fn(cuda_sys::CUgraphExec, cuda_sys::CUgraph, *mut [u64; 3]) -> CUresult;
    // SAFETY: the function of that name has this type, but for the name of the struct.
    let update = unsafe { std::mem::transmute::<*mut c_void, Update>(address.as_ptr()) };
    // SAFETY: the handles are alive, and the result has the struct's size and alignment.
    assert_eq!(unsafe { update(exec, graph, &raw mut result) }, CUresult::CUDA_SUCCESS);
    assert_eq!(result[0] & 0xffff_ffff, 0);
}
