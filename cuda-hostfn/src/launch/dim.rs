//! Three-dimensional sizes.

use std::fmt;

/// A size in three dimensions (`dim3`): from a number, a pair, a triple or an array, with 1 for what is missing.
///
/// ```
/// use cuda_hostfn::Dim3;
///
/// assert_eq!(Dim3::from((16, 2)), Dim3 { x: 16, y: 2, z: 1 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// The first dimension.
    pub x: u32,
    /// The second.
    pub y: u32,
    /// The third.
    pub z: u32,
}

impl Dim3 {
    /// x × y × z; 0 if one is 0, and at most `u64::MAX`.
    #[inline]
    pub const fn count(self) -> u64 {
        (self.x as u64 * self.y as u64).saturating_mul(self.z as u64)
    }

    /// The first dimension that is 0.
    pub(super) fn zero(self) -> Option<usize> {
        [self.x, self.y, self.z].into_iter().position(|size| size == 0)
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self { x, y, z }
    }
}

impl From<[u32; 3]> for Dim3 {
    fn from([x, y, z]: [u32; 3]) -> Self {
        Self { x, y, z }
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}
