//! How a new stream is to be.

use std::ffi::c_uint;
use std::ptr;

use crate::attribute::SynchronizationPolicy;
use crate::error::call;
use crate::{Context, Priority, Result, Stream};

/// `CU_STREAM_NON_BLOCKING`.
pub(super) const NON_BLOCKING: c_uint = 1;

/// How a [`Stream`] is to be. What is not set stays as the driver has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StreamOptions {
    non_blocking: bool,
    priority: Option<Priority>,
    synchronization_policy: Option<SynchronizationPolicy>,
}

impl StreamOptions {
    /// In step with the legacy default stream, of default priority, with no synchronization policy of its own.
    pub const fn new() -> Self {
        Self { non_blocking: false, priority: None, synchronization_policy: None }
    }

    /// Neither waits for the legacy default stream nor holds it up (`CU_STREAM_NON_BLOCKING`).
    pub const fn non_blocking(mut self, yes: bool) -> Self {
        self.non_blocking = yes;
        self
    }

    /// The priority; it must be in the context's [range](Context::priority_range).
    pub const fn priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }

    /// How threads wait for the stream.
    pub const fn synchronization_policy(mut self, policy: SynchronizationPolicy) -> Self {
        self.synchronization_policy = Some(policy);
        self
    }

    /// Creates such a stream (`cuStreamCreate`, `cuStreamCreateWithPriority`, `cuStreamSetAttribute`).
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) for a priority out of range; otherwise what the driver answers. A
    /// stream that was created before the failure is destroyed.
    pub fn create(self, context: &Context) -> Result<Stream> {
        let Self { non_blocking, priority, synchronization_policy } = self;
        let flags = if non_blocking { NON_BLOCKING } else { 0 };
        let entered = context.enter()?;
        let mut raw = ptr::null_mut();
        match priority {
            // SAFETY: the pointer is valid for a write; the context is current.
            None => unsafe { call!(cuStreamCreate(&raw mut raw, flags)) }?,
            Some(priority) => {
                context.priority_range()?.check(priority)?;
                // SAFETY: as above.
                unsafe { call!(cuStreamCreateWithPriority(&raw mut raw, flags, priority.as_raw())) }?;
            }
        }
        drop(entered);
        // SAFETY: just created in this context.
        let stream = unsafe { Stream::from_new(raw, context.clone()) };
        if let Some(policy) = synchronization_policy {
            stream.set_attribute(policy)?;
        }
        Ok(stream)
    }
}
