//! Events that a launch records.

use super::{EventMember, Value};
use crate::attribute::AttributeValue;
use crate::{Error, Event, EventOptions, Result};

/// A block triggers it with `cudaTriggerProgrammaticLaunchCompletion()` (PTX `griddepcontrol.launch_dependents`).
///
/// ```no_run
/// # fn f(context: &cuda_hostfn::Context) -> cuda_hostfn::Result<()> {
/// use cuda_hostfn::attribute::ProgrammaticEvent;
/// use cuda_hostfn::{EventOptions, LaunchConfig};
///
/// let event = EventOptions::new().disable_timing(true).create(context)?;
/// let config = LaunchConfig::new(16, 128).attribute(ProgrammaticEvent::new(&event)?);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ProgrammaticEvent<'e> {
    event: &'e Event,
    trigger_at_block_start: bool,
}

impl<'e> ProgrammaticEvent<'e> {
    /// Records `event`.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the event has timing. A foreign event's flags are unknown; the driver answers
    /// `CUDA_ERROR_NOT_SUPPORTED` then.
    pub fn new(event: &'e Event) -> Result<Self> {
        check("ProgrammaticEvent.event", event, EventOptions::is_for_programmatic_event)?;
        Ok(Self { event, trigger_at_block_start: false })
    }

    /// Each block triggers the event when it starts.
    pub const fn trigger_at_block_start(mut self, yes: bool) -> Self {
        self.trigger_at_block_start = yes;
        self
    }
}

impl Value for ProgrammaticEvent<'_> {
    fn encode(&self) -> AttributeValue {
        let event = self.event.as_raw().expose_provenance();
        AttributeValue::of(EventMember { event, flags: 0, trigger_at_block_start: self.trigger_at_block_start.into() })
    }
}

/// Best effort: if another kernel depends on it, that kernel may start later, or even before the last block of this
/// one.
#[derive(Clone, Copy, Debug)]
pub struct LaunchCompletionEvent<'e> {
    event: &'e Event,
}

impl<'e> LaunchCompletionEvent<'e> {
    /// Records `event`.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the event has timing or blocking synchronization. A foreign event's flags are unknown; the
    /// driver answers `CUDA_ERROR_NOT_SUPPORTED` then.
    pub fn new(event: &'e Event) -> Result<Self> {
        check("LaunchCompletionEvent.event", event, EventOptions::is_for_launch_completion)?;
        Ok(Self { event })
    }
}

impl Value for LaunchCompletionEvent<'_> {
    fn encode(&self) -> AttributeValue {
        let event = self.event.as_raw().expose_provenance();
        AttributeValue::of(EventMember { event, flags: 0, trigger_at_block_start: 0 })
    }
}

fn check(field: &'static str, event: &Event, rule: fn(EventOptions) -> Result<(), &'static str>) -> Result<()> {
    event.options().map_or(Ok(()), rule).map_err(|rule| Error::invalid(field, rule))
}

impl EventOptions {
    fn is_for_programmatic_event(self) -> Result<(), &'static str> {
        if self.disable_timing { Ok(()) } else { Err("the event has timing; create it with disable_timing") }
    }

    fn is_for_launch_completion(self) -> Result<(), &'static str> {
        self.is_for_programmatic_event()?;
        if self.blocking_sync {
            Err("the event has blocking synchronization; create it without blocking_sync")
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::ManuallyDrop;

    use super::*;
    use crate::Context;

    #[test]
    fn which_events_are_taken() {
        let timed = EventOptions::new();
        let plain = timed.disable_timing(true);
        assert!(timed.is_for_programmatic_event().is_err() && timed.is_for_launch_completion().is_err());
        assert!(plain.is_for_programmatic_event().is_ok() && plain.is_for_launch_completion().is_ok());
        assert!(plain.blocking_sync(true).is_for_programmatic_event().is_ok());
        assert!(plain.blocking_sync(true).is_for_launch_completion().is_err());
    }

    #[test]
    fn values() {
        // No driver may destroy it.
        let handle = std::ptr::without_provenance_mut(0x1000);
        // SAFETY: a foreign event that is never used.
        let event = ManuallyDrop::new(unsafe { Event::from_raw(&Context::fake(), handle) });
        let member = EventMember { event: 0x1000, flags: 0, trigger_at_block_start: 0 };
        let triggered = EventMember { trigger_at_block_start: 1, ..member };
        let programmatic = ProgrammaticEvent::new(&event).unwrap();
        assert_eq!(programmatic.encode(), AttributeValue::of(member));
        assert_eq!(programmatic.trigger_at_block_start(true).encode(), AttributeValue::of(triggered));
        assert_eq!(LaunchCompletionEvent::new(&event).unwrap().encode(), AttributeValue::of(member));
    }
}
