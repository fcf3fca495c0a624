//! The memory of records: cache lines of their own, used again and again.
//!
//! A record goes from the thread that enqueues to the driver's and back, and each cache line of it takes a hundred
//! nanoseconds each way. So what is used together lies on one line, and a thread that frees a block keeps it for the next
//! call: the allocator would look at its neighbours, which are on the way elsewhere.

use std::alloc::{self, Layout};
use std::cell::RefCell;
use std::ptr::NonNull;

const ALIGNMENT: usize = 64;
const SIZES: [usize; 2] = [128, 256];

/// How many blocks of a size a thread keeps.
const KEPT: usize = 512;

/// The blocks that a thread has freed.
struct Kept([Vec<NonNull<u8>>; SIZES.len()]);

thread_local! {
    static KEPT_HERE: RefCell<Kept> = const { RefCell::new(Kept([const { Vec::new() }; SIZES.len()])) };
}

impl Drop for Kept {
    fn drop(&mut self) {
        for (size, blocks) in self.0.iter_mut().enumerate() {
            // SAFETY: allocated with that layout, and nobody's.
            blocks.drain(..).for_each(|block| unsafe { alloc::dealloc(block.as_ptr(), layout_of(size)) });
        }
    }
}

/// Which of the sizes values of a type have; `None` if they do not fit.
const fn size_of_block<T>() -> Option<usize> {
    let layout = Layout::new::<T>();
    if layout.align() > ALIGNMENT || layout.size() > SIZES[1] {
        None
    } else if layout.size() > SIZES[0] {
        Some(1)
    } else {
        Some(0)
    }
}

fn layout_of(size: usize) -> Layout {
    Layout::from_size_align(SIZES[size], ALIGNMENT).expect("small powers of two")
}

/// Moves a value into a block. It is not dropped unless [`free`] is called.
pub(super) fn new<T>(value: T) -> NonNull<T> {
    let Some(size) = size_of_block::<T>() else {
        return NonNull::from(Box::leak(Box::new(value)));
    };
    // While the thread ends, it has none.
    let kept = KEPT_HERE.try_with(|kept| kept.borrow_mut().0[size].pop()).ok().flatten();
    let block = kept.unwrap_or_else(|| {
        let layout = layout_of(size);
        // SAFETY: the size is not zero.
        NonNull::new(unsafe { alloc::alloc(layout) }).unwrap_or_else(|| alloc::handle_alloc_error(layout))
    });
    let block = block.cast::<T>();
    // SAFETY: the block is nobody's, and large and aligned enough for the value.
    unsafe { block.write(value) };
    block
}

/// Drops a value and frees its block.
///
/// # Safety
///
/// The value was moved there by [`new`], and nothing uses it any more.
pub(super) unsafe fn free<T>(value: NonNull<T>) {
    let Some(size) = size_of_block::<T>() else {
        // SAFETY: boxed by `new`.
        return drop(unsafe { Box::from_raw(value.as_ptr()) });
    };
    // SAFETY: the caller's promise.
    unsafe { value.drop_in_place() };
    let block = value.cast::<u8>();
    let is_kept = KEPT_HERE.try_with(|kept| {
        let blocks = &mut kept.borrow_mut().0[size];
        let has_room = blocks.len() < KEPT;
        if has_room {
            blocks.push(block);
        }
        has_room
    });
    if !is_kept.unwrap_or(false) {
        // SAFETY: allocated by `new` with that layout.
        unsafe { alloc::dealloc(block.as_ptr(), layout_of(size)) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[repr(align(128))]
    struct Apart {
        _value: Arc<()>,
    }

    fn holds<T>(value: T) {
        let block = new(value);
        assert!(block.is_aligned());
        // SAFETY: just moved there.
        unsafe { free(block) };
    }

    #[test]
    fn values_of_all_sizes_are_kept_and_dropped() {
        let value = Arc::new(());
        holds(value.clone());
        holds((value.clone(), [0_u8; 128]));
        holds((value.clone(), [0_u8; 256]));
        holds(Apart { _value: value.clone() });
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn a_thread_uses_its_blocks_again_and_keeps_no_more_than_it_may() {
        let first = new(1_u64);
        // SAFETY: just moved there.
        unsafe { free(first) };
        let second = new(2_u32);
        assert_eq!(first.addr(), second.addr());
        let others: Vec<_> = (0..2 * KEPT).map(new).collect();
        // SAFETY: moved there above.
        others.into_iter().for_each(|block| unsafe { free(block) });
        // SAFETY: as above.
        unsafe { free(second) };
        KEPT_HERE.with_borrow(|kept| assert_eq!(kept.0[0].len(), KEPT));
    }
}
