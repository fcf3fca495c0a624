//! Faults of the device. Each leaves its process without one, so each has a process of its own.

use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use cuda_sys::{CUresult, CUstream};

use crate::raw::{
    Driver, begin_capture, call, count, end_capture, instantiate, launch, made, ok, pointer, read, stream, trials,
    until, word, write,
};

trials! {
    after_a_trap_nothing_is_called_and_enqueueing_does_not_notice,
    a_context_that_is_lost_stays_lost,
    a_callback_is_told_of_the_fault,
    a_bad_pointer_is_a_fault,
    user_objects_are_destroyed_after_a_fault,
    a_process_can_end_with_work_pending,
    what_waits_for_an_answer_is_lost_with_the_device,
    a_process_can_end_with_an_answer_pending,
}

const LOST: CUresult = CUresult::CUDA_ERROR_LAUNCH_FAILED;

fn trap(driver: &Driver, stream: CUstream) {
    assert_eq!(launch(stream, driver.kernel(c"trap"), &mut []), CUresult::CUDA_SUCCESS);
}

fn after_a_trap_nothing_is_called_and_enqueueing_does_not_notice(driver: &Driver) {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let (stream, other) = (stream(), stream());
    trap(driver, stream);
    ok!(cuLaunchHostFunc(stream, Some(count), pointer(&COUNTER)));
    thread::sleep(Duration::from_millis(20));
    // Some time later it does; never in between.
    let codes: Vec<_> = (0..100).map(|_| call!(cuLaunchHostFunc(stream, Some(count), pointer(&COUNTER)))).collect();
    assert_eq!(codes[0], CUresult::CUDA_SUCCESS);
    assert!(codes.is_sorted_by_key(|code| *code == LOST), "{codes:?}");
    assert_eq!(call!(cuStreamSynchronize(stream)), LOST);
    assert_eq!(call!(cuLaunchHostFunc(other, Some(count), pointer(&COUNTER))), LOST);
    driver_is_left(driver);
    assert_eq!(COUNTER.load(Ordering::SeqCst), 0);
}

/// Whatever the driver still does, it has done.
fn driver_is_left(driver: &Driver) {
    match driver.client {
        Some(client) => assert!(client.settle(crate::raw::LONG)),
        None => thread::sleep(Duration::from_millis(500)),
    }
}

fn a_context_that_is_lost_stays_lost(driver: &Driver) {
    let (stream, other, event, mut memory) = (stream(), stream(), made!(cuEventCreate(2)), 0);
    ok!(cuMemAlloc(&raw mut memory, 4));
    trap(driver, stream);
    assert_eq!(call!(cuStreamSynchronize(stream)), LOST);
    let (mut more, mut made, mut value, mut context) = (0, ptr::null_mut(), 0_u32, ptr::null_mut());
    let answers = [
        ("cuStreamQuery", call!(cuStreamQuery(other))),
        ("cuCtxSynchronize", call!(cuCtxSynchronize())),
        ("cuMemAlloc", call!(cuMemAlloc(&raw mut more, 1))),
        ("cuStreamCreate", call!(cuStreamCreate(&raw mut made, 1))),
        ("cuEventRecord", call!(cuEventRecord(event, other))),
        ("cuEventQuery", call!(cuEventQuery(event))),
        ("cuMemcpyDtoH", call!(cuMemcpyDtoH((&raw mut value).cast(), memory, 4))),
        ("cuEventDestroy", call!(cuEventDestroy(event))),
        ("cuStreamDestroy", call!(cuStreamDestroy(stream))),
    ];
    assert!(answers.iter().all(|(_, code)| *code == LOST), "{answers:?}");
    ok!(cuDevicePrimaryCtxReset(0));
    assert_eq!(call!(cuDevicePrimaryCtxRetain(&raw mut context, 0)), LOST, "the process cannot use it again");
}

fn a_callback_is_told_of_the_fault(driver: &Driver) {
    static SEEN: Mutex<Vec<CUresult>> = Mutex::new(Vec::new());
    unsafe extern "C" fn callback(_: CUstream, status: CUresult, _: *mut c_void) {
        SEEN.lock().unwrap().push(status);
    }
    let stream = stream();
    trap(driver, stream);
    ok!(cuStreamAddCallback(stream, Some(callback), ptr::null_mut(), 0));
    until("it is told", || !SEEN.lock().unwrap().is_empty());
    assert_eq!(*SEEN.lock().unwrap(), [LOST]);
}

