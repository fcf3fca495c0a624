//! Faults of the device. Each leaves its process without one, so each has a process of its own.

use std::ffi::c_void;
use std::process::Command;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::common::{self, call, instantiate, launch, load, made, ok, stream};
use cuda_sys::{CUresult, CUstream};
use simulated_driver_client::{Client, KERNELS, Kind, Version};

/// Set in the process that runs a test's body.
const CHILD: &str = "SIMULATED_DRIVER_TEST_CHILD";

/// Runs the body in a process of its own, which has to end by itself and well.
fn in_child(test: &str, body: impl FnOnce(Client)) {
    if std::env::var_os(CHILD).is_some() {
        let client = load(Version::default());
        ok!(cuInit(0));
        let context = made!(cuDevicePrimaryCtxRetain(0));
        ok!(cuCtxSetCurrent(context));
        return body(client);
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    let start = Instant::now();
    let status = child.args(["--exact", &format!("faults::{test}"), "--nocapture"]).env(CHILD, "1").status().unwrap();
    assert!(status.success(), "{status}");
    assert!(start.elapsed() < Duration::from_secs(60), "it does not hang at its end");
}

unsafe extern "C" fn count(counter: *mut c_void) {
    // SAFETY: the test passes a counter that lives as long as the process.
    unsafe { AtomicU32::from_ptr(counter.cast()) }.fetch_add(1, Ordering::SeqCst);
}

fn kernel(name: &std::ffi::CStr) -> cuda_sys::CUfunction {
    let image = std::ffi::CString::new(KERNELS).unwrap();
    let module = made!(cuModuleLoadData(image.as_ptr().cast()));
    made!(cuModuleGetFunction(module, name.as_ptr()))
}

const LOST: CUresult = CUresult::CUDA_ERROR_LAUNCH_FAILED;

#[test]
fn after_a_trap_nothing_is_called_and_enqueueing_does_not_notice() {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    in_child("after_a_trap_nothing_is_called_and_enqueueing_does_not_notice", |client| {
        let (stream, other, counter) = (stream(), stream(), COUNTER.as_ptr().cast());
        assert_eq!(launch(stream, kernel(c"trap"), &mut []), CUresult::CUDA_SUCCESS);
        ok!(cuLaunchHostFunc(stream, Some(count), counter));
        while client.pending() > 0 {
            std::thread::yield_now();
        }
        for _ in 0..100 {
            ok!(cuLaunchHostFunc(stream, Some(count), counter));
        }
        assert_eq!(call!(cuStreamSynchronize(stream)), LOST);
        assert_eq!(call!(cuLaunchHostFunc(other, Some(count), counter)), LOST);
        assert_eq!(call!(cuStreamQuery(other)), LOST);
        assert_eq!(call!(cuCtxSynchronize()), LOST);
        let mut memory = 0;
        assert_eq!(call!(cuMemAlloc(&raw mut memory, 1)), LOST);
        assert_eq!(call!(cuStreamDestroy(stream)), LOST);
        assert_eq!(call!(cuDevicePrimaryCtxReset(0)), LOST);
        assert_eq!(client.alive(Kind::Streams), 0);
        let context = made!(cuDevicePrimaryCtxRetain(0));
        ok!(cuCtxSetCurrent(context));
        assert_eq!(call!(cuCtxSynchronize()), LOST, "the process cannot use it again");
        assert!(client.settle(common::LONG));
        assert_eq!(COUNTER.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn a_callback_is_told_of_the_fault() {
    static SEEN: Mutex<Vec<CUresult>> = Mutex::new(Vec::new());
    unsafe extern "C" fn callback(_: CUstream, status: CUresult, _: *mut c_void) {
        SEEN.lock().unwrap().push(status);
    }
    in_child("a_callback_is_told_of_the_fault", |client| {
        let stream = stream();
        assert_eq!(launch(stream, kernel(c"trap"), &mut []), CUresult::CUDA_SUCCESS);
        ok!(cuStreamAddCallback(stream, Some(callback), ptr::null_mut(), 0));
        assert!(client.settle(common::LONG));
        assert_eq!(*SEEN.lock().unwrap(), [LOST]);
    });
}

#[test]
fn a_fault_can_be_had_without_a_kernel_and_be_noticed_by_enqueueing() {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    in_child("a_fault_can_be_had_without_a_kernel_and_be_noticed_by_enqueueing", |client| {
        let (stream, counter) = (stream(), COUNTER.as_ptr().cast());
        client.notice_fault_after(3);
        client.fault(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        let codes: Vec<_> = (0..5).map(|_| call!(cuLaunchHostFunc(stream, Some(count), counter))).collect();
        let (ok, lost) = (CUresult::CUDA_SUCCESS, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        assert_eq!(codes, [ok, ok, ok, lost, lost]);
    });
}

#[test]
fn a_fault_looks_like_work_for_a_while_if_it_is_told_to() {
    in_child("a_fault_looks_like_work_for_a_while_if_it_is_told_to", |client| {
        let (stream, event) = (stream(), made!(cuEventCreate(2)));
        client.delay_notice_of_fault(Duration::from_millis(60));
        let start = Instant::now();
        client.fault(LOST);
        ok!(cuLaunchHostFunc(stream, Some(count), ptr::null_mut()));
        ok!(cuEventQuery(event));
        assert_eq!(call!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_NOT_READY);
        assert_eq!(call!(cuStreamSynchronize(stream)), LOST);
        assert!(start.elapsed() >= Duration::from_millis(60));
        assert_eq!(call!(cuEventQuery(event)), LOST);
    });
}

#[test]
fn a_bad_pointer_is_a_fault() {
    in_child("a_bad_pointer_is_a_fault", |_| {
        let stream = stream();
        let (mut address, mut value) = (0x1000_u64, 1_u32);
        let mut parameters = [(&raw mut address).cast(), (&raw mut value).cast()];
        assert_eq!(launch(stream, kernel(c"store_u32"), &mut parameters), CUresult::CUDA_SUCCESS);
        assert_eq!(call!(cuStreamSynchronize(stream)), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    });
}

#[test]
fn a_process_can_end_with_work_pending() {
    unsafe extern "C" fn sleep(_: *mut c_void) {
        std::thread::sleep(Duration::from_secs(600));
    }
    in_child("a_process_can_end_with_work_pending", |client| {
        let (first, second) = (stream(), stream());
        let mut microseconds = 600_000_000_u64;
        let mut parameters = [(&raw mut microseconds).cast()];
        assert_eq!(launch(first, kernel(c"spin_microseconds"), &mut parameters), CUresult::CUDA_SUCCESS);
        ok!(cuLaunchHostFunc(second, Some(sleep), ptr::null_mut()));
        while client.host_functions_run() == 0 {
            std::thread::yield_now();
        }
    });
}

#[test]
fn user_objects_are_destroyed_after_a_fault() {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    in_child("user_objects_are_destroyed_after_a_fault", |client| {
        let (stream, trap) = (stream(), kernel(c"trap"));
        common::begin_capture(stream);
        assert_eq!(launch(stream, trap, &mut []), CUresult::CUDA_SUCCESS);
        ok!(cuLaunchHostFunc(stream, Some(count), ptr::null_mut()));
        let graph = common::end_capture(stream);
        let object = made!(cuUserObjectCreate(COUNTER.as_ptr().cast(), Some(count), 1, 1));
        ok!(cuGraphRetainUserObject(graph, object, 1, 1));
        let exec = instantiate(graph);
        ok!(cuGraphDestroy(graph));
        ok!(cuGraphLaunch(exec, stream));
        assert_eq!(call!(cuStreamSynchronize(stream)), LOST);
        assert_eq!(COUNTER.load(Ordering::SeqCst), 0);
        call!(cuGraphExecDestroy(exec));
        assert!(client.settle(common::LONG));
        assert_eq!((COUNTER.load(Ordering::SeqCst), client.alive(Kind::UserObjects)), (1, 0));
    });
}
