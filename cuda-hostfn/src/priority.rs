//! Priorities, in an order that cannot be misread: CUDA counts downwards.
//!
//! ```
//! use cuda_hostfn::Priority;
//!
//! let (urgent, normal) = (Priority::from_raw(-5), Priority::DEFAULT);
//! assert!(urgent > normal);
//! ```

use std::cmp::Ordering;

use crate::{Error, Result};

/// The priority of a stream, a launch or a graph node. A greater `Priority` is more urgent; CUDA's own number, which
/// [`Priority::from_raw`] and [`Priority::as_raw`] speak, is smaller then.
///
/// Kernels of greater priority are preferred whenever blocks are scheduled; running blocks are not interrupted. On a
/// launch, having the attribute with [`Priority::DEFAULT`] is not the same as not having it: without it, a launch takes
/// its stream's priority.
///
/// In a graph, nodes' priorities count if it is instantiated with
/// [`use_node_priority`](crate::InstantiateOptions::use_node_priority); otherwise its launch has the priority of the
/// stream that it is launched into.
///
/// Drivers clamp numbers out of range without a word. This crate refuses them: see [`PriorityRange::clamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Priority(i32);

impl Priority {
    /// 0, what a stream has when nothing was asked for, and the lowest of the range.
    pub const DEFAULT: Self = Self(0);

    /// From CUDA's number: −5 is more urgent than 0.
    pub const fn from_raw(raw: i32) -> Self {
        Self(raw)
    }

    /// CUDA's number: −5 is more urgent than 0.
    pub const fn as_raw(self) -> i32 {
        self.0
    }
}

impl PartialOrd for Priority {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Priority {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.cmp(&self.0)
    }
}

/// The priorities that a context supports, from [`Context::priority_range`](crate::Context::priority_range).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PriorityRange {
    lowest: Priority,
    highest: Priority,
}

impl PriorityRange {
    /// From CUDA's two numbers, of which the greatest priority is the smaller one.
    pub(crate) const fn new(least: i32, greatest: i32) -> Self {
        Self { lowest: Priority(least), highest: Priority(greatest) }
    }

    /// The least urgent.
    pub const fn lowest(self) -> Priority {
        self.lowest
    }

    /// The most urgent.
    pub const fn highest(self) -> Priority {
        self.highest
    }

    /// Whether the priority is in the range.
    pub fn contains(self, priority: Priority) -> bool {
        (self.lowest..=self.highest).contains(&priority)
    }

    /// The nearest priority in the range.
    pub fn clamp(self, priority: Priority) -> Priority {
        priority.clamp(self.lowest, self.highest)
    }

    /// `priority`, if it is in the range.
    pub(crate) fn check(self, priority: Priority) -> Result<()> {
        if self.contains(priority) {
            return Ok(());
        }
        let (lowest, highest) = (self.lowest.0, self.highest.0);
        let rule = format!(
            "{} is not between {lowest} (lowest) and {highest} (highest); clamp it if you want that",
            priority.0
        );
        Err(Error::invalid("Priority", rule))
    }
}

#[cfg(test)]
mod tests {
    use super::{Priority, PriorityRange};

    const RANGE: PriorityRange = PriorityRange::new(0, -5);

    #[test]
    fn urgent_is_greater() {
        assert!(Priority::from_raw(-5) > Priority::DEFAULT);
        assert!(RANGE.highest() > RANGE.lowest());
        assert_eq!([Priority(-1), Priority(-3), Priority(0)].iter().max(), Some(&Priority(-3)));
    }

    #[test]
    fn range() {
        assert!(RANGE.contains(Priority(0)) && RANGE.contains(Priority(-5)));
        assert!(!RANGE.contains(Priority(1)) && !RANGE.contains(Priority(-6)));
        assert_eq!(RANGE.clamp(Priority(-9)), Priority(-5));
        assert_eq!(RANGE.clamp(Priority(4)), Priority(0));
        let error = RANGE.check(Priority(-6)).unwrap_err().to_string();
        assert_eq!(error, "Priority: -6 is not between 0 (lowest) and -5 (highest); clamp it if you want that");
    }
}
