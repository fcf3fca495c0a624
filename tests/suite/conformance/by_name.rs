//! Functions that only some headers declare, found by their exported names.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_sys::{CUgraph, CUgraphNode, CUresult, CUstream};

use crate::raw::{Driver, call, count, instantiate, made, nodes, ok, pointer, stream, trials};

trials! {
    nodes_can_be_added_by_the_function_for_all_kinds,
    null_is_the_threads_own_stream_for_the_per_thread_names,
}

/// The address of a function.
fn symbol(name: &CStr) -> *mut c_void {
    cuda_sys::driver::symbol(name).expect("the version has it").as_ptr()
}

/// `CUgraphNodeParams` of a host node.
#[repr(C)]
struct HostNode {
    kind: u32,
    reserved: [i32; 3],
    function: unsafe extern "C" fn(*mut c_void),
    user_data: *mut c_void,
    rest: [u64; 28],
}

fn nodes_can_be_added_by_the_function_for_all_kinds(_: &Driver) {
    type AddNode = unsafe extern "C" fn(
        *mut CUgraphNode,
        CUgraph,
        *const CUgraphNode,
        *const [u8; 8],
        usize,
        *mut HostNode,
    ) -> CUresult;
    let (stream, counter) = (stream(), AtomicU32::new(0));
    let graph = made!(cuGraphCreate(0));
    let mut host = HostNode { kind: 3, reserved: [0; 3], function: count, user_data: pointer(&counter), rest: [0; 28] };
    // SAFETY: the function of that name has this type, but for the names of the structs.
    let add = unsafe { std::mem::transmute::<*mut c_void, AddNode>(symbol(c"cuGraphAddNode_v2")) };
    let mut node = ptr::null_mut();
    // SAFETY: the graph is alive, there are no dependencies, and the parameters are whole.
    let code = unsafe { add(&raw mut node, graph, ptr::null(), ptr::null(), 0, &raw mut host) };
    assert_eq!((code, nodes(graph)), (CUresult::CUDA_SUCCESS, vec![node]));
    let exec = instantiate(graph);
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(counter.load(Ordering::SeqCst), 1);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
}

fn null_is_the_threads_own_stream_for_the_per_thread_names(_: &Driver) {
    type Query = unsafe extern "C" fn(CUstream) -> CUresult;
    type LaunchHostFunc = unsafe extern "C" fn(CUstream, cuda_sys::CUhostFn, *mut c_void) -> CUresult;
    unsafe extern "C" fn sleep(_: *mut c_void) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // SAFETY: the functions of these names have these types.
    let query = unsafe { std::mem::transmute::<*mut c_void, Query>(symbol(c"cuStreamQuery_ptsz")) };
    // SAFETY: as above.
    let launch = unsafe { std::mem::transmute::<*mut c_void, LaunchHostFunc>(symbol(c"cuLaunchHostFunc_ptsz")) };
    // SAFETY: the function needs nothing.
    assert_eq!(unsafe { launch(ptr::null_mut(), Some(sleep), ptr::null_mut()) }, CUresult::CUDA_SUCCESS);
    // SAFETY: NULL is a stream.
    assert_eq!(unsafe { query(ptr::null_mut()) }, CUresult::CUDA_ERROR_NOT_READY);
    let here = cuda_sys::CU_STREAM_PER_THREAD.addr();
    let elsewhere = std::thread::spawn(move || {
        let mut context = ptr::null_mut();
        ok!(cuDevicePrimaryCtxRetain(&raw mut context, 0));
        ok!(cuCtxSetCurrent(context));
        let code = call!(cuStreamQuery(ptr::without_provenance_mut(here)));
        ok!(cuDevicePrimaryCtxRelease(0));
        code
    });
    assert_eq!(elsewhere.join().unwrap(), CUresult::CUDA_SUCCESS, "another thread has another one");
    ok!(cuStreamSynchronize(cuda_sys::CU_STREAM_PER_THREAD));
}
