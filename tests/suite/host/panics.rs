//! Panics stop at the boundary.

use std::panic::panic_any;
use std::sync::Arc;

use cuda_hostfn::host::{self, set_panic_handler};
use cuda_hostfn::{CaptureMode, TaskError};
use libtest_mimic::Failed;
use parking_lot::Mutex;
use tests::{Drops, Gate, Machine, Row, check, equal, soon};

pub const TRIALS: &[Row] = &[
    ("panics: join gets the payload, and the stream goes on", payload),
    ("panics: the handler is told of the others", handler),
    ("panics: a handler that panics, a payload that does", unruly),
    ("panics: a captured closure panics at each launch, and the graph stays usable", captured),
];

fn payload(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let before = host::counters().panics;
    let text = stream.host_task(|| -> () { panic!("number {}", 7) })?;
    let number = stream.host_task(|| -> () { panic_any(7_u8) })?;
    let drops = Drops::default();
    let kept = stream.host_task_with(drops.value(), |_| -> () { panic!("with a value") })?;
    let after = stream.host_task(|| "went on")?;
    match text.join() {
        Err(TaskError::Panicked(panic)) => equal("text", &panic.message(), &Some("number 7"))?,
        other => return Err(format!("{other:?}").into()),
    }
    match number.join() {
        Err(TaskError::Panicked(panic)) => equal("number", &panic.into_payload().downcast_ref(), &Some(&7_u8))?,
        other => return Err(format!("{other:?}").into()),
    }
    check(kept.join().is_err(), || "no panic".to_owned())?;
    soon("the value", || drops.count() == 1)?;
    check(drops.all_here(), || "dropped on another thread".to_owned())?;
    equal("after", &after.join()?, &"went on")?;
    equal("counted", &(host::counters().panics - before), &3)
}

fn handler(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = told.clone();
    set_panic_handler(Some(Box::new(move |panic| tell.lock().push((panic.to_string(), host::in_host_function())))));
    stream.host_launch(|| panic!("launched"))?;
    stream.synchronize()?;
    let mut gate = Gate::close(&stream)?;
    drop(stream.host_task(|| panic!("detached"))?);
    gate.open();
    stream.synchronize()?;
    soon("told", || told.lock().len() == 2)?;
    set_panic_handler(None);
    stream.host_launch(|| panic!("nobody is told"))?;
    stream.synchronize()?;
    equal("told", &*told.lock(), &vec![("launched".to_owned(), true), ("detached".to_owned(), false)])
}

/// Panics when dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a payload, dropped");
    }
}

fn unruly(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let before = host::counters();
    set_panic_handler(Some(Box::new(|_| panic!("the handler"))));
    stream.host_launch(|| panic_any(Bomb))?;
    drop(stream.host_task(|| panic_any(Bomb))?);
    stream.synchronize()?;
    host::reclaim()?;
    set_panic_handler(None);
    equal("goes on", &stream.host_task(|| 1)?.join()?, &1)?;
    let after = host::counters();
    equal("panics", &(after.panics - before.panics), &2)?;
    // The handler twice, the payloads twice.
    equal("secondary", &(after.secondary_panics - before.secondary_panics), &4)
}

fn captured(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let before = host::counters().panics;
    let mut calls = 0;
    stream.begin_capture(CaptureMode::ThreadLocal)?;
    let result = stream.host_launch(move || {
        calls += 1;
        assert!(calls % 2 == 0, "every other time");
    });
    let graph = stream.end_capture()?;
    result?;
    let executable = graph.instantiate(Default::default())?;
    for _ in 0..6 {
        executable.launch(&stream)?;
    }
    stream.synchronize()?;
    equal("panics", &(host::counters().panics - before), &3)
}
