//! Why there is no driver.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::OVERRIDE;

/// No driver could be loaded. Its text lists every library that was tried.
///
/// `Debug` is the same text, for programs whose `main` returns it.
#[derive(Clone)]
pub struct LoadError {
    attempts: Arc<[Attempt]>,
}

/// One library that was tried.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Attempt {
    /// A path, or a name that the system's loader looked for.
    pub library: PathBuf,
    /// Why it was refused.
    pub why: Refusal,
}

/// Why a library is not used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The system's loader said this.
    NotLoaded(String),
    /// It was loaded, but exports no `cuDriverGetVersion`.
    NotADriver,
    /// The toolkit's stub (at this path, where known): it is there for linking, and answers every call with an error.
    Stub(Option<PathBuf>),
    /// The process uses the driver at this path already.
    AnotherIsInUse(PathBuf),
}

impl LoadError {
    pub(super) fn new(attempts: Vec<Attempt>) -> Self {
        Self { attempts: attempts.into() }
    }

    pub(super) fn one(library: &Path, why: Refusal) -> Self {
        Self::new(vec![Attempt { library: library.to_owned(), why }])
    }

    /// What was tried, in order.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [Attempt { library, why: why @ Refusal::AnotherIsInUse(_) }] = &*self.attempts {
            return write!(f, "{} cannot be loaded: {why}", library.display());
        }
        write!(f, "no CUDA driver could be loaded. Tried ")?;
        for (index, attempt) in self.attempts.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{}: {}", attempt.library.display(), attempt.why)?;
        }
        write!(
            f,
            ". Install the NVIDIA driver (in a container, start it with GPU access), or set {OVERRIDE} to its libcuda"
        )
    }
}

impl fmt::Debug for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLoaded(why) => f.write_str(why),
            Self::NotADriver => write!(f, "not a CUDA driver (it exports no cuDriverGetVersion)"),
            Self::Stub(path) => {
                write!(f, "the CUDA toolkit's stub library, which serves linking only")?;
                path.as_ref().map_or(Ok(()), |path| write!(f, " ({})", path.display()))
            }
            Self::AnotherIsInUse(path) => write!(f, "this process uses the driver {} already", path.display()),
        }
    }
}

impl Error for LoadError {}
