//! Contexts, streams, memory and the order of work.

use std::ptr;
use std::time::Duration;

use cuda_sys::{CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUcontext, CUresult};

use crate::common::{call, driver, launch, made, ok, read, store, stream, word, write};

#[test]
fn a_thread_without_a_context_can_use_a_stream_but_make_nothing() {
    let driver = driver();
    let (stream, store_u32, word) = (stream(), driver.kernel(c"store_u32"), word());
    let (stream_address, function_address) = (stream.addr(), store_u32.addr());
    let word_address = word.expose_provenance();
    std::thread::spawn(move || {
        let stream = ptr::without_provenance_mut(stream_address);
        let mut made = ptr::null_mut();
        assert_eq!(call!(cuStreamCreate(&raw mut made, 0)), CUresult::CUDA_ERROR_INVALID_CONTEXT);
        let mut made = ptr::null_mut();
        assert_eq!(call!(cuEventCreate(&raw mut made, 0)), CUresult::CUDA_ERROR_INVALID_CONTEXT);
        let mut current = ptr::dangling_mut();
        ok!(cuCtxGetCurrent(&raw mut current));
        assert!(current.is_null());
        store(stream, ptr::without_provenance_mut(function_address), ptr::with_exposed_provenance_mut(word_address), 7);
        ok!(cuStreamSynchronize(stream));
        assert_eq!(call!(cuStreamSynchronize(ptr::null_mut())), CUresult::CUDA_ERROR_INVALID_CONTEXT);
    })
    .join()
    .unwrap();
    assert_eq!(read(word), 7);
}

#[test]
fn what_is_destroyed_or_foreign_is_an_invalid_handle() {
    let driver = driver();
    let stream = stream();
    ok!(cuStreamDestroy(stream));
    for handle in [stream, ptr::without_provenance_mut(0x5550_0000), driver.context.cast()] {
        assert_eq!(call!(cuStreamSynchronize(handle)), CUresult::CUDA_ERROR_INVALID_HANDLE);
        assert_eq!(call!(cuStreamDestroy(handle)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    let event = made!(cuEventCreate(0));
    ok!(cuEventDestroy(event));
    assert_eq!(call!(cuEventQuery(event)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    assert_eq!(call!(cuCtxSetCurrent(stream.cast())), CUresult::CUDA_ERROR_INVALID_CONTEXT);
}

#[test]
fn work_of_a_stream_is_done_in_order_and_of_two_streams_at_once() {
    let driver = driver();
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

#[test]
fn the_legacy_stream_waits_for_blocking_streams_and_they_for_it() {
    let driver = driver();
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

#[test]
fn memory_is_copied_and_filled() {
    let _driver = driver();
    let stream = stream();
    let mut device = 0;
    ok!(cuMemAlloc(&raw mut device, 16));
    let mut source = [1_u32, 2, 3, 4];
    ok!(cuMemcpyHtoDAsync(device, source.as_ptr().cast(), 16, stream));
    source.fill(9);
    ok!(cuStreamSynchronize(stream));
    let mut back = [0_u32; 4];
    ok!(cuMemcpyDtoH(back.as_mut_ptr().cast(), device, 16));
    assert_eq!(back, [1, 2, 3, 4], "memory that is not pinned is taken at the call");
    ok!(cuMemsetD32(device + 4, 8, 2));
    ok!(cuMemcpyDtoH(back.as_mut_ptr().cast(), device, 16));
    assert_eq!(back, [1, 8, 8, 4]);
    assert_eq!(call!(cuMemsetD32(device, 0, 5)), CUresult::CUDA_ERROR_INVALID_VALUE);
    ok!(cuMemFree(device));
    assert_eq!(call!(cuMemFree(device)), CUresult::CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn kernels_have_parameters_and_limits() {
    let driver = driver();
    let store_u32 = driver.kernel(c"store_u32");
    assert_eq!(launch(ptr::null_mut(), store_u32, &mut [ptr::null_mut(); 2]), CUresult::CUDA_ERROR_INVALID_VALUE);
    let nothing = driver.kernel(c"nothing");
    let threads = |threads| {
        call!(cuLaunchKernel(nothing, 1, 1, 1, threads, 1, 1, 0, ptr::null_mut(), ptr::null_mut(), ptr::null_mut()))
    };
    assert_eq!(threads(1024), CUresult::CUDA_SUCCESS);
    assert_eq!(threads(1025), CUresult::CUDA_ERROR_INVALID_VALUE);
    assert_eq!(threads(0), CUresult::CUDA_ERROR_INVALID_VALUE);
    let mut module = ptr::null_mut();
    assert_eq!(call!(cuModuleLoadData(&raw mut module, c"".as_ptr().cast())), CUresult::CUDA_ERROR_INVALID_IMAGE);
    let mut missing = ptr::null_mut();
    let module = made!(cuModuleLoadData(c".version 7.0\n.target sm_70\n.entry a() { ret; }".as_ptr().cast()));
    assert_eq!(call!(cuModuleGetFunction(&raw mut missing, module, c"b".as_ptr())), CUresult::CUDA_ERROR_NOT_FOUND);
}

#[test]
fn a_destroyed_stream_finishes_its_work() {
    let driver = driver();
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

#[test]
fn a_seed_changes_the_order_between_streams_only() {
    let driver = driver();
    let store_u32 = driver.kernel(c"store_u32");
    let order = |seed| {
        driver.client.schedule(seed, Duration::from_micros(200));
        let streams = [(); 4].map(|()| stream());
        let words = [(); 4].map(|()| word());
        for value in 1..=20 {
            for (stream, word) in streams.into_iter().zip(words) {
                store(stream, store_u32, word, value);
            }
        }
        ok!(cuStreamSynchronize(streams[0]));
        let seen = words.map(read);
        ok!(cuCtxSynchronize());
        assert_eq!(words.map(read), [20; 4], "seed {seed}");
        seen
    };
    let seen: Vec<_> = (0..8).map(order).collect();
    assert!(seen.iter().all(|seen| seen[0] == 20), "a stream's own work is done: {seen:?}");
    assert!(seen.iter().any(|seen| *seen != [20; 4]), "the streams are not in step: {seen:?}");
}

#[test]
fn a_reset_primary_context_is_gone_until_it_is_retained() {
    let driver = driver();
    let stream = stream();
    let before = id(driver.context);
    ok!(cuDevicePrimaryCtxReset(0));
    assert_eq!(call!(cuStreamSynchronize(stream)), CUresult::CUDA_ERROR_INVALID_HANDLE);
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
    let get = unsafe { std::mem::transmute::<*mut std::ffi::c_void, GetId>(address) };
    let mut id = 0;
    // SAFETY: the context is alive, and the pointer is valid for a write.
    assert_eq!(unsafe { get(context, &raw mut id) }, CUresult::CUDA_SUCCESS);
    id
}
