//! The escape: attributes by number.

use super::place::Place;
use super::{Attribute, AttributeValue, Rules, ValidFor};

/// An attribute by its number and the bytes of its value, for attributes newer than this crate, or to ask a driver what
/// it thinks of one in a place where this crate does not offer it. It is set like any other, in every place, and
/// checked by nothing but the driver.
///
/// ```no_run
/// # fn f(stream: &cuda_hostfn::StreamRef) -> cuda_hostfn::Result<()> {
/// use cuda_hostfn::attribute::RawAttribute;
///
/// // SAFETY: CU_LAUNCH_ATTRIBUTE_PRIORITY takes an int.
/// let priority = unsafe { RawAttribute::from_bytes(8, &(-3_i32).to_ne_bytes()) }.unwrap();
/// stream.set_attribute(priority)?;
/// # Ok(()) }
/// ```
///
/// Reading by number is [`StreamRef::raw_attribute`](crate::StreamRef::raw_attribute) and
/// [`KernelNode::raw_attribute`](crate::KernelNode::raw_attribute); nothing is unsafe about that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawAttribute {
    id: u32,
    value: AttributeValue,
}

impl RawAttribute {
    /// The attribute `id` with a value.
    ///
    /// # Safety
    ///
    /// The value is one that `id` may have in the place where it is set, pointers and handles in it are valid for as
    /// long as the driver uses them, and what the attribute makes the driver do is sound. (An `id` that the driver does
    /// not know is refused and harmless.)
    pub const unsafe fn new(id: u32, value: AttributeValue) -> Self {
        Self { id, value }
    }

    /// The attribute `id` with these bytes, then zeros, as its value; `None` if there are more than 64.
    ///
    /// # Safety
    ///
    /// As [`RawAttribute::new`].
    pub unsafe fn from_bytes(id: u32, bytes: &[u8]) -> Option<Self> {
        Some(Self { id, value: AttributeValue::from_bytes(bytes)? })
    }
}

// SAFETY: whoever made the value promised that the driver can be given it.
unsafe impl Attribute for RawAttribute {
    fn id(&self) -> u32 {
        self.id
    }

    fn encode(&self) -> AttributeValue {
        self.value
    }

    fn check(&self, rules: &mut Rules<'_>) -> crate::Result<()> {
        rules.clusters.overridden(self.id);
        Ok(())
    }
}

impl<P: Place> ValidFor<P> for RawAttribute {}
