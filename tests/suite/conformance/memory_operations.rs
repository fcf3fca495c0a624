//! Stream memory operations: what a stream writes, and what it waits for.

use std::ptr;

use cuda_sys::{CU_STREAM_PER_THREAD, CUdeviceptr, CUresult, CUstreamBatchMemOpParams};

use crate::raw::{Driver, call, launch, made, ok, read, stream, trials, word, write};

trials! {
    a_stream_waits_until_it_is_answered,
    a_wait_holds_up_its_own_stream_only,
    a_batch_is_done_in_order,
    every_kind_of_stream_takes_them,
}

const GEQ: u32 = 0;
const EQ: u32 = 1;

fn address(word: *mut u32) -> CUdeviceptr {
    let mut address = 0;
    ok!(cuMemHostGetDevicePointer(&raw mut address, word.cast(), 0));
    address
}

/// `CU_STREAM_MEM_OP_…_VALUE_32` and `…_64` by their numbers.
fn operation(operation: u64, word: *mut u32, value: u64, flags: u32) -> CUstreamBatchMemOpParams {
    CUstreamBatchMemOpParams { pad: [operation, address(word), value, flags.into(), 0, 0] }
}

const WAIT_32: u64 = 1;
const WRITE_32: u64 = 2;
const WAIT_64: u64 = 4;
const WRITE_64: u64 = 5;

fn batch(stream: cuda_sys::CUstream, operations: &mut [CUstreamBatchMemOpParams]) -> CUresult {
    let count = u32::try_from(operations.len()).unwrap();
    call!(cuStreamBatchMemOp(stream, count, operations.as_mut_ptr(), 0))
}

/// The bell and the answer of an executor.
fn a_stream_waits_until_it_is_answered(_: &Driver) {
    let (stream, bell, answer, behind) = (stream(), word(), word(), word());
    let event = made!(cuEventCreate(2));
    for number in 1..=100 {
        ok!(cuStreamWriteValue32(stream, address(bell), number, 0));
        ok!(cuStreamWaitValue32(stream, address(answer), number, EQ));
        ok!(cuStreamWriteValue32(stream, address(behind), number, 0));
        ok!(cuEventRecord(event, stream));
        crate::raw::until("the bell", || read(bell) == number);
        assert_eq!(call!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_NOT_READY);
        assert_eq!(call!(cuEventQuery(event)), CUresult::CUDA_ERROR_NOT_READY);
        assert_eq!(read(behind), number - 1);
        write(answer, number);
        ok!(cuStreamSynchronize(stream));
        ok!(cuEventQuery(event));
        assert_eq!(read(behind), number);
    }
}

fn a_wait_holds_up_its_own_stream_only(driver: &Driver) {
    let (waiting, other, answer, behind, beside) = (stream(), stream(), word(), word(), word());
    let increment = driver.kernel(c"increment_u32");
    let increment = |stream, word: *mut u32| {
        let mut address = address(word);
        assert_eq!(launch(stream, increment, &mut [(&raw mut address).cast()]), CUresult::CUDA_SUCCESS);
    };
    ok!(cuStreamWaitValue32(waiting, address(answer), 1, GEQ));
    increment(waiting, behind);
    increment(other, beside);
    ok!(cuStreamSynchronize(other));
    assert_eq!((read(behind), read(beside)), (0, 1));
    write(answer, 1);
    ok!(cuCtxSynchronize());
    assert_eq!(read(behind), 1);
}

fn a_batch_is_done_in_order(_: &Driver) {
    let (stream, first, second) = (stream(), word(), word());
    let mut memory = ptr::null_mut();
    ok!(cuMemHostAlloc(&raw mut memory, 8, 0));
    let wide: *mut u32 = memory.cast();
    let mut operations = [
        operation(WRITE_64, wide, 0x1_0000_0002, 0),
        operation(WAIT_64, wide, 0x1_0000_0002, EQ),
        operation(WRITE_32, first, 3, 0),
        operation(WAIT_32, second, 1, EQ),
        operation(WRITE_32, first, 4, 0),
    ];
    assert_eq!(batch(stream, &mut operations), CUresult::CUDA_SUCCESS);
    crate::raw::until("the first three are done", || read(first) == 3);
    assert_eq!((read(wide), read(wide.wrapping_add(1))), (2, 1));
    assert_eq!(call!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_NOT_READY);
    write(second, 1);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read(first), 4);
}

fn every_kind_of_stream_takes_them(_: &Driver) {
    let word = word();
    for (value, stream) in (1..).zip([stream(), ptr::null_mut(), cuda_sys::CU_STREAM_LEGACY, CU_STREAM_PER_THREAD]) {
        ok!(cuStreamWriteValue32(stream, address(word), value, 0));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(read(word), value);
    }
}
