//! Capturing.

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_sys::{
    CUgraphNodeType, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue, CUlaunchConfig, CUresult,
    CUstream, CUstreamCaptureMode, CUstreamCaptureStatus,
};

use crate::raw::{
    Driver, begin_capture, call, capture_info, count, end_capture, instantiate, launch, made, nodes, ok, pointer, read,
    store, stream, trials, word,
};

trials! {
    work_is_captured_and_replayed_in_order,
    a_second_stream_joins_by_an_event_and_has_to_come_back,
    info_gives_the_graph_and_what_comes_next,
    what_cannot_be_captured_invalidates,
    an_invalid_capture_takes_no_more_and_frees_its_user_object_on_the_ending_thread,
    the_legacy_stream_is_no_place_for_it,
    only_a_relaxed_capture_ends_on_another_thread,
    a_destroyed_stream_ends_its_capture,
}
use crate::user_objects::counting_object;

fn status(stream: CUstream) -> CUstreamCaptureStatus {
    let mut status = CUstreamCaptureStatus(99);
    ok!(cuStreamIsCapturing(stream, &raw mut status));
    status
}

/// Launches with a cluster that does not divide the grid, which costs a capture.
fn launch_badly(driver: &Driver, stream: CUstream) -> CUresult {
    let mut pad = [0; 64];
    [pad[0], pad[4], pad[8]] = [3, 1, 1];
    let value = CUlaunchAttributeValue { pad };
    let mut attribute = CUlaunchAttribute { id: CUlaunchAttributeID(4), pad: [0; 4], value };
    let config = CUlaunchConfig {
        gridDimX: 16,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        hStream: stream,
        attrs: &raw mut attribute,
        numAttrs: 1,
        ..Default::default()
    };
    call!(cuLaunchKernelEx(&raw const config, driver.kernel(c"nothing"), ptr::null_mut(), ptr::null_mut()))
}

