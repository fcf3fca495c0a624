//! Closures of executable graphs, which the driver keeps nothing for: an executable graph has no user objects but those
//! of the graph that it was made from.
//!
//! So it is made from a graph that has a [`Keeper`] for a moment. The driver then gives the keeper up when the executable
//! graph is gone and its last launch is done, and with it the closures.

use std::ffi::c_void;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::captured::{self, Replayed};
use super::stack::Node;
use super::user_object::{self, Owned};
use super::{EnqueueError, reclaim, trampoline};
use crate::sys::{CUgraph, CUgraphNode, CUhostFn};
use crate::{Error, Result};

type Closure = Box<dyn FnMut() + Send>;

/// Owned by one executable graph, through the driver.
#[repr(C)]
pub(crate) struct Keeper {
    node: Node,
    slots: Mutex<Vec<Arc<Slot>>>,
}

/// What an executable graph has of its keeper.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Weak<Keeper>);

/// A closure's place: the driver is given its address. When no launch needs the closure any more, the place can have
/// another one; it stays where it is until the executable graph is gone, so that a launch that this crate does not know
/// of finds a place, if not the closure.
#[repr(C)]
struct Slot {
    header: Replayed,
    /// The lock is held while the closure runs.
    closure: Mutex<Option<Closure>>,
    /// Locked for a few instructions.
    usage: Mutex<Usage>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Usage {
    of: Of,
    /// How often the closure was called.
    calls: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// Another closure may come.
    Nobody,
    /// A node has the closure, from a number of launches on.
    Node { node: usize, since: u64 },
    /// The closure was replaced, and is called that often in all.
    Pending { due: u64 },
    /// The closure stays: nobody knows who calls it. Or the driver has perhaps kept an address that it has refused.
    Everybody,
}

// SAFETY: `repr(C)`, the node first, whose function takes an `Arc`.
unsafe impl Owned for Keeper {}

impl Keeper {
    unsafe fn reclaim(node: *mut Node) {
        // SAFETY: the node of a keeper; this is the driver's reference.
        let keeper = unsafe { Arc::from_raw(node.cast_const().cast::<Self>()) };
        let slots = std::mem::take(&mut *keeper.slots.lock());
        slots.into_iter().for_each(reclaim::dispose);
    }
}

/// Has `make` make an executable graph that keeps closures, while the graph's context is current.
///
/// # Safety
///
/// The graph lives, and `make` makes an executable graph from it, or gives one the references that it has.
pub(crate) unsafe fn with_keeper<R>(graph: CUgraph, make: impl FnOnce() -> Result<R>) -> Result<(R, Kept)> {
    let keeper = Arc::new(Keeper { node: Node::new(Keeper::reclaim), slots: Mutex::new(Vec::new()) });
    // SAFETY: the caller's promise.
    let object = unsafe { user_object::give(graph, &keeper) }?;
    let made = make();
    // SAFETY: the caller's promise; no node of the graph needs the keeper.
    unsafe { user_object::take_back(graph, object) };
    Ok((made?, Kept(Arc::downgrade(&keeper))))
}

impl Kept {
    /// Keeps a closure that `set` makes a node of the executable graph call, for those launches that come after the
    /// first `launches`. The closure before it, if it is one of these, is given up when those are done, unless
    /// `is_forever`.
    ///
    /// `set` runs no code of the user's.
    pub(crate) fn replace<F: FnMut() + Send + 'static>(
        &self,
        node: CUgraphNode,
        launches: u64,
        is_forever: bool,
        closure: F,
        set: impl FnOnce(CUhostFn, *mut c_void) -> Result<()>,
    ) -> Result<(), EnqueueError<F>> {
        let Some(keeper) = self.0.upgrade() else {
            let rule = "was not instantiated or updated by this crate, and keeps no closures; `update` it first";
            return Err(EnqueueError::new(Error::invalid("executable graph", rule), closure));
        };
        let slot = keeper.free_slot();
        if let Err(error) = set(Some(trampoline::replay), Arc::as_ptr(&slot).cast_mut().cast()) {
            return Err(EnqueueError::new(error, closure));
        }
        let node = node.addr();
        let before = keeper.slots.lock().iter().find(|slot| slot.is_of(node)).cloned();
        slot.fill(Box::new(closure), node, launches);
        if let Some(before) = before {
            before.replaced(launches, is_forever);
        }
        Ok(())
    }
}

impl Keeper {
    /// A place that is nobody's, and is the caller's from now on.
    fn free_slot(&self) -> Arc<Slot> {
        let mut slots = self.slots.lock();
        if let Some(slot) = slots.iter().find(|slot| slot.take_if_free()) {
            return slot.clone();
        }
        let slot = Arc::new(Slot {
            header: Replayed::new(|_| unreachable!("it belongs to a keeper"), Slot::call),
            closure: Mutex::new(None),
            usage: Mutex::new(Usage { of: Of::Everybody, calls: 0 }),
        });
        slots.push(slot.clone());
        slot
    }
}

impl Slot {
    fn is_of(&self, node: usize) -> bool {
        matches!(self.usage.lock().of, Of::Node { node: own, .. } if own == node)
    }

    fn take_if_free(&self) -> bool {
        let mut usage = self.usage.lock();
        let is_free = usage.of == Of::Nobody;
        if is_free {
            usage.of = Of::Everybody;
        }
        is_free
    }

    fn fill(&self, closure: Closure, node: usize, since: u64) {
        *self.closure.lock() = Some(closure);
        *self.usage.lock() = Usage { of: Of::Node { node, since }, calls: 0 };
    }

    /// Another closure is called from now on. Each launch of an executable graph calls each of its host nodes once.
    fn replaced(&self, launches: u64, is_forever: bool) {
        let mut usage = self.usage.lock();
        let Of::Node { since, .. } = usage.of else { return };
        usage.of = if is_forever { Of::Everybody } else { Of::Pending { due: launches - since } };
        self.give_up_if_done(&mut usage);
    }

    unsafe fn call(header: *const Replayed) {
        // SAFETY: the header of such a place.
        let slot = unsafe { &*header.cast::<Self>() };
        captured::run(&slot.closure);
        let mut usage = slot.usage.lock();
        usage.calls += 1;
        slot.give_up_if_done(&mut usage);
    }

    /// Whoever comes last, of the last call and the replacement.
    fn give_up_if_done(&self, usage: &mut Usage) {
        let Of::Pending { due } = usage.of else { return };
        // It runs only if a launch was not counted.
        if usage.calls >= due
            && let Some(mut closure) = self.closure.try_lock()
        {
            let closure = closure.take();
            usage.of = Of::Nobody;
            reclaim::defer(move || drop(closure));
        }
    }
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").field("closures", &self.slots.lock().len()).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_nobody_needs_has_another_closure() {
        let keeper = Arc::new(Keeper { node: Node::new(Keeper::reclaim), slots: Mutex::new(Vec::new()) });
        let kept = Kept(Arc::downgrade(&keeper));
        for _ in 0..10 {
            kept.replace(std::ptr::null_mut(), 0, false, || (), |_, _| Ok(())).expect("kept");
        }
        // That of the last one, and that of the one before.
        assert_eq!(keeper.slots.lock().len(), 2);
    }
}
