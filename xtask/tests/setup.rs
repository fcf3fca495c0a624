//! `cargo xtask` as a program: what it prints where, and its exit status. Nothing here needs a network.

use std::process::{Command, Output};

fn xtask(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(arguments);
    for name in
        ["CUDA_SYS_INCLUDE_DIR", "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR", "LIBCLANG_PATH"]
    {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied()).output().unwrap()
}

/// Exit status 2, nothing on stdout, and one error on stderr without a backtrace.
#[track_caller]
fn refused(output: &Output) -> String {
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(output.stdout.is_empty() && error.starts_with("error: "), "{error}");
    assert!(!error.contains("panicked") && !error.contains("stack backtrace"), "{error}");
    error
}

#[test]
fn help_goes_to_stdout() {
    for (arguments, expected) in [(&["--help"][..], "Tasks:"), (&["setup", "--help"], "--all-cuda"), (&[], "Tasks:")] {
        let output = xtask(arguments, &[]);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        assert!(String::from_utf8(output.stdout).unwrap().contains(expected));
    }
}

#[test]
fn mistakes_on_the_command_line_are_refused() {
    assert!(refused(&xtask(&["setpu"], &[])).contains("no task `setpu`"));
    assert!(refused(&xtask(&["setup", "--cuda", "13"], &[])).contains("expected X.Y"));
    assert!(refused(&xtask(&["setup", "--quick"], &[])).contains("--quick"));
}

#[test]
fn a_version_without_a_package_is_refused_before_anything_is_fetched() {
    for task in ["setup", "audit"] {
        // Headers that exist, so that nothing else is wrong.
        let folder = Headers::new(task);
        let output = xtask(&[task, "--cuda", "99.1"], &[("CUDA_SYS_INCLUDE_DIR", folder.path())]);
        assert!(refused(&output).contains("CUDA 99.1"));
    }
}

#[test]
fn a_variable_that_points_nowhere_is_named() {
    for task in ["setup", "audit"] {
        let error = refused(&xtask(&[task], &[("CUDA_HOME", "/nonexistent")]));
        assert!(error.contains("CUDA_HOME is set") && error.contains("/nonexistent"), "{error}");
    }
}

#[test]
fn a_libclang_that_does_not_load_is_named() {
    let folder = Headers::new("libclang");
    let environment = [("CUDA_SYS_INCLUDE_DIR", folder.path()), ("LIBCLANG_PATH", "/nonexistent")];
    let error = refused(&xtask(&["setup"], &environment));
    assert!(error.contains("LIBCLANG_PATH is /nonexistent"), "{error}");
}

/// A folder with a `cuda.h` as far as discovery reads it.
struct Headers(std::path::PathBuf);

impl Headers {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("xtask-headers-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("cuda.h"), "#define CUDA_VERSION 13000\n").unwrap();
        Self(folder)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Headers {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
