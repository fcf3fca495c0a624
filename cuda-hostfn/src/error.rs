//! What can go wrong, and the one place where a driver's code becomes a [`Result`].

mod kinds;

use std::error::Error as StdError;
use std::ffi::CString;
use std::fmt;
use std::sync::Arc;

use crate::graph::UpdateRefusal;
use crate::sys::CUresult;
use crate::sys::driver::{self, LoadError};
pub use kinds::{DriverError, InvalidArgument, MissingFunction, UnknownValue};

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The driver refused.
    Driver(DriverError),
    /// There is no driver; the text lists every library that was tried.
    NoDriver(LoadError),
    /// The driver has no such function.
    MissingFunction(MissingFunction),
    /// An argument breaks a rule that is known without the driver, which was not called.
    Invalid(InvalidArgument),
    /// The driver answered a value that this crate has no name for.
    UnknownValue(UnknownValue),
    /// CUDA may not be called in a [host function](crate::host); the driver was not called.
    CalledFromHostFunction,
    /// Waiting would never end: this is a closure of an [executor](crate::HostExecutor), and its own stream, which waits for
    /// it, is what it would wait for. The driver was not called.
    WouldDeadlock,
    /// Something made the capture that the stream is in invalid: a call that could not be captured, for instance. Its
    /// graph is lost with all that was captured; [ending](crate::StreamRef::end_capture) it gives the streams back.
    CaptureInvalidated(DriverError),
    /// An executable graph cannot take over another graph.
    UpdateRefused(UpdateRefusal),
    /// The stream is capturing: what runs once cannot be a node of a graph, which may run any number of times, or never; and
    /// drivers capture no launch of an executable graph.
    Capturing,
    /// A [host function](crate::host) will never be called: the device had this fault, or the context was destroyed.
    Lost(Arc<Error>),
    /// A [host function](crate::host) panicked with this text.
    Panicked(String),
}

impl Error {
    /// The driver's code, if the driver was asked and refused.
    pub fn code(&self) -> Option<CUresult> {
        match self {
            Self::Driver(error) | Self::CaptureInvalidated(error) => Some(error.code),
            Self::UpdateRefused(_) => Some(CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE),
            _ => None,
        }
    }

    pub(crate) fn invalid(field: &'static str, rule: impl Into<String>) -> Self {
        Self::Invalid(InvalidArgument { field, rule: rule.into() })
    }

    pub(crate) fn unknown(what: &'static str, raw: impl Into<i64>) -> Self {
        Self::UnknownValue(UnknownValue { what, raw: raw.into() })
    }

    /// Adds the attribute that the failed call was about.
    pub(crate) fn about(mut self, attribute: Option<&'static str>) -> Self {
        if let Self::Driver(error) = &mut self {
            error.attribute = attribute;
        }
        self
    }

    /// Adds what the driver's compiler said.
    pub(crate) fn with_log(mut self, log: &str) -> Self {
        if let Self::Driver(error) = &mut self {
            error.log = Some(log.trim()).filter(|log| !log.is_empty()).map(Into::into);
        }
        self
    }
}

/// The funnel: the answer of the driver's function `function` as a [`Result`].
#[inline]
pub(crate) fn check(function: &'static str, code: CUresult) -> Result<()> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(failed(function, code)) }
}

#[cold]
fn failed(function: &'static str, code: CUresult) -> Error {
    match code {
        CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED => {
            if let Err(why) = driver::load() {
                return Error::NoDriver(why);
            }
        }
        CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND if !exported(function) => {
            return Error::MissingFunction(MissingFunction { function });
        }
        CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED => {
            return Error::CaptureInvalidated(DriverError { code, function, attribute: None, log: None });
        }
        CUresult::CUDA_ERROR_NOT_READY => {}
        _ => crate::host::suspect(),
    }
    Error::Driver(DriverError { code, function, attribute: None, log: None })
}

/// Whether the driver exports `function`, which the header may have renamed.
fn exported(function: &str) -> bool {
    let symbol = driver::FUNCTIONS.iter().find(|row| row.name == function).map(|row| row.symbol.to_owned());
    symbol.or_else(|| CString::new(function).ok()).is_some_and(|symbol| driver::symbol(&symbol).is_some())
}

