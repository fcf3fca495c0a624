//! Host functions and stream callbacks.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use cuda_sys::{
    CU_STREAM_PER_THREAD, CUcontext, CUevent, CUgraph, CUgraphExec, CUlaunchAttributeID, CUlaunchAttributeValue,
    CUresult, CUstream, CUstreamCaptureStatus,
};

use crate::raw::{Driver, call, count, instantiate, made, ok, pointer, stream, trials, until};

trials! {
    every_kind_of_stream_takes_them,
    one_thread_calls_them_all,
    much_of_cuda_is_closed_to_them,
    some_of_cuda_is_open_to_them,
    default_streams_are_closed_to_them,
    one_may_enqueue_another,
    another_thread_may_enqueue_while_one_runs,
    a_reset_of_the_context_waits_for_them,
    callbacks_get_their_stream_and_status,
    many_can_be_launched,
}

fn every_kind_of_stream_takes_them(_: &Driver) {
    let counter = AtomicU32::new(0);
    for stream in [stream(), ptr::null_mut(), cuda_sys::CU_STREAM_LEGACY, CU_STREAM_PER_THREAD] {
        ok!(cuLaunchHostFunc(stream, Some(count), pointer(&counter)));
        ok!(cuStreamSynchronize(stream));
    }
    assert_eq!(counter.load(Ordering::SeqCst), 4);
    assert_eq!(call!(cuLaunchHostFunc(stream(), None, ptr::null_mut())), CUresult::CUDA_ERROR_INVALID_VALUE);
}

fn one_thread_calls_them_all(_: &Driver) {
    static THREADS: Mutex<Vec<ThreadId>> = Mutex::new(Vec::new());
    unsafe extern "C" fn sleep(_: *mut c_void) {
        THREADS.lock().unwrap().push(std::thread::current().id());
        std::thread::sleep(Duration::from_millis(30));
    }
    let start = Instant::now();
    for stream in [stream(), stream()] {
        ok!(cuLaunchHostFunc(stream, Some(sleep), ptr::null_mut()));
    }
    ok!(cuCtxSynchronize());
    assert!(start.elapsed() >= Duration::from_millis(60), "one after the other");
    let threads = THREADS.lock().unwrap();
    assert_eq!(threads[0], threads[1]);
    assert_ne!(threads[0], std::thread::current().id());
}

/// What a host function asks about.
#[derive(Clone, Copy)]
struct Asked {
    own: CUstream,
    other: CUstream,
    /// To be destroyed.
    third: CUstream,
    event: CUevent,
    graph: CUgraph,
    exec: CUgraphExec,
    context: CUcontext,
}

impl Asked {
    fn new(driver: &Driver) -> Self {
        let graph = made!(cuGraphCreate(0));
        let (exec, event) = (instantiate(graph), made!(cuEventCreate(0)));
        Self { own: stream(), other: stream(), third: stream(), event, graph, exec, context: driver.context }
    }
}

