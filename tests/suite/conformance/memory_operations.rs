//! Stream memory operations: what a stream writes, and what it waits for.

use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cuda_sys::{
    CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUdevice_attribute, CUdeviceptr, CUgraphNodeType, CUresult, CUstream,
    CUstreamBatchMemOpParams, CUstreamCaptureMode, CUstreamCaptureStatus,
};
use simulated_driver_client::KERNELS;

use crate::raw::{
    Driver, begin_capture, call, capture_info, count, end_capture, instantiate, launch, made, nodes, ok, pointer, read,
    stream, trials, until, word, write,
};

trials! {
    a_stream_waits_until_it_is_answered,
    a_wait_holds_up_its_own_stream_only,
    a_wait_in_a_blocking_stream_holds_up_the_legacy_stream,
    a_batch_is_done_in_order,
    a_wait_has_four_conditions,
    every_kind_of_stream_takes_them,
    the_device_says_what_it_has,
    the_first_version_of_them_is_refused,
    addresses_are_words_of_the_driver_s_memory,
    unknown_flags_and_operations_are_refused,
    a_batch_is_taken_whole_or_not_at_all,
    they_are_captured,
    what_is_refused_costs_no_capture,
    they_need_no_context_but_for_default_streams,
    a_host_function_may_enqueue_them,
    who_waits_for_the_stream_waits_for_the_answer,
    freeing_waits_for_the_answer_and_allocating_does_not,
    loading_and_unloading_wait_for_the_answer,
    a_destroyed_stream_goes_on_after_the_answer,
    a_reset_of_the_context_waits_for_the_answer,
    ids_of_streams_are_never_given_again,
    the_id_of_a_capturing_stream_is_not_told,
}

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// `CU_STREAM_WAIT_VALUE_…`
const GEQ: u32 = 0;
const EQ: u32 = 1;
const AND: u32 = 2;
const NOR: u32 = 3;
const FLUSH: u32 = 1 << 30;

/// `CU_STREAM_MEM_OP_…`
const WAIT_32: u32 = 1;
const WRITE_32: u32 = 2;
const WAIT_64: u32 = 4;
const WRITE_64: u32 = 5;

fn address(word: *mut u32) -> CUdeviceptr {
    let mut address = 0;
    ok!(cuMemHostGetDevicePointer(&raw mut address, word.cast(), 0));
    address
}

/// One element of a batch. Its fields are where the C type has them, whose names in Rust differ by header.
fn operation(operation: u32, address: CUdeviceptr, value: u64, flags: u32) -> CUstreamBatchMemOpParams {
    CUstreamBatchMemOpParams { pad: [operation.into(), address, value, flags.into(), 0, 0] }
}

fn batch(stream: CUstream, operations: &mut [CUstreamBatchMemOpParams]) -> CUresult {
    let count = u32::try_from(operations.len()).unwrap();
    call!(cuStreamBatchMemOp_v2(stream, count, operations.as_mut_ptr(), 0))
}

fn write_32(stream: CUstream, address: CUdeviceptr, value: u32) -> CUresult {
    call!(cuStreamWriteValue32_v2(stream, address, value, 0))
}

fn wait_32(stream: CUstream, address: CUdeviceptr, value: u32) -> CUresult {
    call!(cuStreamWaitValue32_v2(stream, address, value, EQ))
}

/// A word that a stream waits for; whoever waits for the stream gets on when it is 1.
fn waited_for(stream: CUstream) -> *mut u32 {
    let answer = word();
    assert_eq!(wait_32(stream, address(answer), 1), CUresult::CUDA_SUCCESS);
    answer
}

/// Makes a call that cannot end before the answer, which another thread gives meanwhile.
fn is_held_up(answer: *mut u32, run: impl FnOnce()) {
    let (start, place) = (Instant::now(), answer.expose_provenance());
    thread::scope(|scope| {
        scope.spawn(move || {
            thread::sleep(Duration::from_millis(50));
            write(ptr::with_exposed_provenance_mut(place), 1);
        });
        run();
        assert!(start.elapsed() >= Duration::from_millis(50), "it waits");
    });
}

