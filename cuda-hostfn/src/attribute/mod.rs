//! Attributes of streams, launches and graph kernel nodes, each offered exactly where drivers accept it.
//!
//! CUDA numbers them in one enum, `CUlaunchAttributeID`, for three places, and not every one is valid in every place:
//! the driver answers `CUDA_ERROR_INVALID_VALUE` at run time. Here the place is part of the type. An attribute
//! implements [`ValidFor`] for the [places](place) where it can be set and [`ReadableFrom`] for those where it can be
//! read.
//!
//! ```no_run
//! use cuda_hostfn::attribute::{ClusterDimension, Cooperative, SynchronizationPolicy};
//! use cuda_hostfn::{Context, Device, LaunchConfig, Stream};
//!
//! let stream = Stream::new(&Context::primary(Device::get(0)?)?)?;
//! stream.set_attribute(SynchronizationPolicy::Spin)?;
//! let policy: SynchronizationPolicy = stream.attribute()?;
//!
//! let config = LaunchConfig::new(16, 128).attribute(Cooperative(true)).attribute(ClusterDimension::new(2, 1, 1)?);
//! # Ok::<(), cuda_hostfn::Error>(())
//! ```
//!
//! A stream's attribute on a launch does not compile, and the message says where it belongs:
//!
//! ```compile_fail,E0277
//! # use cuda_hostfn::{LaunchConfig, attribute::SynchronizationPolicy};
//! LaunchConfig::new(16, 128).attribute(SynchronizationPolicy::Spin);
//! ```
//!
//! The places are those that a driver was observed to accept, which are not always those that the header claims; the
//! documentation of each type says so, and [`CATALOGUE`] has it as data. An attribute newer than the CUDA headers that
//! the program was built with can be used nevertheless: the driver decides, when the program runs. For attributes newer
//! than this crate there is [`RawAttribute`].

mod catalogue;
mod lower;
pub mod place;
mod raw;
mod rows;
mod rules;
mod table;
mod values;

pub use catalogue::{Entry, Evidence, Places};
pub use lower::{AttributeValue, MAX_ATTRIBUTES};
pub use raw::RawAttribute;
pub use rules::Rules;
pub use table::*;
pub use values::{AccessProperty, GraphDeviceNode, MissProperty};

pub(crate) use lower::Lowered;
pub(crate) use table::Known;

use crate::sys::CUresult;
use crate::{Error, Result};
use place::Place;

/// An attribute with a value.
///
/// # Safety
///
/// [`encode`](Self::encode) gives bytes that the driver can be given for [`id`](Self::id) without undefined behaviour:
/// handles and pointers in them are valid.
pub unsafe trait Attribute: Copy {
    /// CUDA's number of the attribute.
    fn id(&self) -> u32;

    /// The value as the driver takes it.
    fn encode(&self) -> AttributeValue;

    /// Checks what can be known without the driver.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], which names the field and the rule.
    fn check(&self, rules: &mut Rules<'_>) -> Result<()> {
        let _ = rules;
        Ok(())
    }
}

/// The attribute can be set in the place `P`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an attribute",
    label = "not an attribute",
    note = "the attributes are in `cuda_hostfn::attribute`"
)]
pub trait ValidFor<P: Place>: Attribute {}

/// The attribute can be read from the place `P`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from the place `{P}`",
    label = "not a readable attribute of the place `{P}`",
    note = "drivers answer CUDA_ERROR_INVALID_VALUE; the documentation of `{Self}` says where it can be read"
)]
pub trait ReadableFrom<P: Place>: Attribute {
    /// CUDA's number of the attribute.
    const ID: u32;

    /// The value that the driver answered.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownValue`] for one that this crate has no name for.
    fn decode(value: &AttributeValue) -> Result<Self>;
}

/// CUDA's name of an attribute.
pub(crate) fn name(id: u32) -> Option<&'static str> {
    CATALOGUE.iter().find(|entry| entry.id == id).map(|entry| entry.name)
}

/// What the answer to a read says about the attribute: the driver's refusal means that it does not know it there.
pub(crate) fn is_known(answer: Result<AttributeValue>) -> Result<bool> {
    match answer {
        Ok(_) => Ok(true),
        Err(Error::Driver(error)) if error.code() == CUresult::CUDA_ERROR_INVALID_VALUE => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::check;

    #[test]
    fn only_a_refusal_of_the_attribute_means_that_it_is_unknown() {
        let refused = |code| Err(check("cuStreamGetAttribute", code).unwrap_err());
        assert!(is_known(Ok(AttributeValue::ZERO)).unwrap());
        assert!(!is_known(refused(CUresult::CUDA_ERROR_INVALID_VALUE)).unwrap());
        let error = is_known(refused(CUresult::CUDA_ERROR_INVALID_HANDLE)).unwrap_err();
        assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_INVALID_HANDLE));
    }
}
