//! Events.

use std::ptr;

use cuda_sys::CUresult;

use crate::raw::{Driver, call, launch, made, ok, read, store, stream, trials, word, write};

trials! {
    an_event_orders_two_streams,
    time_passes_between_events_that_have_timing,
}

fn an_event_orders_two_streams(driver: &Driver) {
    let (first, second) = (stream(), stream());
    let (store_u32, wait) = (driver.kernel(c"store_u32"), driver.kernel(c"wait_until_equal_u32"));
    let (flag, result) = (word(), word());
    let event = made!(cuEventCreate(2));
    ok!(cuEventQuery(event));
    let (mut address, mut value) = (flag.expose_provenance() as u64, 1_u32);
    assert_eq!(launch(first, wait, &mut [(&raw mut address).cast(), (&raw mut value).cast()]), CUresult::CUDA_SUCCESS);
    ok!(cuEventRecord(event, first));
    ok!(cuStreamWaitEvent(second, event, 0));
    store(second, store_u32, result, 1);
    assert_eq!(call!(cuEventQuery(event)), CUresult::CUDA_ERROR_NOT_READY);
    ok!(cuEventDestroy(event));
    assert_eq!(read(result), 0);
    write(flag, 1);
    ok!(cuStreamSynchronize(second));
    assert_eq!(read(result), 1, "a destroyed event still orders what was enqueued");
}

fn time_passes_between_events_that_have_timing(driver: &Driver) {
    let spin = driver.kernel(c"spin_microseconds");
    let (start, end, untimed) = (made!(cuEventCreate(0)), made!(cuEventCreate(0)), made!(cuEventCreate(2)));
    let mut microseconds = 5000_u64;
    let mut elapsed = 0.0;
    ok!(cuEventRecord(start, ptr::null_mut()));
    assert_eq!(launch(ptr::null_mut(), spin, &mut [(&raw mut microseconds).cast()]), CUresult::CUDA_SUCCESS);
    ok!(cuEventRecord(end, ptr::null_mut()));
    ok!(cuEventSynchronize(end));
    ok!(cuEventElapsedTime(&raw mut elapsed, start, end));
    assert!(elapsed >= 5.0, "{elapsed}");
    assert_eq!(call!(cuEventElapsedTime(&raw mut elapsed, start, untimed)), CUresult::CUDA_ERROR_INVALID_HANDLE);
}