/// `unsafe { call!(cuStreamCreate(…)) }?`: calls the driver, unless this is a host function, and puts the function's name
/// into the error.
macro_rules! call {
    (entry::$function:ident($($argument:expr),* $(,)?)) => {
        if $crate::host::in_host_function() {
            Err($crate::Error::CalledFromHostFunction)
        } else {
            $crate::error::check(stringify!($function), $crate::entry::$function($($argument),*))
        }
    };
    ($function:ident($($argument:expr),* $(,)?)) => {
        if $crate::host::in_host_function() {
            Err($crate::Error::CalledFromHostFunction)
        } else {
            $crate::error::check(stringify!($function), $crate::sys::$function($($argument),*))
        }
    };
}
pub(crate) use call;

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Self {
        Self::Driver(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Driver(error) => error.fmt(f),
            Self::NoDriver(error) => error.fmt(f),
            Self::MissingFunction(error) => error.fmt(f),
            Self::Invalid(error) => error.fmt(f),
            Self::UnknownValue(error) => error.fmt(f),
            Self::CalledFromHostFunction => {
                f.write_str("CUDA cannot be called in a host function; do it on another thread, or afterwards")
            }
            Self::WouldDeadlock => f.write_str(
                "waiting would never end: the stream waits for this closure; wait on another thread, or enqueue what comes after it",
            ),
            Self::CaptureInvalidated(error) => {
                write!(f, "{error}; what was captured is lost: end the capture and begin another")
            }
            Self::UpdateRefused(refusal) => write!(f, "the executable graph cannot be updated: {refusal}"),
            Self::Capturing => f.write_str(
                "the stream is capturing, and this cannot be captured; end the capture before, or use host_launch for a closure",
            ),
            Self::Lost(error) => write!(f, "the host function will never be called: {error}"),
            Self::Panicked(text) => write!(f, "the host function panicked: {text}"),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::NoDriver(error) => error.source(),
            Self::Lost(error) => Some(&**error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_comes_with_its_function_and_attribute() {
        let error = check("cuStreamSetAttribute", CUresult::CUDA_ERROR_INVALID_VALUE).unwrap_err();
        assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_INVALID_VALUE));
        // With a driver, its text for the code follows.
        assert!(error.to_string().starts_with("cuStreamSetAttribute: CUDA_ERROR_INVALID_VALUE"), "{error}");
        let error = error.about(Some("CU_LAUNCH_ATTRIBUTE_PRIORITY"));
        let start = "cuStreamSetAttribute (CU_LAUNCH_ATTRIBUTE_PRIORITY): CUDA_ERROR_INVALID_VALUE";
        assert!(error.to_string().starts_with(start), "{error}");
    }

    #[test]
    fn a_code_that_nobody_knows_is_a_number() {
        let error = check("cuInit", CUresult(123_456)).unwrap_err().to_string();
        assert!(error.starts_with("cuInit: ") && error.contains("123456"), "{error}");
    }

    #[test]
    fn the_compilers_log_is_shown() {
        let error = check("cuModuleLoadDataEx", CUresult::CUDA_ERROR_INVALID_PTX).unwrap_err();
        let logged = error.clone().with_log("ptxas: line 3\n");
        assert!(logged.to_string().ends_with("\nptxas: line 3"));
        assert!(matches!(logged, Error::Driver(error) if error.log() == Some("ptxas: line 3")));
        assert!(matches!(error.with_log("\n"), Error::Driver(error) if error.log().is_none()));
    }

    #[test]
    fn a_missing_function_says_which_and_since_when() {
        let error = check("cuNoSuchFunction", CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND).unwrap_err();
        assert!(matches!(&error, Error::MissingFunction(missing) if missing.since().is_none()), "{error:?}");
        assert!(error.to_string().starts_with("the driver has no cuNoSuchFunction"), "{error}");
        let error = MissingFunction { function: "cuLaunchKernelEx" }.to_string();
        // Between the two, the name that was looked for, where it is another.
        assert!(error.starts_with("the driver has no cuLaunchKernelEx"), "{error}");
        assert!(error.contains(", which came with CUDA 11.8"), "{error}");
    }

    #[test]
    fn what_lies_behind_an_error_is_its_source() {
        let fault = check("cuStreamQuery", CUresult::CUDA_ERROR_NOT_READY).unwrap_err();
        let text = fault.to_string();
        let lost = Error::Lost(fault.into());
        assert_eq!(lost.source().unwrap().to_string(), text);
        assert!(Error::Capturing.source().is_none());
    }
}
