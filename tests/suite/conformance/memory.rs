//! Memory, and kernels that use it.

use std::ptr;

use cuda_sys::CUresult;

use crate::raw::{Driver, call, made, ok, stream, trials};

trials! {
    memory_is_copied_and_filled,
    kernels_have_names_and_limits,
}

fn memory_is_copied_and_filled(_: &Driver) {
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

fn kernels_have_names_and_limits(driver: &Driver) {
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
    let module = made!(cuModuleLoadData(
        c".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry a() { ret; }".as_ptr().cast()
    ));
    assert_eq!(call!(cuModuleGetFunction(&raw mut missing, module, c"b".as_ptr())), CUresult::CUDA_ERROR_NOT_FOUND);
}
