//! Commands and counters, as text. [`crate::client`] has the same as functions.

use std::time::{Duration, Instant};

use cuda_sys::CUresult;

use crate::exports;
use crate::faults::{Faults, When};
use crate::memory::Kind;
use crate::state::{self, lock};
use crate::worker;

/// Does what a command says; `None` if it says nothing that is known.
pub(crate) fn command(text: &str) -> Option<()> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut state = lock();
    match words[..] {
        ["fail", function, nth, code, when] if is_exported(function) => {
            let when = match when {
                "before" => When::Before,
                "after" => When::After,
                _ => return None,
            };
            state.faults.fail(function, nth.parse().ok()?, CUresult(code.parse().ok()?), when);
        }
        ["host-function", nth, "runs", times] => state.faults.run_host_function(nth.parse().ok()?, times.parse().ok()?),
        ["schedule", seed, microseconds] => {
            state.faults.schedule(seed.parse().ok()?, Duration::from_micros(microseconds.parse().ok()?));
        }
        ["notice-fault-after", enqueued] => state.faults.notice_after(enqueued.parse().ok()?),
        ["fault", code] => {
            let context = state.primary.handle;
            worker::fault(&mut state, context, CUresult(code.parse().ok()?));
        }
        ["notice-fault-delay", milliseconds] => {
            state.faults.notice_delay = Duration::from_millis(milliseconds.parse().ok()?);
        }
        ["enqueue-waits"] => state.faults.enqueue_waits = true,
        ["calm"] => state.faults = Faults::NONE,
        ["settle", milliseconds] => {
            let deadline = Instant::now() + Duration::from_millis(milliseconds.parse().ok()?);
            while !state.is_idle() {
                if Instant::now() >= deadline {
                    return None;
                }
                state::wait_until(&mut state, deadline);
            }
        }
        _ => return None,
    }
    state.changed();
    Some(())
}

/// Whether a name is one of ours, so that a misspelt one is found out.
fn is_exported(function: &str) -> bool {
    exports::names().any(|name| name.name == function)
}

/// A counter's value; `None` if there is none of that name.
pub(crate) fn counter(name: &str) -> Option<u64> {
    let state = lock();
    if let Some(function) = name.strip_prefix("calls.") {
        return is_exported(function).then(|| state.calls.get(function).copied().unwrap_or(0));
    }
    let of_size = |size: usize| size as u64;
    Some(match name {
        "contexts" => of_size(state.contexts.values().filter(|context| !context.destroyed).count()),
        "primary-references" => state.primary.references.into(),
        "streams" => of_size(state.streams.values().filter(|stream| stream.is_of_program()).count()),
        "events" => of_size(state.events.len()),
        "modules" => of_size(state.modules.len()),
        "graphs" => of_size(state.graphs.values().filter(|graph| !graph.is_child && !graph.is_capturing).count()),
        "executable-graphs" => of_size(state.execs.len()),
        "captures" => of_size(state.captures.len()),
        "user-objects" => of_size(state.user_objects.len()),
        "device-allocations" => of_size(state.memory.count(Kind::Device)),
        "host-allocations" => of_size(state.memory.count(Kind::PinnedHost)),
        "host-registrations" => of_size(state.memory.count(Kind::RegisteredHost)),
        "pending" => of_size(state.streams.values().map(|stream| stream.queue.len()).sum()),
        "spin-wait-host-functions" => state.spin_wait_host_functions,
        "host-functions-run" => state.host_functions_run,
        "destructors-run" => state.destructors_run,
        _ => return None,
    })
}