/// The bell and the answer of an executor.
fn a_stream_waits_until_it_is_answered(_: &Driver) {
    let (stream, event) = (stream(), made!(cuEventCreate(2)));
    let (bell, answer, behind) = (word(), word(), word());
    for number in 1..=100 {
        assert_eq!(write_32(stream, address(bell), number), CUresult::CUDA_SUCCESS);
        assert_eq!(wait_32(stream, address(answer), number), CUresult::CUDA_SUCCESS);
        assert_eq!(write_32(stream, address(behind), number), CUresult::CUDA_SUCCESS);
        ok!(cuEventRecord(event, stream));
        until("the bell", || read(bell) == number);
        assert_eq!(call!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_NOT_READY);
        assert_eq!(call!(cuEventQuery(event)), CUresult::CUDA_ERROR_NOT_READY);
        assert_eq!(read(behind), number - 1);
        write(answer, number);
        ok!(cuStreamSynchronize(stream));
        ok!(cuEventQuery(event));
        assert_eq!(read(behind), number);
    }
}

fn increment(driver: &Driver, stream: CUstream, word: *mut u32) {
    let mut address = address(word);
    let code = launch(stream, driver.kernel(c"increment_u32"), &mut [(&raw mut address).cast()]);
    assert_eq!(code, CUresult::CUDA_SUCCESS);
}

fn a_wait_holds_up_its_own_stream_only(driver: &Driver) {
    let (waiting, other, behind, beside) = (stream(), stream(), word(), word());
    // Loading a module waits for the device.
    driver.kernel(c"increment_u32");
    let answer = waited_for(waiting);
    increment(driver, waiting, behind);
    increment(driver, other, beside);
    increment(driver, ptr::null_mut(), beside);
    ok!(cuStreamSynchronize(other));
    ok!(cuStreamSynchronize(ptr::null_mut()));
    assert_eq!((read(behind), read(beside)), (0, 2));
    write(answer, 1);
    ok!(cuStreamSynchronize(waiting));
    assert_eq!(read(behind), 1);
}

fn a_wait_in_a_blocking_stream_holds_up_the_legacy_stream(driver: &Driver) {
    let (blocking, behind) = (made!(cuStreamCreate(0)), word());
    driver.kernel(c"increment_u32");
    let answer = waited_for(blocking);
    increment(driver, ptr::null_mut(), behind);
    assert_eq!(call!(cuStreamQuery(ptr::null_mut())), CUresult::CUDA_ERROR_NOT_READY);
    assert_eq!(read(behind), 0);
    is_held_up(answer, || ok!(cuStreamSynchronize(ptr::null_mut())));
    assert_eq!(read(behind), 1);
}

fn a_batch_is_done_in_order(_: &Driver) {
    let (stream, first, second, wide) = (stream(), word(), word(), wide());
    let mut operations = [
        operation(WRITE_64, address(wide), 0x1_0000_0002, 0),
        operation(WAIT_64, address(wide), 0x1_0000_0002, EQ),
        operation(WRITE_32, address(first), 0xffff_ffff_0000_0003, 0),
        operation(WAIT_32, address(second), 1, EQ),
        operation(WRITE_32, address(first), 4, 0),
    ];
    assert_eq!(batch(stream, &mut operations), CUresult::CUDA_SUCCESS);
    until("the first three are done", || read(first) == 3);
    assert_eq!((read(wide), read(wide.wrapping_add(1))), (2, 1));
    assert_eq!(call!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_NOT_READY);
    write(second, 1);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read(first), 4);
}

/// Pinned memory of two words.
fn wide() -> *mut u32 {
    let mut memory = ptr::null_mut();
    ok!(cuMemHostAlloc(&raw mut memory, 8, 0));
    write(memory.cast(), 0);
    write(memory.cast::<u32>().wrapping_add(1), 0);
    memory.cast()
}

