//! Sixty-four flags in a word: the driver's thread raises them one by one, ordinary threads take all at once.

#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug)]
pub(super) struct Marks(AtomicU64);

impl Marks {
    pub(super) const COUNT: usize = u64::BITS as usize;

    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Whether it is the first since all were taken.
    pub(super) fn raise(&self, index: u8) -> bool {
        self.0.fetch_or(1 << index, Ordering::Release) == 0
    }

    /// Nearly free if there are none.
    pub(super) fn take(&self) -> u64 {
        if self.0.load(Ordering::Relaxed) == 0 { 0 } else { self.0.swap(0, Ordering::Acquire) }
    }
}

/// The indices of the bits that are set, the lowest first.
pub(super) fn indices(mut bits: u64) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let index = bits.trailing_zeros();
        bits &= bits.checked_sub(1)?;
        #[expect(clippy::cast_possible_truncation, reason = "at most 63")]
        Some(index as u8)
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn all_are_taken_once() {
        let marks = Marks::new();
        assert!(marks.raise(63) && !marks.raise(0) && !marks.raise(7));
        assert_eq!(indices(marks.take()).collect::<Vec<_>>(), [0, 7, 63]);
        assert_eq!(marks.take(), 0);
        assert!(marks.raise(7));
    }
}

#[cfg(all(test, loom))]
mod models {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::Marks;

    struct Slots {
        marks: Marks,
        values: [UnsafeCell<u32>; 2],
    }

    // SAFETY: this is what the model checks.
    unsafe impl Sync for Slots {}
    // SAFETY: as above.
    unsafe impl Send for Slots {}

    #[test]
    fn who_takes_a_mark_sees_what_was_written_and_each_round_has_one_first() {
        loom::model(|| {
            let slots = Arc::new(Slots { marks: Marks::new(), values: [UnsafeCell::new(0), UnsafeCell::new(0)] });
            let drivers = [0_u8, 1].map(|index| {
                let slots = slots.clone();
                thread::spawn(move || {
                    // SAFETY: the slot is this thread's until it is marked; loom checks.
                    slots.values[usize::from(index)].with_mut(|value| unsafe { *value = 7 });
                    u32::from(slots.marks.raise(index))
                })
            });
            let mut rounds = 0;
            let mut taken = 0;
            let mut take = || {
                let bits = slots.marks.take();
                rounds += u32::from(bits != 0);
                for index in super::indices(bits) {
                    // SAFETY: the slot is this thread's now; loom checks.
                    assert_eq!(slots.values[usize::from(index)].with_mut(|value| unsafe { *value }), 7);
                    taken += 1;
                }
            };
            take();
            let firsts: u32 = drivers.map(|driver| driver.join().unwrap()).iter().sum();
            take();
            assert_eq!((taken, firsts), (2, rounds));
        });
    }
}
