//! What each kind of error knows.

use std::error::Error as StdError;
use std::ffi::{CStr, c_char};
use std::{fmt, ptr};

use crate::sys::{CUresult, cuGetErrorName, cuGetErrorString, driver};
use crate::{CudaVersion, entry};

/// A code that the driver gave.
#[derive(Clone, Debug)]
pub struct DriverError {
    pub(super) code: CUresult,
    pub(super) function: &'static str,
    pub(super) attribute: Option<&'static str>,
    pub(super) log: Option<Box<str>>,
}

impl DriverError {
    /// The code, such as `CUresult::CUDA_ERROR_INVALID_VALUE`.
    pub fn code(&self) -> CUresult {
        self.code
    }

    /// The code's name (`cuGetErrorName`), such as `CUDA_ERROR_INVALID_VALUE`; `None` if the driver does not know it.
    pub fn name(&self) -> Option<&'static str> {
        // SAFETY: the driver writes the address of a string of its own, or NULL.
        text(|string| unsafe { cuGetErrorName(self.code, string) })
    }

    /// The code's text (`cuGetErrorString`), such as `invalid argument`; `None` if the driver does not know it.
    pub fn text(&self) -> Option<&'static str> {
        // SAFETY: the driver writes the address of a string of its own, or NULL.
        text(|string| unsafe { cuGetErrorString(self.code, string) })
    }

    /// The driver's function that gave the code, such as `cuStreamSetAttribute`. After asynchronous work it may be an
    /// innocent one: the driver reports a fault from whichever call comes next.
    pub fn function(&self) -> &'static str {
        self.function
    }

    /// The attribute that the call was about, such as `CU_LAUNCH_ATTRIBUTE_PRIORITY`, where that is certain.
    pub fn attribute(&self) -> Option<&'static str> {
        self.attribute
    }

    /// What the driver's compiler said, if it was a module that could not be loaded.
    pub fn log(&self) -> Option<&str> {
        self.log.as_deref()
    }
}

fn text(ask: impl FnOnce(*mut *const c_char) -> CUresult) -> Option<&'static str> {
    let mut string = ptr::null();
    if ask(&raw mut string) != CUresult::CUDA_SUCCESS || string.is_null() {
        return None;
    }
    // SAFETY: the driver's own string, NUL-terminated; the driver is never unloaded.
    unsafe { CStr::from_ptr(string) }.to_str().ok()
}

/// A function that the driver does not export.
#[derive(Clone, Debug)]
pub struct MissingFunction {
    pub(super) function: &'static str,
}

impl MissingFunction {
    /// The function that was looked for.
    pub fn function(&self) -> &'static str {
        self.function
    }

    /// The CUDA version whose drivers first have it, where this crate knows.
    pub fn since(&self) -> Option<CudaVersion> {
        entry::since(self.function)
    }
}

/// A rule that an argument breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidArgument {
    pub(super) field: &'static str,
    pub(super) rule: String,
}

impl InvalidArgument {
    /// The field at fault, such as `grid.x` or `AccessPolicyWindow.hit_ratio`.
    pub fn field(&self) -> &'static str {
        self.field
    }

    /// The value given and the rule that it breaks.
    pub fn rule(&self) -> &str {
        &self.rule
    }
}

/// A value read from the driver that is newer than this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownValue {
    pub(super) what: &'static str,
    pub(super) raw: i64,
}

impl UnknownValue {
    /// The type that was to be read.
    pub fn what(&self) -> &'static str {
        self.what
    }

    /// CUDA's number.
    pub fn raw(&self) -> i64 {
        self.raw
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.function)?;
        if let Some(attribute) = self.attribute {
            write!(f, " ({attribute})")?;
        }
        match self.name() {
            Some(name) => write!(f, ": {name}")?,
            None => write!(f, ": {:?}", self.code)?,
        }
        if let Some(text) = self.text() {
            write!(f, ": {text}")?;
        }
        self.log.as_ref().map_or(Ok(()), |log| write!(f, "\n{log}"))
    }
}

impl fmt::Display for MissingFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the driver has no {}", self.function)?;
        let symbol =
            driver::FUNCTIONS.iter().find(|row| row.name == self.function).map(|row| row.symbol.to_string_lossy());
        if let Some(symbol) = symbol.filter(|symbol| symbol != self.function) {
            write!(f, " (looked for as {symbol})")?;
        }
        if let Some(since) = self.since() {
            write!(f, ", which came with CUDA {since}")?;
        }
        if let Ok(version) = crate::driver_version() {
            write!(f, "; it supports CUDA {version}")?;
        }
        if let Some(path) = driver::path() {
            write!(f, " and was loaded from {}", path.display())?;
        }
        write!(f, ". Install a newer NVIDIA driver")
    }
}

impl fmt::Display for InvalidArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.rule)
    }
}

impl fmt::Display for UnknownValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the driver answered {} for {}, a value that this version of the crate does not know",
            self.raw, self.what
        )
    }
}

impl StdError for DriverError {}
impl StdError for MissingFunction {}
impl StdError for InvalidArgument {}
impl StdError for UnknownValue {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_text_that_the_driver_gave_is_one() {
        let answer = |code, given: *const c_char| {
            text(|string| {
                // SAFETY: `text` passes a pointer to its own variable.
                unsafe { *string = given };
                code
            })
        };
        assert_eq!(answer(CUresult::CUDA_SUCCESS, c"a text".as_ptr()), Some("a text"));
        assert_eq!(answer(CUresult::CUDA_SUCCESS, ptr::null()), None);
        assert_eq!(answer(CUresult::CUDA_ERROR_INVALID_VALUE, c"a text".as_ptr()), None);
    }

    #[test]
    fn a_missing_function_is_told_with_the_name_that_was_looked_for() {
        let text = |function| MissingFunction { function }.to_string();
        assert!(text("cuMemAlloc").starts_with("the driver has no cuMemAlloc (looked for as cuMemAlloc_v2)"));
        assert!(!text("cuInit").contains("looked for as"));
    }

    #[test]
    fn a_rule_is_told_with_its_field() {
        let error = InvalidArgument { field: "grid.x", rule: "0 is no size".to_owned() };
        assert_eq!((error.field(), error.rule()), ("grid.x", "0 is no size"));
        assert_eq!(error.to_string(), "grid.x: 0 is no size");
    }

    #[test]
    fn an_unknown_value_is_told_with_its_type() {
        let error = UnknownValue { what: "SynchronizationPolicy", raw: -7 };
        assert_eq!((error.what(), error.raw()), ("SynchronizationPolicy", -7));
        assert!(error.to_string().starts_with("the driver answered -7 for SynchronizationPolicy"), "{error}");
    }
}
