//! Failures on demand that leave the device whole. `faults.rs` has those that do not.

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cuda_sys::CUresult;
use simulated_driver_client::{Client, Kind, When};

use crate::raw::{Driver, call, count, ok, pointer, stream, trials, until};

trials! {
    the_nth_call_fails_before_it_does_anything,
    a_call_can_fail_and_have_done_it_all_the_same,
    a_host_function_runs_as_often_as_it_is_told,
    enqueueing_waits_while_a_host_function_runs_if_it_is_told,
    a_name_that_no_version_has_is_a_mistake_of_the_tests,
    calls_are_counted,
}

fn client(driver: &Driver) -> Client {
    driver.client.expect("the simulated driver is loaded")
}

fn the_nth_call_fails_before_it_does_anything(driver: &Driver) {
    client(driver).fail("cuStreamCreate", 2, CUresult::CUDA_ERROR_OUT_OF_MEMORY, When::Before);
    let before = client(driver).alive(Kind::Streams);
    let mut made = ptr::null_mut();
    let codes = [(); 3].map(|()| call!(cuStreamCreate(&raw mut made, 0)));
    assert_eq!(codes, [CUresult::CUDA_SUCCESS, CUresult::CUDA_ERROR_OUT_OF_MEMORY, CUresult::CUDA_SUCCESS]);
    assert_eq!(client(driver).alive(Kind::Streams), before + 2);
}

fn a_call_can_fail_and_have_done_it_all_the_same(driver: &Driver) {
    let (stream, counter) = (stream(), AtomicU32::new(0));
    client(driver).fail("cuLaunchHostFunc", 1, CUresult::CUDA_ERROR_UNKNOWN, When::After);
    let code = call!(cuLaunchHostFunc(stream, Some(count), pointer(&counter)));
    assert_eq!(code, CUresult::CUDA_ERROR_UNKNOWN);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(counter.load(Ordering::SeqCst), 1);
}

fn a_host_function_runs_as_often_as_it_is_told(driver: &Driver) {
    let (stream, counter) = (stream(), AtomicU32::new(0));
    for (times, after) in [(0, 0), (1, 1), (3, 4)] {
        client(driver).run_host_function(1, times);
        ok!(cuLaunchHostFunc(stream, Some(count), pointer(&counter)));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(counter.load(Ordering::SeqCst), after);
    }
}

fn enqueueing_waits_while_a_host_function_runs_if_it_is_told(driver: &Driver) {
    static MAY_END: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn wait(_: *mut std::ffi::c_void) {
        while MAY_END.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
    }
    let (first, second, counter) = (stream(), stream(), AtomicU32::new(0));
    let before = client(driver).host_functions_run();
    client(driver).let_enqueueing_wait();
    ok!(cuLaunchHostFunc(first, Some(wait), ptr::null_mut()));
    until("it runs", || client(driver).host_functions_run() > before);
    let start = Instant::now();
    let late = std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(30));
        MAY_END.store(1, Ordering::SeqCst);
    });
    ok!(cuLaunchHostFunc(second, Some(count), pointer(&counter)));
    assert!(start.elapsed() >= Duration::from_millis(30));
    late.join().unwrap();
    ok!(cuCtxSynchronize());
    assert_eq!(counter.load(Ordering::SeqCst), 1);
}

fn a_name_that_no_version_has_is_a_mistake_of_the_tests(driver: &Driver) {
    let client = client(driver);
    let misspelt = std::panic::catch_unwind(move || {
        client.fail("cuStreamCrate", 1, CUresult::CUDA_ERROR_UNKNOWN, When::Before);
    });
    assert!(misspelt.is_err());
}

fn calls_are_counted(driver: &Driver) {
    let before = client(driver).calls("cuStreamQuery");
    for _ in 0..3 {
        call!(cuStreamQuery(ptr::null_mut()));
    }
    assert_eq!(client(driver).calls("cuStreamQuery"), before + 3);
}
