//! Graphs that are built by hand.

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_sys::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUfunction, CUgraph, CUgraphNode, CUresult, CUstreamCaptureMode,
};

use crate::raw::{
    Driver, begin_capture, call, count, end_capture, instantiate, launch, made, nodes, ok, pointer, read, stream,
    trials, word,
};

trials! {
    nodes_run_after_what_they_depend_on,
    a_node_of_another_graph_is_no_dependency,
    the_host_function_of_a_node_can_be_replaced_here_and_in_an_executable_graph,
    a_clone_and_a_child_are_copies,
    launched_into_a_capturing_stream_it_is_refused,
    an_empty_graph_runs,
    it_can_be_printed,
    what_the_host_takes_part_in_is_not_launched_by_a_device,
}

fn host_node(graph: CUgraph, after: &[CUgraphNode], counter: &AtomicU32) -> CUgraphNode {
    let parameters = CUDA_HOST_NODE_PARAMS { fn_: Some(count), userData: pointer(counter) };
    made!(cuGraphAddHostNode(graph, after.as_ptr(), after.len(), &raw const parameters))
}

/// Stores a value; the parameters are copied when the node is made.
fn store_node(graph: CUgraph, after: &[CUgraphNode], store_u32: CUfunction, word: *mut u32, value: u32) -> CUgraphNode {
    let (mut address, mut value) = (word.expose_provenance() as u64, value);
    let mut arguments = [(&raw mut address).cast(), (&raw mut value).cast()];
    let parameters = CUDA_KERNEL_NODE_PARAMS {
        func: store_u32,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        kernelParams: arguments.as_mut_ptr(),
        ..Default::default()
    };
    made!(cuGraphAddKernelNode(graph, after.as_ptr(), after.len(), &raw const parameters))
}

fn nodes_run_after_what_they_depend_on(driver: &Driver) {
    let (stream, store_u32, word) = (stream(), driver.kernel(c"store_u32"), word());
    let counter = AtomicU32::new(0);
    let graph = made!(cuGraphCreate(0));
    let first = store_node(graph, &[], store_u32, word, 1);
    let host = host_node(graph, &[first], &counter);
    let last = store_node(graph, &[host], store_u32, word, 2);
    let exec = instantiate(graph);
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!((read(word), counter.load(Ordering::SeqCst)), (2, 1));
    ok!(cuGraphDestroyNode(last));
    assert_eq!(nodes(graph).len(), 2);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
}

fn a_node_of_another_graph_is_no_dependency(_: &Driver) {
    let counter = AtomicU32::new(0);
    let (graph, other) = (made!(cuGraphCreate(0)), made!(cuGraphCreate(0)));
    let foreign = host_node(other, &[], &counter);
    let mut node = ptr::null_mut();
    assert_eq!(
        call!(cuGraphAddEmptyNode(&raw mut node, graph, &raw const foreign, 1)),
        CUresult::CUDA_ERROR_INVALID_VALUE
    );
    ok!(cuGraphDestroy(graph));
    ok!(cuGraphDestroy(other));
}

fn the_host_function_of_a_node_can_be_replaced_here_and_in_an_executable_graph(_: &Driver) {
    let stream = stream();
    let counters = [(); 3].map(|()| AtomicU32::new(0));
    let graph = made!(cuGraphCreate(0));
    let node = host_node(graph, &[], &counters[0]);
    let replaced = |counter| CUDA_HOST_NODE_PARAMS { fn_: Some(count), userData: pointer(counter) };
    let second = replaced(&counters[1]);
    ok!(cuGraphHostNodeSetParams(node, &raw const second));
    let mut parameters = replaced(&counters[0]);
    ok!(cuGraphHostNodeGetParams(node, &raw mut parameters));
    assert_eq!(parameters.userData, pointer(&counters[1]));
    let exec = instantiate(graph);
    ok!(cuGraphLaunch(exec, stream));
    let third = replaced(&counters[2]);
    ok!(cuGraphExecHostNodeSetParams(exec, node, &raw const third));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(counters.each_ref().map(|counter| counter.load(Ordering::SeqCst)), [0, 1, 1]);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
}