fn a_wait_has_four_conditions(_: &Driver) {
    let found = wide();
    let set = |value: u64| {
        let bytes = value.to_le_bytes();
        let (low, high) = bytes.split_at(4);
        write(found, u32::from_le_bytes(low.try_into().unwrap()));
        write(found.wrapping_add(1), u32::from_le_bytes(high.try_into().unwrap()));
    };
    // Each with what has to be found for it to hold, and with what is not enough.
    for (operation_code, flags, value, holds, does_not) in [
        (WAIT_32, GEQ, 5, 5, 4),
        (WAIT_32, GEQ, 0xffff_fffe, 1, 0xffff_fffd),
        (WAIT_32, GEQ, 0, 0x7fff_ffff, 0x8000_0000),
        (WAIT_64, GEQ, 5, 6, 4),
        (WAIT_64, GEQ, u64::MAX, 1, u64::MAX - 1),
        (WAIT_64, GEQ, 0, 0x8000_0000, 1 << 63),
        (WAIT_32, EQ, 5, 5, 6),
        (WAIT_64, EQ, 5, 5, (1 << 32) | 5),
        (WAIT_32, AND, 2, 6, 4),
        (WAIT_64, AND, 1 << 40, 3 << 39, 1 << 39),
        (WAIT_32, NOR, 0xffff_fff0, 0xf0, 0x0f),
        (WAIT_64, NOR, 0, 0xffff_ffff, u64::MAX),
    ] {
        let (stream, what) = (stream(), format!("operation {operation_code}, flags {flags}, value {value:#x}"));
        set(holds);
        assert_eq!(
            batch(stream, &mut [operation(operation_code, address(found), value, flags)]),
            CUresult(0),
            "{what}"
        );
        ok!(cuStreamSynchronize(stream));
        set(does_not);
        assert_eq!(
            batch(stream, &mut [operation(operation_code, address(found), value, flags)]),
            CUresult(0),
            "{what}"
        );
        thread::sleep(Duration::from_millis(2));
        assert_eq!(call!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_NOT_READY, "{what}");
        set(holds);
        ok!(cuStreamSynchronize(stream));
    }
}

fn every_kind_of_stream_takes_them(_: &Driver) {
    let (word, wide) = (word(), wide());
    for (value, stream) in (1..).zip([stream(), ptr::null_mut(), CU_STREAM_LEGACY, CU_STREAM_PER_THREAD]) {
        assert_eq!(write_32(stream, address(word), value), CUresult::CUDA_SUCCESS);
        assert_eq!(wait_32(stream, address(word), value), CUresult::CUDA_SUCCESS);
        ok!(cuStreamWriteValue64_v2(stream, address(wide), value.into(), 0));
        ok!(cuStreamWaitValue64_v2(stream, address(wide), value.into(), EQ));
        ok!(cuStreamSynchronize(stream));
        assert_eq!((read(word), read(wide)), (value, value));
    }
}

fn attribute(number: u32) -> i32 {
    let mut value = -1;
    ok!(cuDeviceGetAttribute(&raw mut value, CUdevice_attribute(number), 0));
    value
}

/// `CAN_USE_STREAM_MEM_OPS`, `CAN_USE_64_BIT_STREAM_MEM_OPS` and `CAN_USE_STREAM_WAIT_VALUE_NOR`, all of the first version;
/// `CAN_FLUSH_REMOTE_WRITES`; the two of the second version.
fn the_device_says_what_it_has(_: &Driver) {
    assert_eq!([92, 93, 94, 98, 122, 123].map(attribute), [0, 0, 0, 0, 1, 1]);
    let (stream, word) = (stream(), word());
    let code = call!(cuStreamWaitValue32_v2(stream, address(word), 0, FLUSH));
    assert_eq!(code, CUresult::CUDA_ERROR_NOT_SUPPORTED);
}

fn the_first_version_of_them_is_refused(_: &Driver) {
    type Write = unsafe extern "C" fn(CUstream, CUdeviceptr, u32, u32) -> CUresult;
    let function = cuda_sys::driver::symbol(c"cuStreamWriteValue32").expect("every driver has it");
    // SAFETY: the function of that name has this type.
    let write = unsafe { std::mem::transmute::<*mut c_void, Write>(function.as_ptr()) };
    let (stream, word) = (stream(), word());
    // SAFETY: pinned memory.
    let code = unsafe { write(stream, address(word), 1, 0) };
    assert_eq!(code, CUresult::CUDA_ERROR_NOT_SUPPORTED);
}

fn addresses_are_words_of_the_driver_s_memory(_: &Driver) {
    let (stream, word, wide, mut of_program, mut device) = (stream(), address(word()), address(wide()), [0_u64; 2], 0);
    ok!(cuMemAlloc(&raw mut device, 256));
    let of_program = of_program.as_mut_ptr().expose_provenance() as u64;
    for (bits, address, expected) in [
        (32, word, CUresult::CUDA_SUCCESS),
        (64, wide, CUresult::CUDA_SUCCESS),
        (32, wide + 4, CUresult::CUDA_SUCCESS),
        (32, device + 252, CUresult::CUDA_SUCCESS),
        (64, device, CUresult::CUDA_SUCCESS),
        (32, word + 1, INVALID),
        (32, word + 2, INVALID),
        (64, wide + 4, INVALID),
        (32, 0, INVALID),
        (32, 0x1000, INVALID),
        (32, of_program, INVALID),
        (64, of_program, INVALID),
    ] {
        let code = match bits {
            32 => write_32(stream, address, 1),
            _ => call!(cuStreamWriteValue64_v2(stream, address, 1, 0)),
        };
        assert_eq!(code, expected, "write, {bits} bits at {address:#x}");
        let code = match bits {
            32 => call!(cuStreamWaitValue32_v2(stream, address, 1, GEQ)),
            _ => call!(cuStreamWaitValue64_v2(stream, address, 1, GEQ)),
        };
        assert_eq!(code, expected, "wait, {bits} bits at {address:#x}");
    }
    ok!(cuStreamSynchronize(stream));
    ok!(cuMemFree(device));
    assert_eq!(write_32(stream, device, 1), INVALID);
}

