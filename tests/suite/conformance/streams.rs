//! Streams, and the order of work in them and between them.

use std::ptr;

use cuda_sys::{CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUresult};

use crate::raw::{Driver, call, launch, made, ok, read, store, stream, trials, word, write};

trials! {
    work_of_a_stream_is_done_in_order_and_of_two_streams_at_once,
    the_legacy_stream_waits_for_blocking_streams_and_they_for_it,
    a_destroyed_stream_finishes_its_work,
}

fn work_of_a_stream_is_done_in_order_and_of_two_streams_at_once(driver: &Driver) {
    let (first, second) = (stream(), stream());
    let (store_u32, wait) = (driver.kernel(c"store_u32"), driver.kernel(c"wait_until_equal_u32"));
    let (flag, result) = (word(), word());
    let (mut address, mut value) = (flag.expose_provenance() as u64, 5_u32);
    assert_eq!(launch(first, wait, &mut [(&raw mut address).cast(), (&raw mut value).cast()]), CUresult::CUDA_SUCCESS);
    store(first, store_u32, result, 1);
    assert_eq!(call!(cuStreamQuery(first)), CUresult::CUDA_ERROR_NOT_READY);
    assert_eq!(read(result), 0, "it comes after the kernel that waits");
    store(second, store_u32, flag, 5);
    ok!(cuStreamSynchronize(first));
    assert_eq!(read(result), 1);
    ok!(cuStreamQuery(first));
}

fn the_legacy_stream_waits_for_blocking_streams_and_they_for_it(driver: &Driver) {
    let (blocking, other) = (made!(cuStreamCreate(0)), stream());
    let (store_u32, wait) = (driver.kernel(c"store_u32"), driver.kernel(c"wait_until_equal_u32"));
    let (flag, legacy, independent) = (word(), word(), word());
    let (mut address, mut value) = (flag.expose_provenance() as u64, 1_u32);
    assert_eq!(
        launch(blocking, wait, &mut [(&raw mut address).cast(), (&raw mut value).cast()]),
        CUresult::CUDA_SUCCESS
    );
    store(ptr::null_mut(), store_u32, legacy, 1);
    store(other, store_u32, independent, 1);
    ok!(cuStreamSynchronize(other));
    assert_eq!((read(independent), read(legacy)), (1, 0));
    assert_eq!(call!(cuStreamQuery(CU_STREAM_LEGACY)), CUresult::CUDA_ERROR_NOT_READY);
    write(flag, 1);
    ok!(cuStreamSynchronize(ptr::null_mut()));
    assert_eq!(read(legacy), 1);
    store(CU_STREAM_PER_THREAD, store_u32, legacy, 2);
    ok!(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    assert_eq!(read(legacy), 2);
}

fn a_destroyed_stream_finishes_its_work(driver: &Driver) {
    let (stream, store_u32, spin) = (stream(), driver.kernel(c"store_u32"), driver.kernel(c"spin_microseconds"));
    let result = word();
    let mut microseconds = 20_000_u64;
    assert_eq!(launch(stream, spin, &mut [(&raw mut microseconds).cast()]), CUresult::CUDA_SUCCESS);
    store(stream, store_u32, result, 3);
    ok!(cuStreamDestroy(stream));
    assert_eq!(read(result), 0);
    driver.settle();
    assert_eq!(read(result), 3);
}