fn a_clone_and_a_child_are_copies(_: &Driver) {
    let stream = stream();
    let counter = AtomicU32::new(0);
    let inner = made!(cuGraphCreate(0));
    let node = host_node(inner, &[], &counter);
    let _second = host_node(inner, &[node], &counter);
    let outer = made!(cuGraphCreate(0));
    let child = made!(cuGraphAddChildGraphNode(outer, ptr::null(), 0, inner));
    let _after = host_node(outer, &[child], &counter);
    let clone = made!(cuGraphClone(outer));
    let found = made!(cuGraphNodeFindInClone(child, clone));
    assert_ne!(found, child);
    let mut embedded = ptr::null_mut();
    ok!(cuGraphChildGraphNodeGetGraph(child, &raw mut embedded));
    assert_eq!(nodes(embedded).len(), 2);
    assert_eq!(call!(cuGraphDestroy(embedded)), CUresult::CUDA_ERROR_INVALID_VALUE, "it belongs to its node");
    ok!(cuGraphDestroy(inner));
    ok!(cuGraphDestroy(outer));
    let exec = instantiate(clone);
    ok!(cuGraphDestroy(clone));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(counter.load(Ordering::SeqCst), 3);
    ok!(cuGraphExecDestroy(exec));
}

fn launched_into_a_capturing_stream_it_is_refused(_: &Driver) {
    let (stream, counter) = (stream(), AtomicU32::new(0));
    let graph = made!(cuGraphCreate(0));
    host_node(graph, &[], &counter);
    let exec = instantiate(graph);
    ok!(cuStreamBeginCapture(stream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    assert_eq!(call!(cuGraphLaunch(exec, stream)), CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    let mut outer = ptr::null_mut();
    let code = call!(cuStreamEndCapture(stream, &raw mut outer));
    assert_eq!(code, CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(counter.load(Ordering::SeqCst), 1);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
}

fn an_empty_graph_runs(_: &Driver) {
    let stream = stream();
    let graph = made!(cuGraphCreate(0));
    let exec = instantiate(graph);
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
}

fn it_can_be_printed(_: &Driver) {
    let counter = AtomicU32::new(0);
    let graph = made!(cuGraphCreate(0));
    let first = host_node(graph, &[], &counter);
    host_node(graph, &[first], &counter);
    let file = std::env::temp_dir().join(format!("conformance-{}.dot", std::process::id()));
    let path = std::ffi::CString::new(file.to_str().unwrap()).unwrap();
    ok!(cuGraphDebugDotPrint(graph, path.as_ptr(), 0));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(text.starts_with("digraph dot {") && text.matches("HOST").count() == 2 && text.contains("->"), "{text}");
    ok!(cuGraphDestroy(graph));
}

fn what_the_host_takes_part_in_is_not_launched_by_a_device(driver: &Driver) {
    const DEVICE_LAUNCH: u64 = 4;
    let (stream, nothing, mut exec) = (stream(), driver.kernel(c"nothing"), ptr::null_mut());
    begin_capture(stream);
    ok!(cuLaunchHostFunc(stream, Some(count), ptr::null_mut()));
    let graph = end_capture(stream);
    let code = call!(cuGraphInstantiateWithFlags(&raw mut exec, graph, DEVICE_LAUNCH));
    assert_eq!(code, CUresult::CUDA_ERROR_INVALID_VALUE);
    ok!(cuGraphDestroy(graph));
    begin_capture(stream);
    assert_eq!(launch(stream, nothing, &mut []), CUresult::CUDA_SUCCESS);
    let graph = end_capture(stream);
    ok!(cuGraphInstantiateWithFlags(&raw mut exec, graph, DEVICE_LAUNCH));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
}