fn unknown_flags_and_operations_are_refused(_: &Driver) {
    let (stream, word) = (stream(), address(word()));
    // 1 is `CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER`, which only the first version has.
    for flags in [1, 2, FLUSH, 1 << 31] {
        assert_eq!(call!(cuStreamWriteValue32_v2(stream, word, 0, flags)), INVALID, "{flags:#x}");
    }
    for flags in [4, 5, 8, 1 << 29, 1 << 31] {
        assert_eq!(call!(cuStreamWaitValue32_v2(stream, word, 0, flags)), INVALID, "{flags:#x}");
    }
    for code in [0, 7, u32::MAX] {
        assert_eq!(batch(stream, &mut [operation(code, word, 0, 0)]), INVALID, "{code}");
    }
    assert_eq!(call!(cuStreamBatchMemOp_v2(stream, 1, [operation(WRITE_32, word, 0, 0)].as_mut_ptr(), 1)), INVALID);
    ok!(cuStreamSynchronize(stream));
}

fn a_batch_is_taken_whole_or_not_at_all(_: &Driver) {
    let (stream, word) = (stream(), word());
    let mut many: Vec<_> = (0..256).map(|value| operation(WRITE_32, address(word), value, 0)).collect();
    assert_eq!(batch(stream, &mut many), INVALID);
    assert_eq!(batch(stream, &mut many[1..]), CUresult::CUDA_SUCCESS);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read(word), 255);
    let mut bad = [operation(WRITE_32, address(word), 1, 0), operation(WRITE_32, address(word) + 1, 2, 0)];
    assert_eq!(batch(stream, &mut bad), INVALID);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read(word), 255);
    ok!(cuStreamBatchMemOp_v2(stream, 0, ptr::null_mut(), 0));
}

/// As one node for each call.
fn they_are_captured(_: &Driver) {
    let modes = [
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL,
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED,
    ];
    for mode in modes {
        let (stream, bell, answer) = (stream(), word(), word());
        let (to_bell, to_answer) = (address(bell), address(answer));
        ok!(cuStreamBeginCapture(stream, mode));
        assert_eq!(write_32(stream, to_bell, 1), CUresult::CUDA_SUCCESS);
        assert_eq!(wait_32(stream, to_answer, 1), CUresult::CUDA_SUCCESS);
        let mut both = [operation(WRITE_32, to_bell, 2, 0), operation(WAIT_32, to_answer, 2, EQ)];
        assert_eq!(batch(stream, &mut both), CUresult::CUDA_SUCCESS);
        let graph = end_capture(stream);
        let nodes = nodes(graph);
        assert_eq!(nodes.len(), 3);
        for node in nodes {
            let mut kind = CUgraphNodeType(99);
            ok!(cuGraphNodeGetType(node, &raw mut kind));
            assert_eq!(kind, CUgraphNodeType::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
        }
        let exec = instantiate(graph);
        assert_eq!(read(bell), 0, "nothing is done yet");
        for _ in 0..2 {
            write(answer, 0);
            ok!(cuGraphLaunch(exec, stream));
            for number in [1, 2] {
                until("the bell", || read(bell) == number);
                assert_eq!(call!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_NOT_READY);
                write(answer, number);
            }
            ok!(cuStreamSynchronize(stream));
        }
        let mut of_device = ptr::null_mut();
        assert_eq!(
            call!(cuGraphInstantiateWithFlags(&raw mut of_device, graph, 4)),
            INVALID,
            "for launches by a device"
        );
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(graph));
    }
}

