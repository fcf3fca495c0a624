//! Drivers' libraries without a device.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::workspace;

/// A driver's library that was taken from a distribution's package: it loads and resolves symbols, and has no device.
#[derive(Clone, Copy, Debug)]
pub struct Driver {
    /// The driver's major version, by which its folder is found.
    pub major: &'static str,
    /// What `cuDriverGetVersion` answers.
    pub cuda: i32,
}

/// The packaged drivers that the suites run on.
pub const DRIVERS: [Driver; 3] =
    [Driver { major: "470", cuda: 11040 }, Driver { major: "535", cuda: 12020 }, Driver { major: "550", cuda: 12040 }];

impl Driver {
    /// Its library, if `cargo xtask setup --drivers` provisioned it.
    #[must_use]
    pub fn library(&self) -> Option<PathBuf> {
        let folders = workspace().join(".cuda/drivers").read_dir().ok()?;
        let mut versions = folders
            .flatten()
            .filter(|folder| folder.file_name().to_str().and_then(|name| name.split('.').next()) == Some(self.major));
        Some(versions.next()?.path().join("libcuda.so.1")).filter(|library| library.is_file())
    }
}

/// The file in the folder that [`stub`] gives.
pub const STUB: &str = "libcuda.so.1";

/// Like the toolkit's stub, every function of which answers `CUDA_ERROR_STUB_LIBRARY`; under the names that programs
/// load and linkers look for.
///
/// # Errors
///
/// Why it could not be made.
pub fn stub() -> Result<TempDir, &'static str> {
    let folder = TempDir::new().map_err(|_| "no temporary folder")?;
    let source = folder.path().join("stub.c");
    let library = folder.path().join(STUB);
    fs::write(&source, "int cuDriverGetVersion(int *version) { return 34; }").map_err(|_| "no temporary file")?;
    let arguments = ["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o"];
    let compiled = Command::new("cc").args(arguments).args([&library, &source]).status();
    if !compiled.is_ok_and(|status| status.success()) {
        return Err("no C compiler");
    }
    fs::copy(&library, folder.path().join("libcuda.so")).map_err(|_| "no temporary file")?;
    Ok(folder)
}
