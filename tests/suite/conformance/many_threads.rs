//! Many threads at once; on the simulated driver in the disorder of several seeds.

use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::raw::{Driver, begin_capture, count, end_capture, instantiate, ok, pointer, stream, trials};

trials! {
    each_stream_keeps_its_order,
    all_may_use_one_stream,
    all_may_capture_and_replay,
}

const THREADS: usize = 16;
const LAUNCHES: u32 = 50;

/// Numbers in the order in which they came.
struct Log(Mutex<Vec<u32>>);

/// One entry of a log, handed to a host function.
struct Entry<'log> {
    log: &'log Log,
    number: u32,
}

unsafe extern "C" fn write(entry: *mut c_void) {
    // SAFETY: the test passes a box of its own; each is called once.
    let entry = unsafe { Box::from_raw(entry.cast::<Entry<'_>>()) };
    entry.log.0.lock().unwrap().push(entry.number);
}

fn disorder(driver: &Driver, seed: u64) {
    if let Some(client) = driver.client {
        client.schedule(seed, Duration::from_micros(20));
    }
}

/// Runs the body on many threads, on which the context is current.
fn on_threads(driver: &Driver, body: impl Fn(usize) + Sync) {
    let context = driver.context.addr();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let body = &body;
            scope.spawn(move || {
                ok!(cuCtxSetCurrent(std::ptr::without_provenance_mut(context)));
                body(thread);
            });
        }
    });
}

fn each_stream_keeps_its_order(driver: &Driver) {
    for seed in 0..2 {
        disorder(driver, seed);
        on_threads(driver, |_| {
            let (stream, log) = (stream(), Log(Mutex::default()));
            for number in 0..LAUNCHES {
                let entry = Box::into_raw(Box::new(Entry { log: &log, number }));
                ok!(cuLaunchHostFunc(stream, Some(write), entry.cast()));
            }
            ok!(cuStreamSynchronize(stream));
            let log = log.0.into_inner().unwrap();
            assert!(log.iter().copied().eq(0..LAUNCHES), "seed {seed}: {log:?}");
            ok!(cuStreamDestroy(stream));
        });
    }
}

fn all_may_use_one_stream(driver: &Driver) {
    let (stream, counter) = (stream().addr(), AtomicU32::new(0));
    on_threads(driver, |_| {
        let stream = std::ptr::without_provenance_mut(stream);
        for _ in 0..LAUNCHES {
            ok!(cuLaunchHostFunc(stream, Some(count), pointer(&counter)));
        }
        ok!(cuStreamSynchronize(stream));
    });
    assert_eq!(counter.load(Ordering::SeqCst), LAUNCHES * u32::try_from(THREADS).unwrap());
}

fn all_may_capture_and_replay(driver: &Driver) {
    disorder(driver, 1);
    on_threads(driver, |_| {
        let (stream, counter) = (stream(), AtomicU32::new(0));
        begin_capture(stream);
        ok!(cuLaunchHostFunc(stream, Some(count), pointer(&counter)));
        let graph = end_capture(stream);
        let exec = instantiate(graph);
        for _ in 0..10 {
            ok!(cuGraphLaunch(exec, stream));
        }
        ok!(cuGraphExecDestroy(exec));
        ok!(cuGraphDestroy(graph));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(counter.load(Ordering::SeqCst), 10);
    });
}