fn what_is_refused_costs_no_capture(_: &Driver) {
    let (stream, word, blocking) = (stream(), address(word()), made!(cuStreamCreate(0)));
    begin_capture(stream);
    assert_eq!(write_32(stream, word + 1, 1), INVALID);
    assert_eq!(batch(stream, &mut [operation(7, word, 1, 0)]), INVALID);
    assert_eq!(capture_info(stream).status, CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE);
    let graph = end_capture(stream);
    assert_eq!(nodes(graph).len(), 0);
    ok!(cuGraphDestroy(graph));
    begin_capture(blocking);
    assert_eq!(write_32(ptr::null_mut(), word, 1), CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "but this does");
    let mut graph = ptr::null_mut();
    let code = call!(cuStreamEndCapture(blocking, &raw mut graph));
    assert_eq!(code, CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

fn they_need_no_context_but_for_default_streams(driver: &Driver) {
    let (stream, word, mut id, mut found) = (stream(), word(), 0, 0);
    let at = address(word);
    ok!(cuCtxSetCurrent(ptr::null_mut()));
    let without = [
        write_32(stream, at, 1),
        wait_32(stream, at, 1),
        batch(stream, &mut [operation(WRITE_32, at, 2, 0)]),
        get_id(stream, &mut id),
    ];
    let refused = write_32(stream, at + 1, 1);
    let default = [ptr::null_mut(), CU_STREAM_LEGACY, CU_STREAM_PER_THREAD].map(|stream| write_32(stream, at, 3));
    let others = [get_id(ptr::null_mut(), &mut id), call!(cuMemHostGetDevicePointer(&raw mut found, word.cast(), 0))];
    ok!(cuCtxSetCurrent(driver.context));
    assert_eq!((without, refused), ([CUresult::CUDA_SUCCESS; 4], INVALID));
    assert_eq!(default, [CUresult::CUDA_ERROR_INVALID_CONTEXT; 3]);
    assert_eq!(others, [CUresult::CUDA_ERROR_INVALID_CONTEXT; 2]);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read(word), 2);
}

/// `cuStreamGetId`, which the oldest headers lack.
fn get_id(stream: CUstream, id: &mut u64) -> CUresult {
    type GetId = unsafe extern "C" fn(CUstream, *mut u64) -> CUresult;
    let function = cuda_sys::driver::symbol(c"cuStreamGetId").expect("drivers from CUDA 12.0 on have it");
    // SAFETY: the function of that name has this type.
    let get = unsafe { std::mem::transmute::<*mut c_void, GetId>(function.as_ptr()) };
    // SAFETY: the pointer is valid for writes.
    unsafe { get(stream, id) }
}

fn id(stream: CUstream) -> u64 {
    let mut id = u64::MAX;
    assert_eq!(get_id(stream, &mut id), CUresult::CUDA_SUCCESS);
    id
}

fn a_host_function_may_enqueue_them(_: &Driver) {
    static ANSWERS: Mutex<Vec<CUresult>> = Mutex::new(Vec::new());
    struct Asked {
        other: CUstream,
        address: CUdeviceptr,
        word: *mut u32,
    }
    unsafe extern "C" fn ask(asked: *mut c_void) {
        // SAFETY: the trial waits for its end.
        let Asked { other, address, word } = unsafe { &*asked.cast::<Asked>() };
        let (mut id, mut device, mut value) = (0, 0, 0);
        *ANSWERS.lock().unwrap() = vec![
            write_32(*other, *address, 1),
            wait_32(*other, *address, 1),
            batch(*other, &mut [operation(WRITE_32, *address, 2, 0)]),
            get_id(*other, &mut id),
            write_32(*other, *address + 1, 1),
            write_32(ptr::null_mut(), *address, 1),
            call!(cuDeviceGetAttribute(&raw mut value, CUdevice_attribute(122), 0)),
            call!(cuMemHostGetDevicePointer(&raw mut device, word.cast(), 0)),
        ];
    }
    let (own, other, word) = (stream(), stream(), word());
    let asked = Asked { other, address: address(word), word };
    ok!(cuLaunchHostFunc(own, Some(ask), (&raw const asked).cast_mut().cast()));
    ok!(cuStreamSynchronize(own));
    ok!(cuStreamSynchronize(other));
    let (fine, closed) = (CUresult::CUDA_SUCCESS, CUresult::CUDA_ERROR_NOT_PERMITTED);
    assert_eq!(*ANSWERS.lock().unwrap(), [fine, fine, fine, fine, INVALID, closed, closed, closed]);
    assert_eq!(read(word), 2);
}

fn who_waits_for_the_stream_waits_for_the_answer(_: &Driver) {
    let (stream, event, counter) = (stream(), made!(cuEventCreate(2)), AtomicU32::new(0));
    is_held_up(waited_for(stream), || ok!(cuStreamSynchronize(stream)));
    is_held_up(waited_for(stream), || ok!(cuCtxSynchronize()));
    let answer = waited_for(stream);
    ok!(cuEventRecord(event, stream));
    is_held_up(answer, || ok!(cuEventSynchronize(event)));
    let answer = waited_for(stream);
    ok!(cuLaunchHostFunc(stream, Some(count), pointer(&counter)));
    is_held_up(answer, || ok!(cuStreamSynchronize(stream)));
    assert_eq!(counter.load(Ordering::SeqCst), 1);
}

fn freeing_waits_for_the_answer_and_allocating_does_not(_: &Driver) {
    let (stream, freed, mut device, mut host) = (stream(), word(), 0, ptr::null_mut());
    let mut registered = vec![0_u64; 1024];
    let start = registered.as_mut_ptr().cast();
    let answer = waited_for(stream);
    ok!(cuMemHostAlloc(&raw mut host, 4096, 0));
    ok!(cuMemAlloc(&raw mut device, 4096));
    ok!(cuMemHostRegister(start, 8192, 0));
    let (_, _) = (made!(cuStreamCreate(1)), made!(cuEventCreate(2)));
    assert_eq!(call!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_NOT_READY);
    is_held_up(answer, || ok!(cuMemFreeHost(freed.cast())));
    is_held_up(waited_for(stream), || ok!(cuMemFree(device)));
    is_held_up(waited_for(stream), || ok!(cuMemHostUnregister(start)));
}

fn loading_and_unloading_wait_for_the_answer(_: &Driver) {
    let (stream, image) = (stream(), CString::new(KERNELS).unwrap());
    let mut module = ptr::null_mut();
    is_held_up(waited_for(stream), || ok!(cuModuleLoadData(&raw mut module, image.as_ptr().cast())));
    is_held_up(waited_for(stream), || ok!(cuModuleUnload(module)));
}

fn a_destroyed_stream_goes_on_after_the_answer(driver: &Driver) {
    let (stream, behind) = (stream(), word());
    let answer = waited_for(stream);
    assert_eq!(write_32(stream, address(behind), 1), CUresult::CUDA_SUCCESS);
    ok!(cuStreamDestroy(stream));
    assert_eq!(read(behind), 0);
    write(answer, 1);
    driver.settle();
    assert_eq!(read(behind), 1);
}

fn a_reset_of_the_context_waits_for_the_answer(_: &Driver) {
    // Memory of the program's, which is there after the reset.
    let mut memory = vec![0_u64; 512];
    let (answer, stream) = (memory.as_mut_ptr().cast::<u32>(), stream());
    ok!(cuMemHostRegister(answer.cast(), 4096, 0));
    assert_eq!(wait_32(stream, address(answer), 1), CUresult::CUDA_SUCCESS);
    assert_eq!(write_32(stream, address(answer) + 8, 7), CUresult::CUDA_SUCCESS);
    is_held_up(answer, || ok!(cuDevicePrimaryCtxReset(0)));
    assert_eq!(read(answer.wrapping_add(2)), 7);
    // As the trial found it.
    let _ = made!(cuDevicePrimaryCtxRetain(0));
    ok!(cuDevicePrimaryCtxRelease(0));
}

fn ids_of_streams_are_never_given_again(_: &Driver) {
    let mut seen = vec![id(ptr::null_mut()), id(CU_STREAM_PER_THREAD)];
    assert_eq!(id(CU_STREAM_LEGACY), seen[0]);
    seen.push(thread::scope(|scope| scope.spawn(of_another_thread).join().unwrap()));
    for _ in 0..20 {
        let stream = stream();
        seen.push(id(stream));
        assert_eq!(Some(&id(stream)), seen.last());
        ok!(cuStreamDestroy(stream));
    }
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count);
}

fn of_another_thread() -> u64 {
    let mut context = ptr::null_mut();
    ok!(cuDevicePrimaryCtxRetain(&raw mut context, 0));
    ok!(cuCtxSetCurrent(context));
    let id = id(CU_STREAM_PER_THREAD);
    ok!(cuDevicePrimaryCtxRelease(0));
    id
}

/// And asking costs the capture.
fn the_id_of_a_capturing_stream_is_not_told(_: &Driver) {
    let (stream, mut id, mut graph) = (stream(), 0, ptr::null_mut());
    begin_capture(stream);
    assert_eq!(get_id(stream, &mut id), CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    let code = call!(cuStreamEndCapture(stream, &raw mut graph));
    assert_eq!(code, CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}
