//! Graphs as pictures.

use std::ffi::CString;
use std::path::Path;

use super::Graph;
use crate::error::call;
use crate::sys::CUgraphDebugDot_flags;
use crate::{Error, Result};

impl Graph {
    /// Writes the graph into a file in the language of Graphviz (`cuGraphDebugDotPrint`). `flags` are the bits of CUDA's
    /// enum that say what to tell of nodes; with 0, it is little.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a path with a NUL in it; otherwise what the driver answers, such as
    /// `CUDA_ERROR_OPERATING_SYSTEM` for a file that cannot be written.
    pub fn debug_dot_print(&self, path: impl AsRef<Path>, flags: CUgraphDebugDot_flags) -> Result<()> {
        let path = CString::new(path.as_ref().as_os_str().as_encoded_bytes())
            .map_err(|_| Error::invalid("path", "has a NUL in it"))?;
        let _entered = self.context().enter()?;
        // SAFETY: the handle lives; the path is a C string.
        unsafe { call!(cuGraphDebugDotPrint(self.as_raw(), path.as_ptr(), flags.0 as _)) }
    }
}
