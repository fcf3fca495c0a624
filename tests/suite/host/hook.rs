//! What the hook is told.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, ThreadId};

use cuda_hostfn::host::{self, Call, Moment};
use cuda_hostfn::{CaptureMode, in_host_function};
use libtest_mimic::Failed;
use parking_lot::Mutex;
use tests::{Machine, Row, check, equal};

pub const TRIALS: &[Row] = &[("hook: the moments of each call, where they are, and nothing once it is off", moments)];

static TOLD: Mutex<Vec<(Call, Moment, ThreadId)>> = Mutex::new(Vec::new());
static WRONG: AtomicU32 = AtomicU32::new(0);

fn hook(call: Call, moment: Moment) {
    let is_drivers = matches!(moment, Moment::Started | Moment::Finished);
    WRONG.fetch_add(u32::from(in_host_function() != is_drivers), Ordering::Relaxed);
    TOLD.lock().push((call, moment, thread::current().id()));
    assert_ne!(moment, Moment::Finished, "a hook that panics is contained");
}

fn moments(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let before = host::counters().secondary_panics;
    host::set_hook(Some(hook));
    let task = stream.host_task(|| 7)?;
    stream.retire(vec![1])?;
    equal("result", &task.join()?, &7)?;
    stream.synchronize()?;
    host::set_hook(None);
    stream.host_task(|| ())?.join()?;
    stream.begin_capture(CaptureMode::ThreadLocal)?;
    stream.host_launch(|| ())?;
    drop(stream.end_capture()?);

    let told = std::mem::take(&mut *TOLD.lock());
    equal("told", &told.len(), &6)?;
    equal("told on the wrong thread", &WRONG.load(Ordering::Relaxed), &0)?;
    for moment in [Moment::Enqueued, Moment::Started, Moment::Finished] {
        let calls: Vec<Call> = told.iter().filter(|told| told.1 == moment).map(|told| told.0).collect();
        check(calls.len() == 2 && calls[0] != calls[1], || format!("{moment:?}: {calls:?}"))?;
    }
    equal("panics of the hook", &(host::counters().secondary_panics - before), &2)
}
