//! Attributes of a stream.

use crate::attribute::{self, AttributeValue, ReadableFrom, Rules, SynchronizationPolicy, ValidFor, place};
use crate::error::call;
use crate::sys::{CUlaunchAttributeID, CUresult};
use crate::{Result, StreamRef, host};

impl StreamRef {
    /// Reads an attribute (`cuStreamGetAttribute`).
    ///
    /// ```no_run
    /// # fn f(stream: &cuda_hostfn::StreamRef) -> cuda_hostfn::Result<()> {
    /// use cuda_hostfn::attribute::SynchronizationPolicy;
    ///
    /// let policy: SynchronizationPolicy = stream.attribute()?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::UnknownValue`](crate::Error::UnknownValue) for a value newer than this crate;
    /// `CUDA_ERROR_INVALID_VALUE` if the driver does not know the attribute. The error names the attribute.
    pub fn attribute<A: ReadableFrom<place::Streams>>(&self) -> Result<A> {
        let mut value = AttributeValue::ZERO;
        self.read_attribute(A::ID, &mut value)?;
        A::decode(&value)
    }

    /// Sets an attribute, for work that is put into the stream from now on (`cuStreamSetAttribute`).
    ///
    /// An attribute that streams do not have does not compile:
    ///
    /// ```compile_fail,E0277
    /// # fn f(stream: &cuda_hostfn::StreamRef) -> cuda_hostfn::Result<()> {
    /// stream.set_attribute(cuda_hostfn::attribute::Cooperative(true))
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) for a value that breaks the attribute's rules; otherwise what the
    /// driver answers, with the attribute's name.
    pub fn set_attribute<A: ValidFor<place::Streams>>(&self, attribute: A) -> Result<()> {
        attribute.check(&mut Rules::new(&self.context))?;
        let mut value = attribute.encode();
        let id = CUlaunchAttributeID(attribute.id() as _);
        host::drain();
        // SAFETY: the handle lives; the value is a whole union.
        let set = || unsafe { call!(cuStreamSetAttribute(self.raw, id, value.as_mut_ptr())) };
        self.with_context_if(CUresult::CUDA_ERROR_INVALID_VALUE, set)
            .map_err(|error| error.about(attribute::name(attribute.id())))
    }

    /// Sets every attribute to what `other` has (`cuStreamCopyAttributes`).
    ///
    /// # Errors
    ///
    /// What the driver answers, such as for streams of different contexts.
    pub fn copy_attributes_from(&self, other: &Self) -> Result<()> {
        let _entered = self.context.enter()?;
        // SAFETY: both handles live.
        unsafe { call!(cuStreamCopyAttributes(self.raw, other.raw)) }
    }

    /// Whether the driver knows the attribute for streams.
    ///
    /// # Errors
    ///
    /// What the driver answers, other than the refusal that means no.
    pub fn supports<A: ReadableFrom<place::Streams>>(&self) -> Result<bool> {
        attribute::is_known(self.raw_attribute(A::ID))
    }

    /// How threads wait for the stream: the same as `attribute::<SynchronizationPolicy>()`.
    ///
    /// # Errors
    ///
    /// As [`StreamRef::attribute`].
    pub fn synchronization_policy(&self) -> Result<SynchronizationPolicy> {
        self.attribute()
    }

    /// Sets how threads wait for the stream: the same as [`set_attribute`](Self::set_attribute).
    ///
    /// # Errors
    ///
    /// As [`StreamRef::set_attribute`].
    pub fn set_synchronization_policy(&self, policy: SynchronizationPolicy) -> Result<()> {
        self.set_attribute(policy)
    }

    /// Reads an attribute by its number, also one newer than this crate (`cuStreamGetAttribute`). Bytes that the driver
    /// does not write are 0.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_VALUE` if the driver does not know the number for streams.
    pub fn raw_attribute(&self, id: u32) -> Result<AttributeValue> {
        let mut value = AttributeValue::ZERO;
        self.read_attribute(id, &mut value)?;
        Ok(value)
    }

    /// Where the value is to be: copying one of which the driver has just written a part costs as much as the call.
    #[inline]
    fn read_attribute(&self, id: u32, value: &mut AttributeValue) -> Result<()> {
        host::drain();
        // SAFETY: the handle lives; the value is a whole union, which may be written twice.
        let read =
            || unsafe { call!(cuStreamGetAttribute(self.raw, CUlaunchAttributeID(id as _), value.as_mut_ptr())) };
        self.with_context_if_needed(read).map_err(|error| error.about(attribute::name(id)))
    }
}
