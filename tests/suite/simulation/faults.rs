//! Faults of the device on demand. Each leaves its process without one, so each has a process of its own.

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use cuda_sys::CUresult;
use simulated_driver_client::Client;

use crate::raw::{Driver, call, count, launch, made, ok, pointer, read, stream, trials, until, word, write};

trials! {
    enqueueing_does_not_notice_a_trap,
    a_fault_can_be_had_without_a_kernel_and_be_noticed_by_enqueueing,
    a_fault_looks_like_work_for_a_while_if_it_is_told_to,
    no_bell_rings_after_a_fault,
}

const LOST: CUresult = CUresult::CUDA_ERROR_LAUNCH_FAILED;

fn client(driver: &Driver) -> Client {
    driver.client.expect("the simulated driver is loaded")
}

fn enqueueing_does_not_notice_a_trap(driver: &Driver) {
    let (stream, counter) = (stream(), AtomicU32::new(0));
    assert_eq!(launch(stream, driver.kernel(c"trap"), &mut []), CUresult::CUDA_SUCCESS);
    until("it has trapped", || client(driver).pending() == 0);
    for _ in 0..100 {
        ok!(cuLaunchHostFunc(stream, Some(count), pointer(&counter)));
    }
    assert_eq!(call!(cuStreamSynchronize(stream)), LOST);
    assert_eq!(call!(cuLaunchHostFunc(stream, Some(count), pointer(&counter))), LOST);
    assert_eq!(counter.load(Ordering::SeqCst), 0);
}

fn a_fault_can_be_had_without_a_kernel_and_be_noticed_by_enqueueing(driver: &Driver) {
    let (stream, counter) = (stream(), AtomicU32::new(0));
    client(driver).notice_fault_after(3);
    client(driver).fault(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    let codes: Vec<_> = (0..5).map(|_| call!(cuLaunchHostFunc(stream, Some(count), pointer(&counter)))).collect();
    let (ok, lost) = (CUresult::CUDA_SUCCESS, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_eq!(codes, [ok, ok, ok, lost, lost]);
}

fn a_fault_looks_like_work_for_a_while_if_it_is_told_to(driver: &Driver) {
    let (stream, event) = (stream(), made!(cuEventCreate(2)));
    client(driver).delay_notice_of_fault(Duration::from_millis(60));
    let start = Instant::now();
    client(driver).fault(LOST);
    ok!(cuLaunchHostFunc(stream, Some(count), ptr::null_mut()));
    ok!(cuEventQuery(event));
    assert_eq!(call!(cuStreamQuery(stream)), CUresult::CUDA_ERROR_NOT_READY);
    assert_eq!(call!(cuStreamSynchronize(stream)), LOST);
    assert!(start.elapsed() >= Duration::from_millis(60));
    assert_eq!(call!(cuEventQuery(event)), LOST);
}

fn no_bell_rings_after_a_fault(driver: &Driver) {
    let (waiting, other, bell, answer) = (stream(), stream(), word(), word());
    let (to_bell, to_answer) = (bell.expose_provenance() as u64, answer.expose_provenance() as u64);
    ok!(cuStreamWaitValue32_v2(waiting, to_answer, 1, 1));
    ok!(cuStreamWriteValue32_v2(waiting, to_bell, 1, 0));
    client(driver).fault(LOST);
    write(answer, 1);
    ok!(cuStreamWriteValue32_v2(other, to_bell, 2, 0));
    assert_eq!(client(driver).pending(), 0);
    assert_eq!(call!(cuStreamSynchronize(waiting)), LOST);
    assert_eq!(call!(cuStreamWriteValue32_v2(other, to_bell, 3, 0)), LOST);
    assert_eq!(read(bell), 0);
}
