//! Running the audit.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// What a run printed and how it ended.
#[derive(Debug)]
pub struct Run {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// The audit, undisturbed by what this machine has set.
pub fn command<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_audit"));
    command.args(arguments);
    for name in ["CUDA_SYS_INCLUDE_DIR", "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"] {
        command.env_remove(name);
    }
    command
}

pub fn audit<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Run {
    command(arguments).output().expect("the audit starts").into()
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the audit writes UTF-8");
        Self { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Run {
    /// The JSON of a run with this status.
    #[track_caller]
    pub fn json(&self, status: i32) -> Value {
        assert_eq!(self.status, Some(status), "{self:#?}");
        serde_json::from_str(&self.stdout).expect("the report is JSON")
    }

    /// The error of a run that could not run: one message, nothing else.
    #[track_caller]
    pub fn error(&self) -> &str {
        assert_eq!(self.status, Some(2), "{self:#?}");
        assert_eq!(self.stdout, "");
        for noise in ["panicked", "backtrace", "clang diag"] {
            assert!(!self.stderr.contains(noise), "{self:#?}");
        }
        self.stderr.strip_prefix("error: ").unwrap_or_else(|| panic!("something comes before the error: {self:#?}"))
    }
}

/// The folder of real headers. A test that needs them fails where they are not: it must not look as if it had passed.
pub fn provisioned(version: &str) -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the workspace");
    let include = workspace.join(".cuda/headers").join(version).join("include");
    assert!(include.join("cuda.h").is_file(), "not run: no headers of {version}; `cargo xtask setup --cuda {version}`");
    include
}

/// A folder with this `cuda.h`.
pub fn folder(header: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("cuda.h"), header).expect("cuda.h is written");
    folder
}

/// `value[…][…]` of the attribute with this number.
#[track_caller]
pub fn attribute(header: &Value, id: u64) -> &Value {
    let attributes = header["attributes"].as_array().expect("attributes are a list");
    attributes.iter().find(|attribute| attribute["id"] == id).unwrap_or_else(|| panic!("no id {id}"))
}
