//! Does what suites say, and counts what they ask for.

use std::time::Instant;

use cuda_sys::CUresult;
use simulated_driver_client::protocol::{Command, Counter, Kind};

use crate::exports;
use crate::faults::Faults;
use crate::memory;
use crate::state::{self, lock};
use crate::worker;

/// Does what a command says; `None` if it cannot be done.
pub(crate) fn command(command: Command) -> Option<()> {
    let mut state = lock();
    match command {
        Command::Fail { function, nth, code, when } => {
            exported(&function)?;
            state.faults.fail(&function, nth, CUresult(code), when);
        }
        Command::RunHostFunction { nth, times } => state.faults.run_host_function(nth, times),
        Command::Schedule { seed, delay } => state.faults.schedule(seed, delay),
        Command::Fault { code } => {
            let context = state.primary.handle;
            worker::fault(&mut state, context, CUresult(code));
        }
        Command::NoticeFaultAfter { enqueued } => state.faults.notice_after(enqueued),
        Command::DelayNoticeOfFault { delay } => state.faults.notice_delay = delay,
        Command::LetEnqueueingWait => state.faults.enqueue_waits = true,
        Command::ShareConnections { count } => state.faults.connections = Some(count.max(1)),
        Command::RefuseWideOperations => state.faults.is_without_wide_operations = true,
        Command::Calm => state.faults = Faults::NONE,
        Command::Settle { longest } => {
            let deadline = Instant::now() + longest;
            while !state.is_idle() {
                if Instant::now() >= deadline {
                    return None;
                }
                state::wait_until(&mut state, deadline);
            }
        }
    }
    state.changed();
    Some(())
}

/// Only names of ours, so that a misspelt one is found out.
fn exported(function: &str) -> Option<()> {
    exports::names().any(|name| name == function).then_some(())
}

/// A counter's value; `None` if there is none of that name.
pub(crate) fn counter(counter: Counter) -> Option<u64> {
    let state = lock();
    Some(match counter {
        Counter::Alive(kind) => alive(&state, kind),
        Counter::Calls { function } => {
            exported(&function)?;
            state.calls.get(&*function).copied().unwrap_or(0)
        }
        Counter::Pending => state.streams.values().map(|stream| stream.queue.len() as u64).sum(),
        Counter::SpinWaitHostFunctions => state.spin_wait_host_functions,
        Counter::HostFunctionsRun => state.host_functions_run,
        Counter::DestructorsRun => state.destructors_run,
    })
}

fn alive(state: &state::State, kind: Kind) -> u64 {
    let count = match kind {
        Kind::Contexts => state.contexts.values().filter(|context| !context.destroyed).count(),
        Kind::PrimaryReferences => return state.primary.references.into(),
        Kind::Streams => state.streams.values().filter(|stream| stream.is_of_program()).count(),
        Kind::Events => state.events.len(),
        Kind::Modules => state.modules.len(),
        Kind::Graphs => state.graphs.values().filter(|graph| !graph.is_child && !graph.is_capturing).count(),
        Kind::ExecutableGraphs => state.execs.len(),
        Kind::Captures => state.captures.len(),
        Kind::UserObjects => state.user_objects.len(),
        Kind::DeviceAllocations => state.memory.count(memory::Kind::Device),
        Kind::HostAllocations => state.memory.count(memory::Kind::PinnedHost),
        Kind::HostRegistrations => state.memory.count(memory::Kind::RegisteredHost),
    };
    count as u64
}
