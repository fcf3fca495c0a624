//! User objects: reference counts held by the program, by graphs and by executable graphs; destructors on a thread of
//! the driver's.

use std::collections::BTreeMap;

use cuda_sys::CUresult;

use crate::abi::{Handle, HostFn, Result, UserData};
use crate::gate;
use crate::state::{self, State, find_mut, lock};

/// The only flag there is, and it has to be given.
pub(crate) const NO_DESTRUCTOR_SYNC: u32 = 1;
/// `CU_GRAPH_USER_OBJECT_MOVE`.
pub(crate) const MOVE: u32 = 1;

#[derive(Debug)]
pub(crate) struct UserObject {
    destructor: Destructor,
    /// All references, whoever holds them.
    references: u64,
    /// Those of the program.
    own: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Destructor {
    function: HostFn,
    data: UserData,
}

/// References to user objects, by object.
pub(crate) type References = BTreeMap<Handle, u64>;

/// References that an executable graph and its pending launches hold together.
#[derive(Debug)]
pub(crate) struct Lease {
    holders: usize,
    references: References,
}

pub(crate) fn create(
    state: &mut State,
    function: HostFn,
    data: UserData,
    references: u32,
    flags: u32,
) -> Result<Handle> {
    if references == 0 || flags != NO_DESTRUCTOR_SYNC {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let handle = state.new_handle();
    let references = u64::from(references);
    let object = UserObject { destructor: Destructor { function, data }, references, own: references };
    state.user_objects.insert(handle, object);
    Ok(handle)
}

/// The program takes more references.
pub(crate) fn retain(state: &mut State, object: Handle, count: u32) -> Result {
    check_count(count)?;
    let object = find(state, object)?;
    object.references += u64::from(count);
    object.own += u64::from(count);
    Ok(())
}

/// The program gives references up.
pub(crate) fn release(state: &mut State, object: Handle, count: u32) -> Result {
    check_count(count)?;
    let found = find(state, object)?;
    let left = found.own.checked_sub(u64::from(count)).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    found.own = left;
    drop_references(state, object, u64::from(count));
    Ok(())
}

/// A graph takes references, the program's own ones if they are moved.
pub(crate) fn retain_by_graph(state: &mut State, graph: Handle, object: Handle, count: u32, flags: u32) -> Result {
    check_count(count)?;
    state::find(&state.graphs, graph)?;
    let count = u64::from(count);
    let found = find(state, object)?;
    match flags {
        0 => found.references += count,
        MOVE => found.own = found.own.checked_sub(count).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?,
        _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
    *find_mut(&mut state.graphs, graph)?.user_objects.entry(object).or_default() += count;
    Ok(())
}

pub(crate) fn release_by_graph(state: &mut State, graph: Handle, object: Handle, count: u32) -> Result {
    check_count(count)?;
    let count = u64::from(count);
    let held = &mut find_mut(&mut state.graphs, graph)?.user_objects;
    let left = held.get(&object).and_then(|held| held.checked_sub(count)).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    if left == 0 {
        held.remove(&object);
    } else {
        held.insert(object, left);
    }
    drop_references(state, object, count);
    Ok(())
}

/// As many references again, for a copy of what held them.
pub(crate) fn duplicate(state: &mut State, references: &References) -> References {
    for (object, count) in references {
        if let Some(object) = state.user_objects.get_mut(object) {
            object.references += count;
        }
    }
    references.clone()
}

/// Gives all of them up; destructors run on the driver's thread.
pub(crate) fn drop_all(state: &mut State, references: References) {
    for (object, count) in references {
        drop_references(state, object, count);
    }
}

fn drop_references(state: &mut State, object: Handle, count: u64) {
    if let Some(destructor) = take_references(state, object, count) {
        state.destructors.push_back(destructor);
        state.changed();
    }
}

/// Gives references up, and the destructor out if they were the last.
fn take_references(state: &mut State, handle: Handle, count: u64) -> Option<Destructor> {
    let object = state.user_objects.get_mut(&handle)?;
    object.references = object.references.saturating_sub(count);
    if object.references > 0 {
        return None;
    }
    state.user_objects.remove(&handle).map(|object| object.destructor)
}

/// Gives all of them up, and the destructors to the caller, who runs them on its own thread.
pub(crate) fn take_all(state: &mut State, references: References) -> Vec<Destructor> {
    references.into_iter().filter_map(|(object, count)| take_references(state, object, count)).collect()
}

/// Puts references under the care of one holder.
pub(crate) fn begin_lease(state: &mut State, references: References) -> Handle {
    let handle = state.new_handle();
    state.leases.insert(handle, Lease { holders: 1, references });
    handle
}

pub(crate) fn extend_lease(state: &mut State, lease: Handle) {
    if let Some(lease) = state.leases.get_mut(&lease) {
        lease.holders += 1;
    }
}

/// One holder fewer; the last one gives the references up.
pub(crate) fn end_lease(state: &mut State, handle: Handle) {
    let Some(lease) = state.leases.get_mut(&handle) else { return };
    lease.holders -= 1;
    if lease.holders == 0
        && let Some(lease) = state.leases.remove(&handle)
    {
        drop_all(state, lease.references);
    }
}

fn find(state: &mut State, object: Handle) -> Result<&mut UserObject> {
    state.user_objects.get_mut(&object).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
}

fn check_count(count: u32) -> Result {
    if count == 0 { Err(CUresult::CUDA_ERROR_INVALID_VALUE) } else { Ok(()) }
}

impl Destructor {
    /// Calls it. The state must not be locked.
    pub(crate) fn run(self) {
        // SAFETY: the program gave the function to be called once with this pointer.
        gate::outside(|| unsafe { (self.function)(self.data.0) });
    }
}

/// The life of the thread for destructors.
pub(crate) fn run() {
    let mut state = lock();
    loop {
        let Some(destructor) = state.destructors.pop_front() else {
            state::rest(&mut state);
            continue;
        };
        state.destructors_run += 1;
        state.outside += 1;
        drop(state);
        destructor.run();
        state = lock();
        state.outside -= 1;
        state.changed();
    }
}
