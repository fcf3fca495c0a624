//! Contexts, and threads without one.

use std::ffi::c_void;
use std::panic;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use cuda_sys::{
    CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUcontext, CUdevice, CUlaunchAttributeID, CUlaunchAttributeValue, CUresult,
    CUstreamCaptureStatus, CUsynchronizationPolicy,
};

use crate::raw::{
    Driver, begin_capture, call, count, end_capture, instantiate, made, ok, pointer, read, store, stream, trials, word,
};

trials! {
    a_thread_without_a_context_can_use_a_stream_but_make_nothing,
    a_thread_without_a_context_reads_attributes,
    what_goes_by_a_handle_works_whatever_context_is_current,
    a_thread_without_a_context_can_capture_and_launch_graphs,
    priorities_are_kept_within_the_range_of_the_device,
    a_reset_primary_context_is_gone_until_it_is_retained,
}

/// Runs on a thread that has never called CUDA.
fn elsewhere<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(run).join().unwrap_or_else(|payload| panic::resume_unwind(payload)))
}

/// Handles for another thread.
#[derive(Clone, Copy)]
struct Sent<T>(T);

// SAFETY: the driver's handles belong to no thread.
unsafe impl<T> Send for Sent<T> {}

impl<T> Sent<T> {
    fn get(self) -> T {
        self.0
    }
}

fn a_thread_without_a_context_can_use_a_stream_but_make_nothing(driver: &Driver) {
    let word = word();
    let sent = Sent((stream(), driver.kernel(c"store_u32"), word, made!(cuEventCreate(2))));
    elsewhere(move || {
        let (stream, store_u32, word, event) = sent.get();
        let none = CUresult::CUDA_ERROR_INVALID_CONTEXT;
        let mut made = ptr::null_mut();
        assert_eq!(call!(cuStreamCreate(&raw mut made, 0)), none);
        let mut made = ptr::null_mut();
        assert_eq!(call!(cuEventCreate(&raw mut made, 0)), none);
        let (mut memory, mut host) = (0, ptr::null_mut());
        assert_eq!(call!(cuMemAlloc(&raw mut memory, 4)), none);
        assert_eq!(call!(cuMemAllocHost(&raw mut host, 4)), none);
        assert_eq!(call!(cuCtxSynchronize()), none);
        for default in [ptr::null_mut(), CU_STREAM_LEGACY, CU_STREAM_PER_THREAD] {
            assert_eq!(call!(cuStreamSynchronize(default)), none, "{default:?}");
        }
        let mut current = ptr::dangling_mut();
        ok!(cuCtxGetCurrent(&raw mut current));
        assert!(current.is_null());
        store(stream, store_u32, word, 7);
        ok!(cuEventRecord(event, stream));
        ok!(cuStreamWaitEvent(stream, event, 0));
        ok!(cuStreamSynchronize(stream));
        ok!(cuStreamQuery(stream));
        ok!(cuEventQuery(event));
        ok!(cuEventSynchronize(event));
    });
    assert_eq!(read(word), 7);
}

fn a_thread_without_a_context_reads_attributes(_: &Driver) {
    let sent = Sent((stream(), made!(cuStreamCreate(0))));
    elsewhere(move || {
        let (non_blocking, blocking) = sent.get();
        for stream in [non_blocking, blocking] {
            for id in [CUlaunchAttributeID(3), CUlaunchAttributeID(8)] {
                let mut value = CUlaunchAttributeValue { pad: [0; 64] };
                ok!(cuStreamGetAttribute(stream, id, &raw mut value));
            }
        }
        let mut value = CUlaunchAttributeValue { pad: [0; 64] };
        for default in [ptr::null_mut(), CU_STREAM_LEGACY, CU_STREAM_PER_THREAD] {
            let code = call!(cuStreamGetAttribute(default, CUlaunchAttributeID(3), &raw mut value));
            assert_eq!(code, CUresult::CUDA_ERROR_INVALID_CONTEXT, "{default:?}");
        }
    });
}

