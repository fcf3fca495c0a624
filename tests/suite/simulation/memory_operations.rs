//! Stream memory operations on demand: that they fail, come late, or are not all there.

use std::ptr;
use std::time::Duration;

use cuda_sys::{CUdevice_attribute, CUresult, CUstreamBatchMemOpParams};
use simulated_driver_client::{Client, When};

use crate::raw::{Driver, call, ok, read, stream, trials, until, word, write};

trials! {
    a_batch_fails_on_demand,
    a_device_can_be_without_64_bit_operations,
    a_seed_lets_streams_wait_for_each_other_and_come_late,
    streams_share_connections_if_they_are_told_to,
    a_batch_that_is_not_there_is_told,
}

fn client(driver: &Driver) -> Client {
    driver.client.expect("the simulated driver is loaded")
}

fn write_32(word: *mut u32, value: u64) -> CUstreamBatchMemOpParams {
    CUstreamBatchMemOpParams { pad: [2, word.expose_provenance() as u64, value, 0, 0, 0] }
}

fn a_batch_fails_on_demand(driver: &Driver) {
    let (stream, word) = (stream(), word());
    let batch = |value| call!(cuStreamBatchMemOp_v2(stream, 1, [write_32(word, value)].as_mut_ptr(), 0));
    let code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    client(driver).fail("cuStreamBatchMemOp_v2", 2, code, When::Before);
    client(driver).fail("cuStreamBatchMemOp_v2", 3, code, When::After);
    assert_eq!([1, 2].map(batch), [CUresult::CUDA_SUCCESS, code]);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read(word), 1);
    assert_eq!(batch(3), code);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read(word), 3, "done, and reported as failed");
}

fn a_device_can_be_without_64_bit_operations(driver: &Driver) {
    let (stream, word) = (stream(), word());
    let (address, mut has) = (word.expose_provenance() as u64, 9);
    client(driver).refuse_64_bit_operations();
    ok!(cuDeviceGetAttribute(&raw mut has, CUdevice_attribute(122), 0));
    assert_eq!(has, 0);
    let refused = CUresult::CUDA_ERROR_NOT_SUPPORTED;
    assert_eq!(call!(cuStreamWriteValue64_v2(stream, address, 1, 0)), refused);
    assert_eq!(call!(cuStreamWaitValue64_v2(stream, address, 1, 0)), refused);
    let wide = CUstreamBatchMemOpParams { pad: [5, address, 1, 0, 0, 0] };
    assert_eq!(call!(cuStreamBatchMemOp_v2(stream, 2, [write_32(word, 1), wide].as_mut_ptr(), 0)), refused);
    ok!(cuStreamWriteValue32_v2(stream, address, 2, 0));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(read(word), 2);
    client(driver).calm();
    ok!(cuDeviceGetAttribute(&raw mut has, CUdevice_attribute(122), 0));
    assert_eq!(has, 1);
}

/// Each stream of a ring waits for the one before it; however late they come, they go round in order.
fn a_seed_lets_streams_wait_for_each_other_and_come_late(driver: &Driver) {
    const ROUNDS: u32 = 20;
    for seed in 0..4 {
        client(driver).schedule(seed, Duration::from_micros(200));
        let streams = [(); 4].map(|()| stream());
        let words = [(); 4].map(|()| word());
        for round in 1..=ROUNDS {
            for (place, stream) in streams.into_iter().enumerate() {
                let (before, own) = (words[(place + 3) % 4], words[place]);
                let expected = if place == 0 { round - 1 } else { round };
                ok!(cuStreamWaitValue32_v2(stream, before.expose_provenance() as u64, expected, 1));
                ok!(cuStreamWriteValue32_v2(stream, own.expose_provenance() as u64, round, 0));
            }
        }
        ok!(cuCtxSynchronize());
        assert_eq!(words.map(read), [ROUNDS; 4], "seed {seed}");
    }
}

/// As on a device: of eight streams that ring and wait for the answer, so many ring at a time.
fn streams_share_connections_if_they_are_told_to(driver: &Driver) {
    const STREAMS: usize = 8;
    for connections in [1, 3, 8] {
        client(driver).share_connections(connections.try_into().unwrap());
        let streams = [(); STREAMS].map(|()| stream());
        let (bells, answers) = ([(); STREAMS].map(|()| word()), [(); STREAMS].map(|()| word()));
        for place in 0..STREAMS {
            let ring = write_32(bells[place], 1);
            let wait = CUstreamBatchMemOpParams { pad: [1, answers[place].expose_provenance() as u64, 1, 1, 0, 0] };
            ok!(cuStreamBatchMemOp_v2(streams[place], 2, [ring, wait].as_mut_ptr(), 0));
        }
        for (answered, answer) in answers.into_iter().enumerate() {
            let rung = || bells.iter().filter(|bell| read(**bell) == 1).count();
            let expected = (answered + connections).min(STREAMS);
            until("as many ring as can", || rung() == expected);
            std::thread::sleep(Duration::from_millis(1));
            assert_eq!(rung(), expected);
            write(answer, 1);
        }
        ok!(cuCtxSynchronize());
    }
}

/// A real driver crashes.
fn a_batch_that_is_not_there_is_told(_: &Driver) {
    let code = call!(cuStreamBatchMemOp_v2(stream(), 1, ptr::null_mut(), 0));
    assert_eq!(code, CUresult::CUDA_ERROR_INVALID_VALUE);
}
