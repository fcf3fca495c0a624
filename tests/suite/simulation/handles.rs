//! Mistakes that the simulated driver tells, and that a real one may crash on.

use std::ptr;

use cuda_sys::{CUlaunchAttributeID, CUlaunchAttributeValue, CUresult, CUstream};

use crate::raw::{Driver, call, launch, made, ok, stream, trials};

trials! {
    what_is_destroyed_or_foreign_is_an_invalid_handle,
    what_belongs_to_a_context_goes_with_it,
    graphs_and_nodes_are_destroyed_once,
    a_reference_that_is_not_held_cannot_be_given_back,
    parameters_are_asked_for,
    a_kernel_node_needs_a_context,
    a_thread_without_a_context_sets_no_attribute,
}

const VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

fn what_is_destroyed_or_foreign_is_an_invalid_handle(driver: &Driver) {
    let stream = stream();
    ok!(cuStreamDestroy(stream));
    for handle in [stream, ptr::without_provenance_mut(0x5550_0000), driver.context.cast()] {
        assert_eq!(call!(cuStreamSynchronize(handle)), CUresult::CUDA_ERROR_INVALID_HANDLE);
        assert_eq!(call!(cuStreamDestroy(handle)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    let event = made!(cuEventCreate(0));
    ok!(cuEventDestroy(event));
    assert_eq!(call!(cuEventQuery(event)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    assert_eq!(call!(cuCtxSetCurrent(stream.cast())), CUresult::CUDA_ERROR_INVALID_CONTEXT);
}

fn what_belongs_to_a_context_goes_with_it(_: &Driver) {
    let stream: CUstream = stream();
    ok!(cuDevicePrimaryCtxReset(0));
    assert_eq!(call!(cuStreamSynchronize(stream)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    // As the trial found it.
    let _ = made!(cuDevicePrimaryCtxRetain(0));
    ok!(cuDevicePrimaryCtxRelease(0));
}

fn graphs_and_nodes_are_destroyed_once(_: &Driver) {
    let graph = made!(cuGraphCreate(0));
    let node = made!(cuGraphAddEmptyNode(graph, ptr::null(), 0));
    ok!(cuGraphDestroyNode(node));
    assert_eq!(call!(cuGraphDestroyNode(node)), VALUE);
    ok!(cuGraphDestroy(graph));
    assert_eq!(call!(cuGraphDestroy(graph)), VALUE);
}

fn a_reference_that_is_not_held_cannot_be_given_back(driver: &Driver) {
    unsafe extern "C" fn nothing(_: *mut std::ffi::c_void) {}
    let object = || made!(cuUserObjectCreate(ptr::null_mut(), Some(nothing), 1, 1));
    let (released, moved, graph) = (object(), object(), made!(cuGraphCreate(0)));
    ok!(cuUserObjectRelease(released, 1));
    driver.settle();
    assert_eq!(call!(cuUserObjectRelease(released, 1)), VALUE);
    ok!(cuGraphRetainUserObject(graph, moved, 1, 1));
    assert_eq!(call!(cuUserObjectRelease(moved, 1)), VALUE);
    ok!(cuGraphDestroy(graph));
}

fn parameters_are_asked_for(driver: &Driver) {
    assert_eq!(launch(ptr::null_mut(), driver.kernel(c"store_u32"), &mut [ptr::null_mut(); 2]), VALUE);
}

fn a_kernel_node_needs_a_context(driver: &Driver) {
    let graph = made!(cuGraphCreate(0));
    let parameters = cuda_sys::CUDA_KERNEL_NODE_PARAMS {
        func: driver.kernel(c"nothing"),
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        ..Default::default()
    };
    let mut node = ptr::null_mut();
    ok!(cuCtxSetCurrent(ptr::null_mut()));
    let code = call!(cuGraphAddKernelNode(&raw mut node, graph, ptr::null(), 0, &raw const parameters));
    ok!(cuCtxSetCurrent(driver.context));
    assert_eq!(code, CUresult::CUDA_ERROR_INVALID_CONTEXT);
    ok!(cuGraphDestroy(graph));
}

fn a_thread_without_a_context_sets_no_attribute(driver: &Driver) {
    let stream = stream();
    let value = CUlaunchAttributeValue { pad: [0; 64] };
    let set = || call!(cuStreamSetAttribute(stream, CUlaunchAttributeID(8), &raw const value));
    ok!(cuCtxSetCurrent(ptr::null_mut()));
    let code = set();
    ok!(cuCtxSetCurrent(driver.context));
    assert_eq!((code, set()), (VALUE, CUresult::CUDA_SUCCESS));
}