fn a_bad_pointer_is_a_fault(driver: &Driver) {
    let stream = stream();
    let (mut address, mut value) = (0x1000_u64, 1_u32);
    let mut parameters = [(&raw mut address).cast(), (&raw mut value).cast()];
    assert_eq!(launch(stream, driver.kernel(c"store_u32"), &mut parameters), CUresult::CUDA_SUCCESS);
    assert_eq!(call!(cuStreamSynchronize(stream)), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
}

fn user_objects_are_destroyed_after_a_fault(driver: &Driver) {
    static DESTROYED: AtomicU32 = AtomicU32::new(0);
    static CALLED: AtomicU32 = AtomicU32::new(0);
    let stream = stream();
    begin_capture(stream);
    trap(driver, stream);
    ok!(cuLaunchHostFunc(stream, Some(count), pointer(&CALLED)));
    let graph = end_capture(stream);
    let object = made!(cuUserObjectCreate(pointer(&DESTROYED), Some(count), 1, 1));
    ok!(cuGraphRetainUserObject(graph, object, 1, 1));
    let exec = instantiate(graph);
    ok!(cuGraphDestroy(graph));
    ok!(cuGraphLaunch(exec, stream));
    assert_eq!(call!(cuStreamSynchronize(stream)), LOST);
    assert_eq!(DESTROYED.load(Ordering::SeqCst), 0);
    call!(cuGraphExecDestroy(exec));
    until("destroyed", || DESTROYED.load(Ordering::SeqCst) == 1);
    driver_is_left(driver);
    assert_eq!((DESTROYED.load(Ordering::SeqCst), CALLED.load(Ordering::SeqCst)), (1, 0));
}

fn a_process_can_end_with_work_pending(driver: &Driver) {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn sleep(_: *mut c_void) {
        RUNS.store(1, Ordering::SeqCst);
        thread::sleep(Duration::from_secs(600));
    }
    let (first, second) = (stream(), stream());
    let mut microseconds = 600_000_000_u64;
    let mut parameters = [(&raw mut microseconds).cast()];
    assert_eq!(launch(first, driver.kernel(c"spin_microseconds"), &mut parameters), CUresult::CUDA_SUCCESS);
    ok!(cuLaunchHostFunc(second, Some(sleep), ptr::null_mut()));
    until("it runs", || RUNS.load(Ordering::SeqCst) == 1);
}

/// The device's address of a pinned word.
fn address(word: *mut u32) -> u64 {
    let mut address = 0;
    ok!(cuMemHostGetDevicePointer(&raw mut address, word.cast(), 0));
    address
}

fn what_waits_for_an_answer_is_lost_with_the_device(driver: &Driver) {
    const EQ: u32 = 1;
    let (trapped, waiting, other, event) = (stream(), stream(), stream(), made!(cuEventCreate(2)));
    let (bell, answer, behind) = (word(), word(), word());
    let (to_bell, to_answer, to_behind) = (address(bell), address(answer), address(behind));
    // Loading the module waits for the device.
    driver.kernel(c"trap");
    ok!(cuStreamWaitValue32_v2(waiting, to_answer, 1, EQ));
    ok!(cuStreamWriteValue32_v2(waiting, to_behind, 1, 0));
    ok!(cuEventRecord(event, waiting));
    trap(driver, trapped);
    // Accepted, until the fault is noticed.
    ok!(cuStreamWriteValue32_v2(trapped, to_bell, 1, 0));
    ok!(cuStreamWaitValue32_v2(trapped, to_answer, 1, EQ));
    assert_eq!(call!(cuStreamSynchronize(trapped)), LOST);
    assert_eq!(read(bell), 0, "no bell rings after the fault");
    write(answer, 1);
    let answers = [
        ("cuStreamQuery", call!(cuStreamQuery(waiting))),
        ("cuStreamSynchronize", call!(cuStreamSynchronize(waiting))),
        ("cuEventQuery", call!(cuEventQuery(event))),
        ("cuStreamWriteValue32", call!(cuStreamWriteValue32_v2(other, to_bell, 1, 0))),
        ("unaligned", call!(cuStreamWriteValue32_v2(other, to_bell + 1, 1, 0))),
        ("cuStreamWaitValue32", call!(cuStreamWaitValue32_v2(other, to_bell, 0, EQ))),
        ("cuMemFreeHost", call!(cuMemFreeHost(bell.cast()))),
        ("cuStreamDestroy", call!(cuStreamDestroy(waiting))),
    ];
    assert!(answers.iter().all(|(_, code)| *code == LOST), "{answers:?}");
    driver_is_left(driver);
    assert_eq!(read(behind), 0, "the answer came too late");
}

fn a_process_can_end_with_an_answer_pending(_: &Driver) {
    let (stream, answer) = (stream(), word());
    ok!(cuStreamWaitValue32_v2(stream, address(answer), 1, 1));
    assert_eq!(call!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_NOT_READY);
}
