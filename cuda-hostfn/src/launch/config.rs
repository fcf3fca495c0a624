//! The shape and the attributes of a launch.

use super::{Attributes, Dim3, LaunchAttribute};
use crate::{Error, Result};

/// How a kernel is launched. Plain data: copy it, keep it, launch with it from many threads at once.
///
/// Attributes are collected by type, so that the size is known when the program is compiled. There can be 32.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct LaunchConfig<L = ()> {
    pub(super) grid: Dim3,
    pub(super) block: Dim3,
    pub(super) dynamic_shared_memory: u32,
    pub(super) attributes: L,
}

impl LaunchConfig {
    /// A grid of blocks of threads, without dynamic shared memory and without attributes.
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        Self { grid: grid.into(), block: block.into(), dynamic_shared_memory: 0, attributes: () }
    }
}

impl<L: Attributes> LaunchConfig<L> {
    /// Dynamic shared memory of each block, in bytes. More than 48 KiB needs
    /// [`Kernel::set_max_dynamic_shared_memory`](crate::Kernel::set_max_dynamic_shared_memory).
    pub const fn dynamic_shared_memory(mut self, bytes: u32) -> Self {
        self.dynamic_shared_memory = bytes;
        self
    }

    /// Adds an attribute, or an `Option` of one, of which `None` is as if it had not been added. If the same attribute
    /// is added twice, the last one counts.
    ///
    /// Having an attribute is not the same as its usual value: with `Priority::DEFAULT` the launch has that priority,
    /// without the attribute it has its stream's.
    pub fn attribute<A: LaunchAttribute>(self, attribute: A) -> LaunchConfig<(L, A)> {
        let Self { grid, block, dynamic_shared_memory, attributes } = self;
        LaunchConfig { grid, block, dynamic_shared_memory, attributes: (attributes, attribute) }
    }
}

impl<L> LaunchConfig<L> {
    /// The blocks in the grid.
    pub const fn grid(&self) -> Dim3 {
        self.grid
    }

    /// The threads in a block.
    pub const fn block(&self) -> Dim3 {
        self.block
    }

    /// Dynamic shared memory of each block, in bytes.
    pub(crate) const fn shared_memory(&self) -> u32 {
        self.dynamic_shared_memory
    }

    /// Checks what needs no driver: sizes of 0, and blocks of more than `max_threads`.
    #[inline]
    pub(crate) fn check_shape(&self, max_threads: u64) -> Result<()> {
        let is_good = self.grid.count() != 0 && (1..=max_threads).contains(&self.block.count());
        if is_good { Ok(()) } else { Err(refused_shape(self.grid, self.block, max_threads)) }
    }
}

#[cold]
fn refused_shape(grid: Dim3, block: Dim3, max_threads: u64) -> Error {
    let zero = |axis: usize, fields: [&'static str; 3]| Error::invalid(fields[axis], "is 0");
    if let Some(axis) = grid.zero() {
        return zero(axis, ["grid.x", "grid.y", "grid.z"]);
    }
    if let Some(axis) = block.zero() {
        return zero(axis, ["block.x", "block.y", "block.z"]);
    }
    let rule = format!("{block} has {} threads, more than the {max_threads} that the kernel can have", block.count());
    Error::invalid("block", rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Priority;
    use crate::attribute::Cooperative;

    fn rule<L>(config: &LaunchConfig<L>) -> String {
        config.check_shape(1024).unwrap_err().to_string()
    }

    #[test]
    fn shapes() {
        assert!(LaunchConfig::new(1, 1024).check_shape(1024).is_ok());
        assert_eq!(rule(&LaunchConfig::new((1, 0), 32)), "grid.y: is 0");
        assert_eq!(rule(&LaunchConfig::new(1, (32, 1, 0))), "block.z: is 0");
        let large = "block: (1024, 2, 1) has 2048 threads, more than the 1024 that the kernel can have";
        assert_eq!(rule(&LaunchConfig::new(1, (1024, 2))), large);
        let overflow = LaunchConfig::new(1, (u32::MAX, u32::MAX, u32::MAX));
        assert!(overflow.check_shape(1024).is_err());
    }

    #[test]
    fn a_configuration_is_plain_data() {
        fn plain<T: Copy + Send + Sync + 'static>(_: &T) {}
        plain(&LaunchConfig::new(1, 1).attribute(Cooperative(true)).attribute(Some(Priority::DEFAULT)));
    }
}
