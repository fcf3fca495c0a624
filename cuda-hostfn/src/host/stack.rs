//! A lock-free stack of things to be reclaimed: the driver's threads push, ordinary threads take all at once.
//!
//! It is intrusive, so that a push neither allocates nor blocks; and since nothing but the whole is ever taken off, a
//! node cannot come back under a thread that looks at it.

use std::ptr;

#[cfg(not(loom))]
use std::sync::atomic::{AtomicPtr, Ordering};

#[cfg(loom)]
use loom::sync::atomic::{AtomicPtr, Ordering};

/// The first field, under `repr(C)`, of everything that can be reclaimed.
#[derive(Debug)]
pub(super) struct Node {
    next: AtomicPtr<Node>,
    reclaim: unsafe fn(*mut Node),
}

impl Node {
    /// `reclaim` takes over what the node is the first field of. It is called once, by an ordinary thread.
    pub(super) fn new(reclaim: unsafe fn(*mut Node)) -> Self {
        Self { next: AtomicPtr::new(ptr::null_mut()), reclaim }
    }
}

/// On cache lines of its own: the driver's thread writes it all the time.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Stack {
    head: AtomicPtr<Node>,
}

impl Stack {
    #[cfg(not(loom))]
    pub(super) const fn new() -> Self {
        Self { head: AtomicPtr::new(ptr::null_mut()) }
    }

    #[cfg(loom)]
    pub(super) fn new() -> Self {
        Self { head: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Nearly free; a push that is under way on another thread may not be seen.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.head.load(Ordering::Relaxed).is_null()
    }

    /// # Safety
    ///
    /// `node` is in no stack, and what it is the first field of belongs to the stack from now on.
    pub(super) unsafe fn push(&self, node: *mut Node) {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            // SAFETY: the node is this thread's until the exchange succeeds.
            unsafe { &*node }.next.store(head, Ordering::Relaxed);
            match self.head.compare_exchange_weak(head, node, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Takes everything off, the oldest first.
    pub(super) fn take(&self) -> Taken {
        let mut newest = self.head.swap(ptr::null_mut(), Ordering::Acquire);
        let mut first = ptr::null_mut();
        // SAFETY: what was taken off belongs to this thread.
        while let Some(node) = unsafe { newest.as_ref() } {
            let next = node.next.load(Ordering::Relaxed);
            node.next.store(first, Ordering::Relaxed);
            (first, newest) = (newest, next);
        }
        Taken(first)
    }
}

/// What was taken off a stack. It has to be gone through: what is left is leaked.
#[derive(Debug)]
pub(super) struct Taken(*mut Node);

impl Iterator for Taken {
    type Item = Garbage;

    fn next(&mut self) -> Option<Garbage> {
        let node = self.0;
        // SAFETY: what was taken off belongs to this value.
        self.0 = unsafe { node.as_ref() }?.next.load(Ordering::Relaxed);
        Some(Garbage(node))
    }
}

/// One thing to be reclaimed.
#[derive(Debug)]
pub(super) struct Garbage(*mut Node);

impl Garbage {
    pub(super) fn reclaim(self) {
        // SAFETY: the node was taken off, once.
        let reclaim = unsafe { &*self.0 }.reclaim;
        // SAFETY: what it is the first field of is given up here.
        unsafe { reclaim(self.0) };
    }
}

#[cfg(all(test, loom))]
mod models {
    use loom::sync::Arc;
    use loom::thread;

    use super::{Node, Stack};

    #[repr(C)]
    struct Item {
        node: Node,
        value: loom::cell::UnsafeCell<u32>,
    }

    fn push(stack: &Stack, value: u32) {
        let item = Item { node: Node::new(|_| ()), value: loom::cell::UnsafeCell::new(value) };
        // SAFETY: a new item, whose first field is the node.
        unsafe { stack.push(Box::into_raw(Box::new(item)).cast()) };
    }

    fn values(stack: &Stack) -> Vec<u32> {
        let items = stack.take().map(|garbage| garbage.0.cast::<Item>());
        // SAFETY: taken off once; all are items.
        items.map(|item| unsafe { Box::from_raw(item) }.value.with_mut(|value| unsafe { *value })).collect()
    }

    #[test]
    fn everything_is_taken_once_in_order() {
        loom::model(|| {
            let stack = Arc::new(Stack::new());
            let driver = {
                let stack = stack.clone();
                thread::spawn(move || {
                    push(&stack, 1);
                    push(&stack, 2);
                })
            };
            let other = {
                let stack = stack.clone();
                thread::spawn(move || values(&stack))
            };
            let mut all = values(&stack);
            driver.join().unwrap();
            let others = other.join().unwrap();
            assert!(all.is_sorted() && others.is_sorted());
            all.extend(others);
            all.extend(values(&stack));
            all.sort_unstable();
            assert_eq!(all, [1, 2]);
        });
    }
}