/// What makes something, or needs a current context.
fn much_of_cuda_is_closed_to_them(driver: &Driver) {
    static ANSWERS: Mutex<Vec<(&str, CUresult)>> = Mutex::new(Vec::new());
    unsafe extern "C" fn ask(asked: *mut c_void) {
        // SAFETY: the trial waits for its end.
        let Asked { graph, exec, context, .. } = unsafe { *asked.cast::<Asked>() };
        let (mut memory, mut made, mut current, mut stream) = (0, ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let (mut number, mut graph_made, mut exec_made) = (0, ptr::null_mut(), ptr::null_mut());
        *ANSWERS.lock().unwrap() = vec![
            ("cuDeviceGetCount", call!(cuDeviceGetCount(&raw mut number))),
            ("cuMemAlloc", call!(cuMemAlloc(&raw mut memory, 1))),
            ("cuMemFree", call!(cuMemFree(0))),
            ("cuEventCreate", call!(cuEventCreate(&raw mut made, 0))),
            ("cuCtxGetCurrent", call!(cuCtxGetCurrent(&raw mut current))),
            ("cuCtxSetCurrent", call!(cuCtxSetCurrent(context))),
            ("cuCtxSynchronize", call!(cuCtxSynchronize())),
            ("cuStreamCreate", call!(cuStreamCreate(&raw mut stream, 0))),
            ("cuGraphCreate", call!(cuGraphCreate(&raw mut graph_made, 0))),
            ("cuGraphInstantiate", call!(cuGraphInstantiateWithFlags(&raw mut exec_made, graph, 0))),
            ("cuGraphExecDestroy", call!(cuGraphExecDestroy(exec))),
            ("cuGraphDestroy", call!(cuGraphDestroy(graph))),
        ];
    }
    let asked = Asked::new(driver);
    ok!(cuLaunchHostFunc(asked.own, Some(ask), (&raw const asked).cast_mut().cast()));
    ok!(cuStreamSynchronize(asked.own));
    let answers = ANSWERS.lock().unwrap();
    let open: Vec<_> = answers.iter().filter(|(_, code)| *code != CUresult::CUDA_ERROR_NOT_PERMITTED).collect();
    assert!(open.is_empty(), "{open:?}");
    // All is as it was.
    ok!(cuGraphExecDestroy(asked.exec));
    ok!(cuGraphDestroy(asked.graph));
}

/// What goes by a handle, also if it enqueues; a wait for the own stream would never end.
fn some_of_cuda_is_open_to_them(driver: &Driver) {
    static ANSWERS: Mutex<Vec<(&str, CUresult)>> = Mutex::new(Vec::new());
    unsafe extern "C" fn ask(asked: *mut c_void) {
        // SAFETY: the trial waits for its end.
        let Asked { own, other, third, event, graph, exec, .. } = unsafe { *asked.cast::<Asked>() };
        let (mut version, mut name, mut text) = (0, ptr::null(), ptr::null());
        let (mut capturing, mut node) = (CUstreamCaptureStatus(99), ptr::null_mut());
        let mut value = CUlaunchAttributeValue { pad: [0; 64] };
        *ANSWERS.lock().unwrap() = vec![
            ("cuStreamQuery", call!(cuStreamQuery(own))),
            ("cuInit", call!(cuInit(0))),
            ("cuDriverGetVersion", call!(cuDriverGetVersion(&raw mut version))),
            ("cuGetErrorName", call!(cuGetErrorName(CUresult(0), &raw mut name))),
            ("cuGetErrorString", call!(cuGetErrorString(CUresult(0), &raw mut text))),
            ("cuStreamIsCapturing", call!(cuStreamIsCapturing(own, &raw mut capturing))),
            ("cuStreamGetAttribute", call!(cuStreamGetAttribute(own, CUlaunchAttributeID(3), &raw mut value))),
            ("cuStreamSynchronize", call!(cuStreamSynchronize(other))),
            ("cuEventQuery", call!(cuEventQuery(event))),
            ("cuEventSynchronize", call!(cuEventSynchronize(event))),
            ("cuStreamWaitEvent", call!(cuStreamWaitEvent(other, event, 0))),
            ("cuEventRecord", call!(cuEventRecord(event, other))),
            ("cuEventDestroy", call!(cuEventDestroy(event))),
            ("cuGraphAddEmptyNode", call!(cuGraphAddEmptyNode(&raw mut node, graph, ptr::null(), 0))),
            ("cuGraphLaunch", call!(cuGraphLaunch(exec, other))),
            ("cuStreamDestroy", call!(cuStreamDestroy(third))),
        ];
    }
    let asked = Asked::new(driver);
    ok!(cuLaunchHostFunc(asked.own, Some(ask), (&raw const asked).cast_mut().cast()));
    ok!(cuStreamSynchronize(asked.own));
    ok!(cuStreamSynchronize(asked.other));
    let answers = ANSWERS.lock().unwrap();
    assert_eq!(answers[0].1, CUresult::CUDA_ERROR_NOT_READY, "its own stream");
    assert!(answers[1..].iter().all(|(_, code)| *code == CUresult::CUDA_SUCCESS), "{answers:?}");
    ok!(cuGraphExecDestroy(asked.exec));
    ok!(cuGraphDestroy(asked.graph));
}

/// Those are of the current context, of which there is none.
fn default_streams_are_closed_to_them(driver: &Driver) {
    static ANSWERS: Mutex<Vec<(&str, CUresult)>> = Mutex::new(Vec::new());
    unsafe extern "C" fn ask(asked: *mut c_void) {
        // SAFETY: the trial waits for its end.
        let Asked { event, exec, .. } = unsafe { *asked.cast::<Asked>() };
        let mut capturing = CUstreamCaptureStatus(99);
        let mut answers = ANSWERS.lock().unwrap();
        for stream in [ptr::null_mut(), cuda_sys::CU_STREAM_LEGACY, CU_STREAM_PER_THREAD] {
            answers.extend([
                ("cuStreamQuery", call!(cuStreamQuery(stream))),
                ("cuStreamIsCapturing", call!(cuStreamIsCapturing(stream, &raw mut capturing))),
                ("cuEventRecord", call!(cuEventRecord(event, stream))),
                ("cuStreamWaitEvent", call!(cuStreamWaitEvent(stream, event, 0))),
                ("cuLaunchHostFunc", call!(cuLaunchHostFunc(stream, Some(count), ptr::null_mut()))),
                ("cuGraphLaunch", call!(cuGraphLaunch(exec, stream))),
            ]);
        }
    }
    let asked = Asked::new(driver);
    ok!(cuLaunchHostFunc(asked.own, Some(ask), (&raw const asked).cast_mut().cast()));
    ok!(cuStreamSynchronize(asked.own));
    let answers = ANSWERS.lock().unwrap();
    let open: Vec<_> = answers.iter().filter(|(_, code)| *code != CUresult::CUDA_ERROR_NOT_PERMITTED).collect();
    assert!(answers.len() == 18 && open.is_empty(), "{open:?}");
    ok!(cuGraphExecDestroy(asked.exec));
    ok!(cuGraphDestroy(asked.graph));
}

/// From a host function, another stream is given one.
fn one_may_enqueue_another(_: &Driver) {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn enqueue(other: *mut c_void) {
        ok!(cuLaunchHostFunc(other.cast(), Some(count), pointer(&RUNS)));
    }
    let (own, other) = (stream(), stream());
    ok!(cuLaunchHostFunc(own, Some(enqueue), other.cast()));
    ok!(cuStreamSynchronize(own));
    ok!(cuStreamSynchronize(other));
    assert_eq!(RUNS.load(Ordering::SeqCst), 1);
}

fn another_thread_may_enqueue_while_one_runs(_: &Driver) {
    static GATE: Mutex<()> = Mutex::new(());
    static RUNS: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn pass(_: *mut c_void) {
        RUNS.fetch_add(1, Ordering::SeqCst);
        drop(GATE.lock().unwrap());
    }
    let (stream, counter) = (stream(), AtomicU32::new(0));
    let closed = GATE.lock().unwrap();
    ok!(cuLaunchHostFunc(stream, Some(pass), ptr::null_mut()));
    until("it runs", || RUNS.load(Ordering::SeqCst) > 0);
    ok!(cuLaunchHostFunc(stream, Some(count), pointer(&counter)));
    assert_eq!(call!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_NOT_READY);
    drop(closed);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(counter.load(Ordering::SeqCst), 1);
}

fn a_reset_of_the_context_waits_for_them(_: &Driver) {
    unsafe extern "C" fn late(counter: *mut c_void) {
        std::thread::sleep(Duration::from_millis(30));
        // SAFETY: the counter that the test passes.
        unsafe { count(counter) };
    }
    let counter = AtomicU32::new(0);
    let stream = stream();
    ok!(cuLaunchHostFunc(stream, Some(late), pointer(&counter)));
    ok!(cuStreamDestroy(stream));
    assert_eq!(counter.load(Ordering::SeqCst), 0, "destroying the stream does not wait");
    ok!(cuDevicePrimaryCtxReset(0));
    assert_eq!(counter.load(Ordering::SeqCst), 1);
}

fn callbacks_get_their_stream_and_status(_: &Driver) {
    thread_local!(static MARK: Cell<bool> = const { Cell::new(false) });
    static SEEN: Mutex<Option<(usize, CUresult, bool)>> = Mutex::new(None);
    unsafe extern "C" fn callback(stream: CUstream, status: CUresult, _: *mut c_void) {
        *SEEN.lock().unwrap() = Some((stream.addr(), status, MARK.get()));
    }
    MARK.set(true);
    let stream = stream();
    ok!(cuStreamAddCallback(stream, Some(callback), ptr::null_mut(), 0));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(*SEEN.lock().unwrap(), Some((stream.addr(), CUresult::CUDA_SUCCESS, false)));
}

fn many_can_be_launched(_: &Driver) {
    let (stream, counter) = (stream(), AtomicU32::new(0));
    let launches = if cfg!(debug_assertions) { 50_000 } else { 1_000_000 };
    for _ in 0..launches {
        ok!(cuLaunchHostFunc(stream, Some(count), pointer(&counter)));
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(counter.load(Ordering::SeqCst), launches);
}