fn work_is_captured_and_replayed_in_order(driver: &Driver) {
    let (stream, store_u32, word) = (stream(), driver.kernel(c"store_u32"), word());
    let counter = AtomicU32::new(0);
    begin_capture(stream);
    assert_eq!(status(stream), CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE);
    store(stream, store_u32, word, 1);
    ok!(cuLaunchHostFunc(stream, Some(count), pointer(&counter)));
    store(stream, store_u32, word, 2);
    let graph = end_capture(stream);
    assert_eq!((read(word), counter.load(Ordering::SeqCst)), (0, 0), "nothing ran");
    assert_eq!(nodes(graph).len(), 3);
    let exec = instantiate(graph);
    ok!(cuGraphDestroy(graph));
    for _ in 0..5 {
        ok!(cuGraphLaunch(exec, stream));
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!((read(word), counter.load(Ordering::SeqCst)), (2, 5));
    ok!(cuGraphExecDestroy(exec));
}

fn a_second_stream_joins_by_an_event_and_has_to_come_back(driver: &Driver) {
    let (first, second, nothing) = (stream(), stream(), driver.kernel(c"nothing"));
    let (fork, join) = (made!(cuEventCreate(2)), made!(cuEventCreate(2)));
    let branch = || {
        begin_capture(first);
        assert_eq!(launch(first, nothing, &mut []), CUresult::CUDA_SUCCESS);
        ok!(cuEventRecord(fork, first));
        ok!(cuStreamWaitEvent(second, fork, 0));
        assert_eq!(status(second), CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE);
        assert_eq!(launch(second, nothing, &mut []), CUresult::CUDA_SUCCESS);
    };
    branch();
    ok!(cuEventRecord(join, second));
    ok!(cuStreamWaitEvent(first, join, 0));
    let graph = end_capture(first);
    assert_eq!(nodes(graph).len(), 2);
    ok!(cuGraphDestroy(graph));

    branch();
    let mut graph = ptr::dangling_mut();
    assert_eq!(call!(cuStreamEndCapture(first, &raw mut graph)), CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    assert!(graph.is_null());
    assert_eq!(status(second), CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE);

    branch();
    assert_eq!(call!(cuStreamEndCapture(second, &raw mut graph)), CUresult::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    assert_eq!(call!(cuStreamEndCapture(first, &raw mut graph)), CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

fn info_gives_the_graph_and_what_comes_next(_: &Driver) {
    let stream = stream();
    let counter = AtomicU32::new(0);
    begin_capture(stream);
    ok!(cuLaunchHostFunc(stream, Some(count), pointer(&counter)));
    let info = capture_info(stream);
    assert_eq!((info.status, info.after.len()), (CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE, 1));
    let mut kind = CUgraphNodeType(99);
    ok!(cuGraphNodeGetType(info.after[0], &raw mut kind));
    assert_eq!(kind, CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST);
    let ended = end_capture(stream);
    assert_eq!(ended, info.graph);
    assert_ne!(info.id, 0);
    ok!(cuGraphDestroy(ended));
}

fn what_cannot_be_captured_invalidates(driver: &Driver) {
    let mut graph = ptr::null_mut();
    let mut spoiled = |spoil: &dyn Fn(CUstream) -> CUresult| {
        let stream = stream();
        begin_capture(stream);
        let code = spoil(stream);
        let spoiled = status(stream) == CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED;
        let end = call!(cuStreamEndCapture(stream, &raw mut graph));
        let expected = if spoiled { CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED } else { CUresult::CUDA_SUCCESS };
        assert_eq!(end, expected);
        if !graph.is_null() {
            ok!(cuGraphDestroy(graph));
        }
        (code, spoiled)
    };
    let unsupported = (CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, true);
    assert_eq!(spoiled(&|stream| call!(cuStreamSynchronize(stream))), unsupported);
    assert_eq!(spoiled(&|stream| call!(cuStreamQuery(stream))), unsupported);
    assert_eq!(spoiled(&|_| call!(cuCtxSynchronize())), unsupported);
    assert_eq!(
        spoiled(&|_| {
            let mut memory = 0;
            call!(cuMemAlloc(&raw mut memory, 1))
        }),
        unsupported
    );
    assert_eq!(spoiled(&|stream| launch_badly(driver, stream)), (CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE, true));
    let nothing = driver.kernel(c"nothing");
    let too_big =
        |stream| call!(cuLaunchKernel(nothing, 1, 1, 1, 2000, 1, 1, 0, stream, ptr::null_mut(), ptr::null_mut()));
    assert_eq!(spoiled(&too_big), (CUresult::CUDA_ERROR_INVALID_VALUE, true));
    let no_function = |stream| call!(cuLaunchHostFunc(stream, None, ptr::null_mut()));
    assert_eq!(spoiled(&no_function), (CUresult::CUDA_ERROR_INVALID_VALUE, false));
    let captured = |stream| {
        let event = made!(cuEventCreate(2));
        ok!(cuEventRecord(event, stream));
        call!(cuEventQuery(event))
    };
    assert_eq!(spoiled(&captured), (CUresult::CUDA_ERROR_CAPTURED_EVENT, true));
}

fn an_invalid_capture_takes_no_more_and_frees_its_user_object_on_the_ending_thread(driver: &Driver) {
    let (stream, nothing) = (stream(), driver.kernel(c"nothing"));
    begin_capture(stream);
    let mut graph = capture_info(stream).graph;
    let (object, seen) = counting_object();
    ok!(cuGraphRetainUserObject(graph, object, 1, 1));
    assert_eq!(launch_badly(driver, stream), CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE);
    assert_eq!(launch(stream, nothing, &mut []), CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_eq!(seen.calls(), 0);
    assert_eq!(call!(cuStreamEndCapture(stream, &raw mut graph)), CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert!(graph.is_null());
    assert_eq!((seen.calls(), seen.thread()), (1, Some(std::thread::current().id())));
}

fn the_legacy_stream_is_no_place_for_it(_: &Driver) {
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    let unsupported = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    assert_eq!(call!(cuStreamBeginCapture(ptr::null_mut(), mode)), unsupported);
    let blocking = made!(cuStreamCreate(0));
    ok!(cuStreamBeginCapture(blocking, mode));
    assert_eq!(call!(cuStreamBeginCapture(blocking, mode)), CUresult::CUDA_ERROR_ILLEGAL_STATE);
    let counter = AtomicU32::new(0);
    let implicit = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    assert_eq!(call!(cuLaunchHostFunc(ptr::null_mut(), Some(count), pointer(&counter))), implicit);
    assert_eq!(status(blocking), CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    let mut graph = ptr::null_mut();
    assert_eq!(call!(cuStreamEndCapture(blocking, &raw mut graph)), CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

/// The others are lost by the attempt.
fn only_a_relaxed_capture_ends_on_another_thread(_: &Driver) {
    for (mode, expected) in [
        (CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL, CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD),
        (CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD),
        (CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED, CUresult::CUDA_SUCCESS),
    ] {
        let stream = stream();
        ok!(cuStreamBeginCapture(stream, mode));
        let address = stream.addr();
        let elsewhere = std::thread::spawn(move || {
            let mut graph = ptr::null_mut();
            let code = call!(cuStreamEndCapture(ptr::without_provenance_mut(address), &raw mut graph));
            (code, graph.addr())
        });
        let (code, graph) = elsewhere.join().unwrap();
        assert_eq!(code, expected);
        if code == CUresult::CUDA_SUCCESS {
            ok!(cuGraphDestroy(ptr::without_provenance_mut(graph)));
        }
        let mut graph = ptr::null_mut();
        assert_eq!(call!(cuStreamEndCapture(stream, &raw mut graph)), CUresult::CUDA_ERROR_ILLEGAL_STATE);
    }
}

fn a_destroyed_stream_ends_its_capture(driver: &Driver) {
    let stream = stream();
    begin_capture(stream);
    let graph = capture_info(stream).graph;
    let (object, seen) = counting_object();
    ok!(cuGraphRetainUserObject(graph, object, 1, 1));
    ok!(cuStreamDestroy(stream));
    driver.settle();
    assert_eq!(seen.calls(), 1);
}
