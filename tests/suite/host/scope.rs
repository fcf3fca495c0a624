//! Closures that borrow.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use cuda_hostfn::{Error, host};
use libtest_mimic::Failed;
use tests::{Drops, Machine, Row, check, equal, touch};

pub const TRIALS: &[Row] = &[
    ("scope: closures borrow, and have run when it ends", borrows),
    ("scope: so also if the body fails or panics", body),
    ("scope: a panic of a closure comes out, after all have run", panics),
];

fn borrows(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let mut words = vec![0_u32; 64];
    let calls = AtomicU32::new(0);
    let drops = Drops::default();
    let result = stream.scope(|scope| {
        for chunk in words.chunks_mut(16) {
            let (calls, value) = (&calls, drops.value());
            scope.host_launch(move || {
                thread::sleep(Duration::from_millis(1));
                chunk.fill(7);
                calls.fetch_add(1, Ordering::Relaxed);
                touch(&value);
            })?;
        }
        Ok("result")
    })?;
    equal("result", &result, &"result")?;
    equal("calls", &calls.load(Ordering::Relaxed), &4)?;
    equal("words", &words, &vec![7; 64])?;
    equal("dropped", &drops.count(), &4)?;
    check(drops.all_here(), || "dropped on another thread".to_owned())
}

fn body(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let calls = AtomicU32::new(0);
    let slow = || {
        thread::sleep(Duration::from_millis(5));
        calls.fetch_add(1, Ordering::Relaxed);
    };
    let failed: Result<(), Error> = stream.scope(|scope| {
        scope.host_launch(slow)?;
        Err(Error::Capturing)
    });
    check(matches!(failed, Err(Error::Capturing)), || format!("{failed:?}"))?;
    equal("calls", &calls.load(Ordering::Relaxed), &1)?;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        stream.scope(|scope| -> Result<(), Error> {
            scope.host_launch(slow)?;
            panic!("the body");
        })
    }));
    equal("payload", &panicked.unwrap_err().downcast_ref(), &Some(&"the body"))?;
    equal("calls", &calls.load(Ordering::Relaxed), &2)
}

fn panics(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let calls = AtomicU32::new(0);
    let before = host::counters().panics;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        stream.scope(|scope| {
            scope.host_launch(|| panic!("the closure"))?;
            scope.host_launch(|| touch(calls.fetch_add(1, Ordering::Relaxed)))?;
            Ok(())
        })
    }));
    equal("payload", &panicked.unwrap_err().downcast_ref(), &Some(&"the closure"))?;
    equal("calls", &calls.load(Ordering::Relaxed), &1)?;
    equal("counted", &(host::counters().panics - before), &1)
}
