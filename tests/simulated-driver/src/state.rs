//! All that the driver knows, behind one lock. No code of the program's ever runs while it is held.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use cuda_sys::CUresult;
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::abi::{Handle, Result};
use crate::capture::Capture;
use crate::context::{Context, Primary};
use crate::event::Event;
use crate::exec::Exec;
use crate::faults::Faults;
use crate::graph::{Graph, Node};
use crate::host_functions::HostCall;
use crate::memory::Memory;
use crate::module::{Function, Module};
use crate::stream::Stream;
use crate::user_object::{Destructor, Lease, UserObject};

/// Objects by handle.
pub(crate) type Table<T> = BTreeMap<Handle, T>;

pub(crate) struct State {
    pub(crate) initialised: bool,
    handles: u64,
    sequence: u64,
    pub(crate) streams_created: u64,
    pub(crate) primary: Primary,
    pub(crate) contexts: Table<Context>,
    pub(crate) streams: Table<Stream>,
    pub(crate) events: Table<Event>,
    pub(crate) modules: Table<Module>,
    pub(crate) functions: Table<Function>,
    pub(crate) captures: Table<Capture>,
    pub(crate) graphs: Table<Graph>,
    pub(crate) nodes: Table<Node>,
    pub(crate) execs: Table<Exec>,
    pub(crate) user_objects: Table<UserObject>,
    pub(crate) leases: Table<Lease>,
    pub(crate) memory: Memory,
    /// What the driver's thread for host functions has to do, in order.
    pub(crate) host: VecDeque<HostCall>,
    pub(crate) destructors: VecDeque<Destructor>,
    /// Calls of the program's code that a thread of the driver's is in just now.
    pub(crate) outside: usize,
    pub(crate) is_in_host_function: bool,
    pub(crate) faults: Faults,
    pub(crate) calls: BTreeMap<&'static str, u64>,
    pub(crate) host_functions_run: u64,
    /// Host functions that were launched for the stream to spin until they return.
    pub(crate) spin_wait_host_functions: u64,
    pub(crate) destructors_run: u64,
}

static STATE: Mutex<State> = Mutex::new(State {
    initialised: false,
    handles: 0,
    sequence: 0,
    streams_created: 0,
    primary: Primary::NEW,
    contexts: Table::new(),
    streams: Table::new(),
    events: Table::new(),
    modules: Table::new(),
    functions: Table::new(),
    captures: Table::new(),
    graphs: Table::new(),
    nodes: Table::new(),
    execs: Table::new(),
    user_objects: Table::new(),
    leases: Table::new(),
    memory: Memory::NEW,
    host: VecDeque::new(),
    destructors: VecDeque::new(),
    outside: 0,
    is_in_host_function: false,
    faults: Faults::NONE,
    calls: BTreeMap::new(),
    host_functions_run: 0,
    spin_wait_host_functions: 0,
    destructors_run: 0,
});

/// Something changed that a thread of the program's may wait for.
static CHANGED: Condvar = Condvar::new();

/// There may be something to do for a thread of the driver's.
static WORK: Condvar = Condvar::new();

pub(crate) type Guard = MutexGuard<'static, State>;

pub(crate) fn lock() -> Guard {
    STATE.lock()
}

/// Lets the other threads on until one of them says that something changed.
pub(crate) fn wait(state: &mut Guard) {
    CHANGED.wait(state);
}

/// As [`wait`], and no longer than until then.
pub(crate) fn wait_until(state: &mut Guard, deadline: Instant) {
    CHANGED.wait_until(state, deadline);
}

/// For calls that enqueue: waits while a host function runs, if that was asked for.
pub(crate) fn hold_back(state: &mut Guard) {
    while state.faults.enqueue_waits && state.is_in_host_function {
        wait(state);
    }
}

/// As [`wait`], for the threads of the driver's.
pub(crate) fn rest(state: &mut Guard) {
    WORK.wait(state);
}

/// Lets the other threads on for a moment.
pub(crate) fn pause(state: &mut Guard) {
    MutexGuard::unlocked_fair(state, std::thread::yield_now);
}

/// As [`rest`], and no longer than until then.
pub(crate) fn rest_until(state: &mut Guard, deadline: Instant) {
    WORK.wait_until(state, deadline);
}

impl State {
    /// Wakes all who wait.
    pub(crate) fn changed(&self) {
        CHANGED.notify_all();
        self.work_added();
    }

    /// Wakes the driver's threads.
    #[expect(clippy::unused_self, reason = "only who holds the state has something to tell")]
    pub(crate) fn work_added(&self) {
        WORK.notify_all();
    }

    pub(crate) fn new_handle(&mut self) -> Handle {
        self.handles += 1;
        Handle::nth(self.handles)
    }

    /// A number that grows with each piece of work, by which the work of a device is ordered.
    pub(crate) fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Nothing is left to be done by any thread of the driver's.
    pub(crate) fn is_idle(&self) -> bool {
        let streams = self.streams.values().all(|stream| stream.queue.is_empty());
        streams && self.host.is_empty() && self.destructors.is_empty() && self.outside == 0
    }
}

/// Looks an object up; a handle that is not one is an invalid handle.
pub(crate) fn find<T>(table: &Table<T>, handle: Handle) -> Result<&T> {
    table.get(&handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
}

pub(crate) fn find_mut<T>(table: &mut Table<T>, handle: Handle) -> Result<&mut T> {
    table.get_mut(&handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
}
