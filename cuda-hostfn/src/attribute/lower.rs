//! Values as the driver's bytes, and back. Nothing else in the crate touches the union.
//!
//! The union has had one size and one layout for each member in every header, so that members newer than the header of
//! this build need no special case.

use std::mem::{self, MaybeUninit, align_of, size_of};
use std::{fmt, ptr, slice};

use crate::sys::{CUaccessPolicyWindow, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue};

/// The 64 bytes of a `CUlaunchAttributeValue`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C, align(8))]
pub struct AttributeValue([u8; AttributeValue::SIZE]);

const _: () = {
    assert!(size_of::<AttributeValue>() == size_of::<CUlaunchAttributeValue>());
    assert!(align_of::<AttributeValue>() == align_of::<CUlaunchAttributeValue>());
};

impl AttributeValue {
    /// How many bytes there are.
    pub const SIZE: usize = 64;

    /// All bytes 0.
    pub const ZERO: Self = Self([0; Self::SIZE]);

    /// These bytes, then zeros; `None` if there are more than [`SIZE`](Self::SIZE).
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut value = Self::ZERO;
        value.0.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(value)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; Self::SIZE] {
        &self.0
    }

    /// The member `T` of the union at the front, zeros behind it.
    #[inline]
    pub(super) fn of<T: Member>(member: T) -> Self {
        const { assert!(size_of::<T>() <= Self::SIZE) };
        let mut value = Self::ZERO;
        // SAFETY: a `Member` has no padding, so all its bytes are initialised.
        let bytes = unsafe { slice::from_raw_parts((&raw const member).cast::<u8>(), size_of::<T>()) };
        value.0[..bytes.len()].copy_from_slice(bytes);
        value
    }

    /// The member `T` of the union.
    #[inline]
    pub(super) fn get<T: Member>(&self) -> T {
        const { assert!(size_of::<T>() <= Self::SIZE) };
        // SAFETY: inside the array, and every bit pattern is a `Member`.
        unsafe { ptr::read_unaligned(self.0.as_ptr().cast::<T>()) }
    }

    /// For the driver, which may write (an attribute can return something) although some of its signatures say `const`.
    #[inline]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut CUlaunchAttributeValue {
        ptr::from_mut(self).cast()
    }
}

impl fmt::Debug for AttributeValue {
    /// In hexadecimal, without the zeros at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.0.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        write!(f, "AttributeValue(")?;
        self.0[..length].iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        write!(f, ")")
    }
}

/// A member of the union, as C lays it out.
///
/// # Safety
///
/// No padding, and every bit pattern is a value.
pub(super) unsafe trait Member: Copy {}

macro_rules! members {
    ($($type:ty),*) => {$(
        // SAFETY: integers, floats and structures of them; the assertions below rule padding out.
        unsafe impl Member for $type {}
    )*};
}

members!(i32, u32, [u32; 3], [u8; 2], WindowMember, EventMember, DeviceNodeMember);

/// `accessPolicyWindow`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct WindowMember {
    pub base: u64,
    pub bytes: usize,
    pub hit_ratio: f32,
    pub hit: u32,
    pub miss: u32,
    pub padding: u32,
}

/// `programmaticEvent`, and `launchCompletionEvent`, which lacks the last field.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct EventMember {
    pub event: usize,
    pub flags: i32,
    pub trigger_at_block_start: i32,
}

/// `deviceUpdatableKernelNode`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct DeviceNodeMember {
    pub is_updatable: i32,
    pub padding: u32,
    pub node: usize,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<WindowMember>() == 8 + 8 + 4 * 4);
    assert!(size_of::<EventMember>() == 8 + 4 + 4);
    assert!(size_of::<DeviceNodeMember>() == 4 + 4 + 8);
    assert!(size_of::<WindowMember>() == size_of::<CUaccessPolicyWindow>());
    assert!(mem::offset_of!(WindowMember, miss) == mem::offset_of!(CUaccessPolicyWindow, missProp));
};

/// The most attributes that one launch can have.
pub const MAX_ATTRIBUTES: usize = 32;

/// The attributes of one launch as the driver takes them, on the stack.
#[expect(missing_debug_implementations, reason = "internal; its entries may be uninitialised")]
pub struct Lowered {
    entries: [MaybeUninit<CUlaunchAttribute>; MAX_ATTRIBUTES],
    length: usize,
}

impl Lowered {
    pub(crate) const fn new() -> Self {
        Self { entries: [const { MaybeUninit::uninit() }; MAX_ATTRIBUTES], length: 0 }
    }

    /// Sets an attribute; the caller has made sure that there is room. An earlier one of that number is replaced: the
    /// driver would skip some values, such as a cluster of 0, and obey the earlier one.
    #[inline]
    pub(crate) fn set(&mut self, id: u32, value: AttributeValue) {
        // SAFETY: both are 64 bytes, asserted above, and the union takes every bit pattern.
        let value = unsafe { mem::transmute::<AttributeValue, CUlaunchAttributeValue>(value) };
        let position = self.position(id).unwrap_or(self.length);
        self.entries[position].write(CUlaunchAttribute { id: CUlaunchAttributeID(id as _), pad: [0; 4], value });
        self.length = self.length.max(position + 1);
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut CUlaunchAttribute {
        self.entries.as_mut_ptr().cast()
    }

    /// What the driver made of the attribute of that number.
    pub(crate) fn get(&self, id: u32) -> Option<AttributeValue> {
        let value = self.written()[self.position(id)?].value;
        // SAFETY: all 64 bytes are initialised: `set` wrote them all, and the driver does not uninitialise them.
        Some(unsafe { mem::transmute::<CUlaunchAttributeValue, AttributeValue>(value) })
    }

    #[inline]
    fn position(&self, id: u32) -> Option<usize> {
        self.written().iter().position(|entry| entry.id == CUlaunchAttributeID(id as _))
    }

    #[inline]
    fn written(&self) -> &[CUlaunchAttribute] {
        // SAFETY: `set` wrote the first `length` entries.
        unsafe { self.entries[..self.length].assume_init_ref() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_at_the_front_and_zeros_behind() {
        let value = AttributeValue::of([1_u32, 2, 3]);
        assert_eq!(value.get::<[u32; 3]>(), [1, 2, 3]);
        assert_eq!(value.get::<u32>(), 1);
        assert!(value.as_bytes()[12..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn bytes() {
        assert_eq!(AttributeValue::from_bytes(&[7]), Some(AttributeValue::of([7_u8, 0])));
        assert_eq!(AttributeValue::from_bytes(&[1; 64]).map(|value| value.0), Some([1; 64]));
        assert_eq!(AttributeValue::from_bytes(&[0; 65]), None);
        assert_eq!(format!("{:?}", AttributeValue::of([2_u8, 16])), "AttributeValue(0210)");
    }

    #[test]
    fn the_last_of_a_number_replaces_the_others() {
        let mut lowered = Lowered::new();
        lowered.set(8, AttributeValue::of(-5));
        lowered.set(2, AttributeValue::of(1));
        lowered.set(8, AttributeValue::of(0));
        assert_eq!(lowered.len(), 2);
        assert_eq!(lowered.get(8), Some(AttributeValue::of(0)));
        assert_eq!(lowered.get(2), Some(AttributeValue::of(1)));
        assert_eq!(lowered.get(4), None);
    }

    #[test]
    fn every_slot_can_be_filled() {
        let mut lowered = Lowered::new();
        (0..32).for_each(|id| lowered.set(id, AttributeValue::ZERO));
        assert_eq!(lowered.len(), MAX_ATTRIBUTES);
    }
}
