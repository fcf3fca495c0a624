//! What loading the driver costs a call: the function as cuda-sys gives it, beside its bare address. `cargo xtask bench`
//! names the driver.

use std::ffi::c_int;
use std::mem;

use cuda_sys::{CUresult, cuDriverGetVersion, driver};
use divan::{Bencher, black_box};

fn main() {
    assert!(driver::is_available(), "needs a driver: {}", driver::load().unwrap_err());
    divan::main();
}

#[divan::bench(sample_count = 500, sample_size = 10_000)]
fn through_the_loader(bencher: Bencher<'_, '_>) {
    let mut version = 0;
    // SAFETY: the pointer is valid.
    bencher.bench_local(|| unsafe { cuDriverGetVersion(black_box(&raw mut version)) });
}

#[divan::bench(sample_count = 500, sample_size = 10_000)]
fn by_its_address(bencher: Bencher<'_, '_>) {
    let address = driver::symbol(c"cuDriverGetVersion").expect("every driver has it");
    // SAFETY: the address is the function's, whose signature this is.
    let function: unsafe extern "C" fn(*mut c_int) -> CUresult = unsafe { mem::transmute(address) };
    let function = black_box(function);
    let mut version = 0;
    // SAFETY: the pointer is valid.
    bencher.bench_local(|| unsafe { function(black_box(&raw mut version)) });
}
