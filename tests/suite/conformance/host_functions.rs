//! Host functions and stream callbacks.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use cuda_sys::{CU_STREAM_PER_THREAD, CUresult, CUstream};

use crate::common::{call, driver, ok, stream};

/// Counts its calls.
pub(crate) unsafe extern "C" fn count(counter: *mut c_void) {
    // SAFETY: the test passes a counter that outlives the call.
    unsafe { AtomicU32::from_ptr(counter.cast()) }.fetch_add(1, Ordering::SeqCst);
}

pub(crate) fn pointer(counter: &AtomicU32) -> *mut c_void {
    counter.as_ptr().cast()
}

#[test]
fn every_kind_of_stream_takes_them() {
    let _driver = driver();
    let counter = AtomicU32::new(0);
    for stream in [stream(), ptr::null_mut(), cuda_sys::CU_STREAM_LEGACY, CU_STREAM_PER_THREAD] {
        ok!(cuLaunchHostFunc(stream, Some(count), pointer(&counter)));
        ok!(cuStreamSynchronize(stream));
    }
    assert_eq!(counter.load(Ordering::SeqCst), 4);
    assert_eq!(call!(cuLaunchHostFunc(stream(), None, ptr::null_mut())), CUresult::CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn one_thread_calls_them_all() {
    static THREADS: Mutex<Vec<ThreadId>> = Mutex::new(Vec::new());
    unsafe extern "C" fn sleep(_: *mut c_void) {
        THREADS.lock().unwrap().push(std::thread::current().id());
        std::thread::sleep(Duration::from_millis(30));
    }
    let _driver = driver();
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

#[test]
fn cuda_is_closed_to_them() {
    static ANSWERS: Mutex<Vec<(&str, CUresult)>> = Mutex::new(Vec::new());
    unsafe extern "C" fn ask(stream: *mut c_void) {
        let (mut memory, mut event, mut context) = (0, ptr::null_mut(), ptr::null_mut());
        let (mut version, mut name) = (0, ptr::null());
        *ANSWERS.lock().unwrap() = vec![
            ("cuMemAlloc", call!(cuMemAlloc(&raw mut memory, 1))),
            ("cuEventCreate", call!(cuEventCreate(&raw mut event, 0))),
            ("cuCtxGetCurrent", call!(cuCtxGetCurrent(&raw mut context))),
            ("cuStreamSynchronize", call!(cuStreamSynchronize(stream.cast()))),
            ("cuStreamQuery", call!(cuStreamQuery(stream.cast()))),
            ("cuDriverGetVersion", call!(cuDriverGetVersion(&raw mut version))),
            ("cuGetErrorName", call!(cuGetErrorName(CUresult(0), &raw mut name))),
        ];
    }
    let _driver = driver();
    let stream = stream();
    ok!(cuLaunchHostFunc(stream, Some(ask), stream.cast()));
    ok!(cuStreamSynchronize(stream));
    let answers = ANSWERS.lock().unwrap();
    let refused = CUresult::CUDA_ERROR_NOT_PERMITTED;
    assert!(answers[..4].iter().all(|(_, code)| *code == refused), "{answers:?}");
    assert_eq!(answers[4].1, CUresult::CUDA_ERROR_NOT_READY);
    assert!(answers[5..].iter().all(|(_, code)| *code == CUresult::CUDA_SUCCESS), "{answers:?}");
}

#[test]
fn another_thread_may_enqueue_while_one_runs() {
    static GATE: Mutex<()> = Mutex::new(());
    unsafe extern "C" fn pass(_: *mut c_void) {
        drop(GATE.lock().unwrap());
    }
    let driver = driver();
    let (stream, counter) = (stream(), AtomicU32::new(0));
    let before = driver.client.host_functions_run();
    let closed = GATE.lock().unwrap();
    ok!(cuLaunchHostFunc(stream, Some(pass), ptr::null_mut()));
    while driver.client.host_functions_run() == before {
        std::thread::yield_now();
    }
    ok!(cuLaunchHostFunc(stream, Some(count), pointer(&counter)));
    assert_eq!(call!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_NOT_READY);
    drop(closed);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(counter.load(Ordering::SeqCst), 1);
}

#[test]
fn a_reset_of_the_context_waits_for_them() {
    unsafe extern "C" fn late(counter: *mut c_void) {
        std::thread::sleep(Duration::from_millis(30));
        // SAFETY: the counter that the test passes.
        unsafe { count(counter) };
    }
    let _driver = driver();
    let counter = AtomicU32::new(0);
    let stream = stream();
    ok!(cuLaunchHostFunc(stream, Some(late), pointer(&counter)));
    ok!(cuStreamDestroy(stream));
    assert_eq!(counter.load(Ordering::SeqCst), 0, "destroying the stream does not wait");
    ok!(cuDevicePrimaryCtxReset(0));
    assert_eq!(counter.load(Ordering::SeqCst), 1);
}

#[test]
fn callbacks_get_their_stream_and_status() {
    thread_local!(static MARK: Cell<bool> = const { Cell::new(false) });
    static SEEN: Mutex<Option<(usize, CUresult, bool)>> = Mutex::new(None);
    unsafe extern "C" fn callback(stream: CUstream, status: CUresult, _: *mut c_void) {
        *SEEN.lock().unwrap() = Some((stream.addr(), status, MARK.get()));
    }
    let _driver = driver();
    MARK.set(true);
    let stream = stream();
    ok!(cuStreamAddCallback(stream, Some(callback), ptr::null_mut(), 0));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(*SEEN.lock().unwrap(), Some((stream.addr(), CUresult::CUDA_SUCCESS, false)));
}

#[test]
fn many_can_be_launched() {
    let driver = driver();
    let (stream, counter) = (stream(), AtomicU32::new(0));
    let launches = if cfg!(debug_assertions) { 50_000 } else { 1_000_000 };
    for _ in 0..launches {
        ok!(cuLaunchHostFunc(stream, Some(count), pointer(&counter)));
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(counter.load(Ordering::SeqCst), launches);
    assert_eq!(driver.client.pending(), 0);
}
