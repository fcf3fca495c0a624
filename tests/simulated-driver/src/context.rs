//! Contexts, and which is current on a thread.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Instant;

use cuda_sys::CUresult;

use crate::abi::{Handle, Result};
use crate::state::{Guard, State, wait, wait_until};
use crate::stream::{self, Kind};
use crate::{capture, device, exec, gate};

/// A context: a primary one that is in use, or one that was created.
#[derive(Debug)]
pub(crate) struct Context {
    /// Another one each time that a primary context is made.
    pub(crate) id: u64,
    pub(crate) legacy: Handle,
    pub(crate) per_thread: BTreeMap<u64, Handle>,
    /// What the device died of.
    pub(crate) fault: Option<CUresult>,
    /// Calls report the fault. Until then enqueueing succeeds.
    pub(crate) noticed: bool,
    /// Until then nobody can tell a fault from work that takes long.
    pub(crate) visible_at: Option<Instant>,
    pub(crate) enqueued_since_fault: u64,
    /// A primary context that was reset, and not retained since.
    pub(crate) destroyed: bool,
    pub(crate) flags: u32,
}

/// The device's primary context.
#[derive(Debug)]
pub(crate) struct Primary {
    pub(crate) handle: Handle,
    pub(crate) references: u32,
    pub(crate) flags: u32,
}

impl Primary {
    pub(crate) const NEW: Self = Self { handle: Handle::NULL, references: 0, flags: 0 };
}

thread_local! {
    /// The last one is current.
    static STACK: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
}

/// The context current on this thread, or NULL.
pub(crate) fn current_or_null() -> Handle {
    STACK.with_borrow(|stack| stack.last().copied().unwrap_or(Handle::NULL))
}

/// The context current on this thread, which must be usable. Code that the driver runs has none.
pub(crate) fn current(state: &State) -> Result<Handle> {
    if gate::is_outside() {
        return Err(CUresult::CUDA_ERROR_NOT_PERMITTED);
    }
    usable(state, current_or_null())
}

/// Checks that a handle is a context, and alive.
pub(crate) fn usable(state: &State, handle: Handle) -> Result<Handle> {
    match state.contexts.get(&handle) {
        None => Err(CUresult::CUDA_ERROR_INVALID_CONTEXT),
        Some(context) if context.destroyed => Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED),
        Some(_) => Ok(handle),
    }
}

