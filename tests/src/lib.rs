//! What the suites share: the drivers that this machine has, and trials that say that they did not run.

#[cfg(doctest)]
mod guide;

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use tempfile::TempDir;

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

/// The root of the workspace.
#[must_use]
pub fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// A trial that runs if `needed` is there. If not, it is listed as ignored, and its name says why.
pub fn trial_with<T: Send + 'static>(
    name: &str,
    needed: Result<T, impl Display>,
    run: impl FnOnce(T) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    match needed {
        Ok(needed) => Trial::test(name, move || run(needed)),
        Err(why) => Trial::test(format!("{name} (did not run: {why})"), || Ok(())).with_ignored_flag(true),
    }
}

/// Fails the trial with a text unless the condition holds.
///
/// # Errors
///
/// The text, if the condition does not hold.
pub fn check(condition: bool, text: impl FnOnce() -> String) -> Result<(), Failed> {
    if condition { Ok(()) } else { Err(text().into()) }
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
