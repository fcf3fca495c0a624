//! The memory of records: slots, sixty-four in a block, that a context keeps and uses again and again.
//!
//! A record goes from the thread that enqueues to the driver's and back, and a cache line that another processor wrote
//! last takes a hundred nanoseconds and more. So the way back touches no record: the driver's thread marks the slot in a
//! word of the block, and who needs slots takes all that are marked.

use std::mem::{MaybeUninit, offset_of};
use std::ptr::NonNull;

use super::marks::{Marks, indices};
use super::reclaim;
use super::record::{self, Header};
use super::stack::Node;

/// What the driver's thread writes comes first, on lines of its own.
#[derive(Debug)]
#[repr(C, align(128))]
pub(super) struct Block {
    /// In a stack while there are marks of garbage.
    node: Node,
    /// The records that have run, and have something to be dropped.
    garbage: Marks,
    /// The slots that nobody uses any more.
    over: Marks,
    slots: [Slot; Marks::COUNT],
}

/// Two cache lines, of which a small closure needs one.
#[derive(Debug)]
#[repr(C, align(128))]
struct Slot {
    header: Header,
    payload: MaybeUninit<[u8; Slot::SIZE - size_of::<Header>()]>,
}

impl Slot {
    const SIZE: usize = 128;
}

/// Whether a record has room in a slot.
pub(super) const fn fits<R>() -> bool {
    size_of::<R>() <= Slot::SIZE && align_of::<R>() <= align_of::<Slot>()
}

impl Block {
    pub(super) fn new() -> NonNull<Self> {
        let slot = |index| Slot { header: Header::vacant(index), payload: MaybeUninit::uninit() };
        let slots = std::array::from_fn(|index| slot(index.try_into().expect("fewer than 256")));
        let (node, garbage, over) = (Node::new(reclaim_all), Marks::new(), Marks::new());
        NonNull::from(Box::leak(Box::new(Self { node, garbage, over, slots })))
    }

    /// # Safety
    ///
    /// Made by [`Block::new`], and no slot of it is used any more.
    pub(super) unsafe fn free(block: NonNull<Self>) {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(block.as_ptr()) });
    }

    /// # Safety
    ///
    /// The block lives, and has that many slots.
    pub(super) unsafe fn slot(block: NonNull<Self>, index: u8) -> NonNull<Header> {
        // SAFETY: inside the block, says the caller.
        unsafe { block.byte_add(offset(index)) }.cast()
    }

    /// # Safety
    ///
    /// The header is a slot's of a block.
    unsafe fn of(header: NonNull<Header>) -> NonNull<Self> {
        // SAFETY: the slot lives, and its index never changes.
        let index = unsafe { header.as_ref() }.index;
        // SAFETY: inside the block.
        unsafe { header.byte_sub(offset(index)) }.cast()
    }

    /// The slots that nobody used any more, which are the caller's now.
    ///
    /// # Safety
    ///
    /// The block lives.
    pub(super) unsafe fn take_over(block: NonNull<Self>) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { block.as_ref() }.over.take()
    }
}

const fn offset(index: u8) -> usize {
    offset_of!(Block, slots) + index as usize * size_of::<Slot>()
}

/// Hands a slot back to its context.
///
/// # Safety
///
/// The header is a slot's, and nobody uses the record any more. The block may be gone afterwards.
pub(super) unsafe fn hand_back(header: NonNull<Header>) {
    // SAFETY: the caller's promise.
    let block = unsafe { Block::of(header) };
    // SAFETY: the slot lives, and its index never changes.
    let index = unsafe { header.as_ref() }.index;
    // SAFETY: the block lives while one of its slots is in use.
    let over = unsafe { &(*block.as_ptr()).over };
    over.raise(index);
    reclaim::slots_are_over();
}

/// Has a record reclaimed by an ordinary thread.
///
/// # Safety
///
/// The header is a slot's, and the driver's reference to its record comes with it.
pub(super) unsafe fn discard(header: NonNull<Header>) {
    // SAFETY: the caller's promise.
    let block = unsafe { Block::of(header) };
    // SAFETY: the slot lives, and its index never changes.
    let index = unsafe { header.as_ref() }.index;
    // SAFETY: the block lives while one of its slots is in use: until this record is reclaimed.
    let garbage = unsafe { &(*block.as_ptr()).garbage };
    if garbage.raise(index) {
        // SAFETY: it is in no stack: who takes it off takes the marks afterwards. Only then can the block go.
        unsafe { reclaim::push(block.as_ptr().cast()) };
    }
}

/// Reclaims the records that are marked as garbage.
unsafe fn reclaim_all(node: *mut Node) {
    #[expect(clippy::cast_ptr_alignment, reason = "a block's first field")]
    let Some(block) = NonNull::new(node.cast::<Block>()) else { return };
    // SAFETY: the node is the first field of a block, some of whose slots are in use.
    let garbage = unsafe { block.as_ref() }.garbage.take();
    for index in indices(garbage) {
        reclaim::count();
        // SAFETY: a block lives while one of its slots is in use: this one, until its record is reclaimed.
        let header = unsafe { Block::slot(block, index) };
        // SAFETY: the driver's reference came with the mark.
        unsafe { record::reclaim(header) };
    }
}