pub(crate) fn set_current(state: &State, handle: Handle) -> Result {
    if handle != Handle::NULL && !state.contexts.contains_key(&handle) {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    STACK.with_borrow_mut(|stack| {
        stack.pop();
        if handle != Handle::NULL {
            stack.push(handle);
        }
    });
    Ok(())
}

pub(crate) fn push(state: &State, handle: Handle) -> Result {
    if !state.contexts.contains_key(&handle) {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    STACK.with_borrow_mut(|stack| stack.push(handle));
    Ok(())
}

pub(crate) fn pop() -> Result<Handle> {
    STACK.with_borrow_mut(Vec::pop).ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)
}

pub(crate) fn create(state: &mut State, flags: u32) -> Handle {
    let handle = state.new_handle();
    fill(state, handle, flags);
    handle
}

fn fill(state: &mut State, handle: Handle, flags: u32) {
    let context = Context {
        id: state.next_sequence(),
        legacy: Handle::NULL,
        per_thread: BTreeMap::new(),
        fault: None,
        noticed: false,
        visible_at: None,
        enqueued_since_fault: 0,
        destroyed: false,
        flags,
    };
    state.contexts.insert(handle, context);
    let legacy = stream::add(state, handle, Kind::Legacy, 0, 0);
    if let Some(context) = state.contexts.get_mut(&handle) {
        context.legacy = legacy;
    }
}

/// Retains the primary context, and makes it if there is none, or if it was reset. After a fault of the device, the
/// process cannot have it again.
pub(crate) fn retain_primary(state: &mut State) -> Result<Handle> {
    if state.primary.handle == Handle::NULL {
        state.primary.handle = state.new_handle();
    }
    let (handle, flags) = (state.primary.handle, state.primary.flags);
    match state.contexts.get(&handle).filter(|context| context.destroyed) {
        Some(Context { fault: Some(fault), .. }) => return Err(*fault),
        Some(_) => fill(state, handle, flags),
        None if !state.contexts.contains_key(&handle) => fill(state, handle, flags),
        None => {}
    }
    state.primary.references += 1;
    Ok(handle)
}

/// Releases the primary context; the last reference destroys it.
pub(crate) fn release_primary(state: &mut Guard) -> Result {
    if state.primary.references == 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    state.primary.references -= 1;
    if state.primary.references == 0 {
        reset_primary(state);
    }
    Ok(())
}

/// Waits for what is pending and destroys all that belongs to the primary context.
pub(crate) fn reset_primary(state: &mut Guard) {
    let handle = state.primary.handle;
    if !is_active(state) {
        return;
    }
    finish(state, handle);
    clear(state, handle);
    if let Some(context) = state.contexts.get_mut(&handle) {
        context.destroyed = true;
    }
}

pub(crate) fn is_active(state: &State) -> bool {
    state.contexts.get(&state.primary.handle).is_some_and(|context| !context.destroyed)
}

/// Destroys a context that was created.
pub(crate) fn destroy(state: &mut Guard, handle: Handle) -> Result {
    usable(state, handle)?;
    if handle == state.primary.handle {
        return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    }
    finish(state, handle);
    clear(state, handle);
    state.contexts.remove(&handle);
    STACK.with_borrow_mut(|stack| {
        if stack.last() == Some(&handle) {
            stack.pop();
        }
    });
    Ok(())
}

/// Waits for the work of a context, as long as it is done at all.
fn finish(state: &mut Guard, context: Handle) {
    while state.streams.values().any(|stream| stream.context == context && !stream.queue.is_empty())
        || state.host.iter().any(|call| call.context == context)
        || state.outside > 0
    {
        wait(state);
    }
}

/// Forgets what belongs to a context. Graphs belong to none.
fn clear(state: &mut State, context: Handle) {
    capture::abandon_all(state, context);
    state.streams.retain(|_, stream| stream.context != context);
    state.events.retain(|_, event| event.context != context);
    state.functions.retain(|_, function| function.context != context);
    state.modules.retain(|_, module| module.context != context);
    state.memory.free_all(context);
    exec::destroy_all(state, context);
    if let Some(context) = state.contexts.get_mut(&context) {
        context.per_thread.clear();
    }
}

/// Waits for all work of a context, and reports a fault.
pub(crate) fn synchronize(state: &mut Guard, handle: Handle) -> Result {
    notice(state, handle)?;
    let last = state.next_sequence();
    loop {
        notice(state, handle)?;
        let pending = |stream: &stream::Stream| stream.queue.front().is_some_and(|item| item.sequence < last);
        let is_pending = state.streams.values().any(|stream| stream.context == handle && pending(stream));
        if !is_pending && hidden_until(state, handle).is_none() {
            return notice(state, handle);
        }
        wait_for_change(state, handle);
    }
}

/// A call that would see a fault of the device: reports it, from now on to all calls.
pub(crate) fn notice(state: &mut State, handle: Handle) -> Result {
    if hidden_until(state, handle).is_some() {
        return Ok(());
    }
    match state.contexts.get_mut(&handle) {
        Some(Context { fault: Some(code), noticed, .. }) => {
            *noticed = true;
            Err(*code)
        }
        _ => Ok(()),
    }
}

/// When a fault that nobody can see yet will be seen.
pub(crate) fn hidden_until(state: &State, handle: Handle) -> Option<Instant> {
    state.contexts.get(&handle)?.visible_at.filter(|visible_at| *visible_at > Instant::now())
}

/// Waits for something to change in a context, a hidden fault's becoming visible included.
pub(crate) fn wait_for_change(state: &mut Guard, handle: Handle) {
    match hidden_until(state, handle) {
        Some(visible_at) => wait_until(state, visible_at),
        None => wait(state),
    }
}

/// A call that reports a fault only if it was noticed before.
pub(crate) fn check(state: &State, handle: Handle) -> Result {
    match state.contexts.get(&handle) {
        Some(Context { fault: Some(code), noticed: true, .. }) => Err(*code),
        _ => Ok(()),
    }
}

/// Something is put into a stream of the context: `Ok(false)` if it will never run, which nobody has noticed yet.
pub(crate) fn on_enqueue(state: &mut State, handle: Handle) -> Result<bool> {
    check(state, handle)?;
    let State { contexts, faults, .. } = state;
    match contexts.get_mut(&handle) {
        Some(context) if context.fault.is_some() => {
            context.enqueued_since_fault += 1;
            if faults.is_noticed_after(context.enqueued_since_fault) {
                return notice(state, handle).map(|()| false);
            }
            Ok(false)
        }
        _ => Ok(true),
    }
}

/// The only device there is.
pub(crate) fn check_device(device: i32) -> Result {
    if device == device::ORDINAL { Ok(()) } else { Err(CUresult::CUDA_ERROR_INVALID_DEVICE) }
}