fn what_goes_by_a_handle_works_whatever_context_is_current(driver: &Driver) {
    let word = word();
    let sent = Sent((stream(), driver.kernel(c"store_u32"), word, made!(cuEventCreate(2))));
    for (value, is_destroyed) in [(2, false), (3, true)] {
        elsewhere(move || {
            let (stream, store_u32, word, event) = sent.get();
            let other = Sent(create());
            if is_destroyed {
                elsewhere(move || ok!(cuCtxDestroy(other.get())));
            }
            // To spin, and to yield.
            let policy = CUlaunchAttributeValue { syncPolicy: CUsynchronizationPolicy(value) };
            ok!(cuStreamSetAttribute(stream, CUlaunchAttributeID(3), &raw const policy));
            let mut found = CUlaunchAttributeValue { pad: [0; 64] };
            ok!(cuStreamGetAttribute(stream, CUlaunchAttributeID(3), &raw mut found));
            // SAFETY: a number, which was written.
            assert_eq!(unsafe { found.syncPolicy }, CUsynchronizationPolicy(value));
            store(stream, store_u32, word, value);
            ok!(cuEventRecord(event, stream));
            ok!(cuStreamWaitEvent(stream, event, 0));
            ok!(cuEventSynchronize(event));
            ok!(cuEventQuery(event));
            ok!(cuStreamSynchronize(stream));
            ok!(cuStreamQuery(stream));
            let mut current = ptr::null_mut();
            ok!(cuCtxGetCurrent(&raw mut current));
            assert_eq!(current, other.get());
            if !is_destroyed {
                ok!(cuCtxDestroy(current));
            }
        });
        assert_eq!(read(word), value);
    }
}

/// A context of this thread's, which is current.
fn create() -> CUcontext {
    // `cuCtxCreate` differs between headers; this name is in every driver.
    type Create = unsafe extern "C" fn(*mut CUcontext, u32, CUdevice) -> CUresult;
    let address = cuda_sys::driver::symbol(c"cuCtxCreate_v2").expect("a name of every driver").as_ptr();
    // SAFETY: the function of that name has this type.
    let create = unsafe { std::mem::transmute::<*mut c_void, Create>(address) };
    let mut context = ptr::null_mut();
    // SAFETY: the pointer is valid for a write.
    assert_eq!(unsafe { create(&raw mut context, 0, 0) }, CUresult::CUDA_SUCCESS);
    context
}

fn a_thread_without_a_context_can_capture_and_launch_graphs(driver: &Driver) {
    let (sent, context, counter) = (Sent(stream()), Sent(driver.context), &AtomicU32::new(0));
    elsewhere(move || {
        let stream = sent.get();
        let mut status = CUstreamCaptureStatus(99);
        ok!(cuStreamIsCapturing(stream, &raw mut status));
        begin_capture(stream);
        ok!(cuLaunchHostFunc(stream, Some(count), pointer(counter)));
        let graph = end_capture(stream);
        ok!(cuCtxSetCurrent(context.get()));
        let exec = instantiate(graph);
        ok!(cuCtxSetCurrent(ptr::null_mut()));
        ok!(cuGraphLaunch(exec, stream));
        ok!(cuStreamSynchronize(stream));
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(graph));
        ok!(cuStreamDestroy(stream));
    });
    assert_eq!(counter.load(Ordering::SeqCst), 1);
}

fn priorities_are_kept_within_the_range_of_the_device(_: &Driver) {
    let (mut least, mut greatest, mut found) = (0, 0, 0);
    ok!(cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest));
    assert!(greatest < least, "smaller is more urgent");
    for (asked, expected) in [(greatest - 7, greatest), (least + 7, least), (greatest + 1, greatest + 1)] {
        let stream = made!(cuStreamCreateWithPriority(1, asked));
        ok!(cuStreamGetPriority(stream, &raw mut found));
        assert_eq!(found, expected, "{asked}");
    }
}

fn a_reset_primary_context_is_gone_until_it_is_retained(driver: &Driver) {
    let before = id(driver.context);
    ok!(cuDevicePrimaryCtxReset(0));
    let mut made = ptr::null_mut();
    assert_eq!(call!(cuStreamCreate(&raw mut made, 0)), CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
    let again = made!(cuDevicePrimaryCtxRetain(0));
    assert_eq!(again, driver.context, "at the same address");
    assert_ne!(id(again), before, "and another one all the same");
    ok!(cuDevicePrimaryCtxRelease(0));
    let _ = made!(cuStreamCreate(0));
}

/// `cuCtxGetId`, which headers before 12.0 do not declare.
fn id(context: CUcontext) -> u64 {
    type GetId = unsafe extern "C" fn(CUcontext, *mut u64) -> CUresult;
    let address = cuda_sys::driver::symbol(c"cuCtxGetId").expect("a name of 12.0").as_ptr();
    // SAFETY: the function of that name has this type.
    let get = unsafe { std::mem::transmute::<*mut c_void, GetId>(address) };
    let mut id = 0;
    // SAFETY: the context is alive, and the pointer is valid for a write.
    assert_eq!(unsafe { get(context, &raw mut id) }, CUresult::CUDA_SUCCESS);
    id
}
