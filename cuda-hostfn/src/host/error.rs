//! Errors that carry more than a driver's code.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use super::Panic;
use crate::Error;

/// A call that was not enqueued, with what was to be called or kept: it was neither run nor dropped.
///
/// `?` in a function that returns [`Result`](crate::Result) keeps the error and drops the rest. In others, such as those with a
/// `Box<dyn Error>`, `.map_err(cuda_hostfn::Error::from)?` does.
pub struct EnqueueError<C> {
    error: Error,
    refused: C,
}

impl<C> EnqueueError<C> {
    pub(crate) fn new(error: Error, refused: C) -> Self {
        Self { error, refused }
    }

    /// Why.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// What was given: the closure, the value, or both.
    pub fn into_inner(self) -> C {
        self.refused
    }

    /// Both.
    pub fn into_parts(self) -> (Error, C) {
        (self.error, self.refused)
    }

    pub(super) fn map<D>(self, map: impl FnOnce(C) -> D) -> EnqueueError<D> {
        EnqueueError { error: self.error, refused: map(self.refused) }
    }
}

impl<C> fmt::Debug for EnqueueError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EnqueueError").field(&self.error).finish()
    }
}

impl<C> fmt::Display for EnqueueError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<C> StdError for EnqueueError<C> {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.error.source()
    }
}

impl<C> From<EnqueueError<C>> for Error {
    fn from(error: EnqueueError<C>) -> Self {
        error.error
    }
}

/// Why a task has no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum TaskError {
    /// It panicked.
    Panicked(Panic),
    /// It was not called and never will be: the device had a fault, or the context was destroyed.
    Lost(Error),
    /// Waiting in a host function would never end: the driver calls one at a time.
    CalledFromHostFunction,
    /// Waiting would never end: this is a closure of an [executor](crate::HostExecutor), and the task comes after it in its
    /// stream.
    WouldDeadlock,
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WouldDeadlock => Error::WouldDeadlock.fmt(f),
            Self::Panicked(panic) => write!(f, "the host function panicked: {panic}"),
            Self::Lost(error) => write!(f, "the host function will never be called: {error}"),
            Self::CalledFromHostFunction => Error::CalledFromHostFunction.fmt(f),
        }
    }
}

impl StdError for TaskError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Lost(error) => Some(error),
            Self::Panicked(_) | Self::CalledFromHostFunction | Self::WouldDeadlock => None,
        }
    }
}

impl From<TaskError> for Error {
    fn from(error: TaskError) -> Self {
        match error {
            TaskError::Panicked(panic) => Self::Panicked(panic.to_string()),
            TaskError::Lost(error) => Self::Lost(Arc::new(error)),
            TaskError::CalledFromHostFunction => Self::CalledFromHostFunction,
            TaskError::WouldDeadlock => Self::WouldDeadlock,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_behind_is_the_source() {
        let text = |error: &dyn StdError| error.source().map(ToString::to_string);
        let fault = Some(Error::Capturing.to_string());
        assert_eq!(text(&TaskError::Lost(Error::Capturing)), fault);
        assert_eq!(text(&TaskError::CalledFromHostFunction), None);
        assert_eq!(text(&EnqueueError::new(Error::Lost(Arc::new(Error::Capturing)), ())), fault);
    }
}
