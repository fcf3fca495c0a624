//! Running the probe, and what it refuses.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;

pub fn probe(arguments: &[&str], driver: impl AsRef<Path>, fault: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_attribute-probe"))
        .args(arguments)
        .env("CUDA_SYS_DRIVER", driver.as_ref())
        .env("DRIVER_FAULT", fault)
        .output()
        .expect("the probe starts")
}

/// The made-up driver, compiled once.
pub fn made_up() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("made-up-driver-{}.so", std::process::id()));
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/probe/driver.c");
        let status = Command::new(compiler).args(["-shared", "-fPIC", "-w", "-o"]).arg(&library).arg(source).status();
        assert!(status.expect("a C compiler starts").success());
        library
    })
}

/// The record on stdout, with its exit status and stderr.
pub fn recorded(arguments: &[&str], fault: &str) -> (Value, Option<i32>, String) {
    let output = probe(arguments, made_up(), fault);
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    let record = serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {error}"));
    (record, output.status.code(), error)
}

/// Exit status 2, nothing on stdout, and one error on stderr without a backtrace.
#[track_caller]
fn refused(output: &Output) -> String {
    let error = String::from_utf8(output.stderr.clone()).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(output.stdout.is_empty() && error.starts_with("error: "), "{error}");
    assert!(!error.contains("panicked") && !error.contains("stack backtrace"), "{error}");
    error
}

#[test]
fn help_goes_to_stdout() {
    let output = probe(&["--help"], "/nonexistent/libcuda.so.1", "");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let help = String::from_utf8(output.stdout).expect("UTF-8");
    for option in ["--device N", "--all-devices", "--output FILE", "--timeout S", "Exit status"] {
        assert!(help.contains(option), "{help}");
    }
}

#[test]
fn mistakes_on_the_command_line_are_refused() {
    let error = refused(&probe(&["--devise", "0"], made_up(), ""));
    assert!(error.contains("--devise") && error.contains("--help"), "{error}");
    assert!(refused(&probe(&["--device", "-1"], made_up(), "")).contains("-1"));
}

#[test]
fn without_a_driver_it_says_what_was_tried() {
    for arguments in [&[][..], &["--all-devices"], &["--device", "1"]] {
        let error = refused(&probe(arguments, "/nonexistent/libcuda.so.1", ""));
        assert!(error.contains("cannot ask device") && error.contains("/nonexistent/libcuda.so.1"), "{error}");
    }
}

#[test]
fn a_file_that_is_no_driver_is_refused() {
    let error = refused(&probe(&[], env!("CARGO_BIN_EXE_attribute-probe"), ""));
    assert!(error.contains("attribute-probe"), "{error}");
}

#[test]
fn a_driver_without_a_device_is_told_from_no_driver() {
    let error = refused(&probe(&["--all-devices"], made_up(), "empty"));
    assert!(error.contains("CUDA_ERROR_NO_DEVICE") && error.contains("there is a driver"), "{error}");
}

#[test]
fn a_device_that_is_not_there_is_refused() {
    assert!(refused(&probe(&["--device", "2"], made_up(), "")).contains("no device 2: this machine has 0 to 1"));
}

#[test]
fn a_device_that_is_too_old_is_refused_or_left_out() {
    let error = refused(&probe(&[], made_up(), "old"));
    assert!(error.contains("compute capability 7.0") && error.contains("7.5"), "{error}");
    let (record, status, error) = recorded(&["--all-devices"], "old");
    assert_eq!((&record["device"], status), (&Value::from("Made-up GPU 1"), Some(0)));
    assert!(error.contains("device 0 is left out"), "{error}");
}

#[test]
fn a_device_that_cannot_be_asked_does_not_cost_the_others() {
    let error = refused(&probe(&[], made_up(), "taken"));
    assert!(error.contains("cuDevicePrimaryCtxRetain gives CUDA_ERROR_DEVICE_UNAVAILABLE"), "{error}");
    let (record, status, error) = recorded(&["--all-devices"], "taken");
    assert_eq!((&record["device"], status), (&Value::from("Made-up GPU 1"), Some(2)));
    assert!(error.contains("error: cannot ask device 0"), "{error}");
}

#[test]
fn a_record_goes_to_a_file_once_there_is_one() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("records-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("record.json");
    let output = ["--output", file.to_str().expect("UTF-8")];
    refused(&probe(&output, "/nonexistent/libcuda.so.1", ""));
    assert!(!file.exists());
    assert!(probe(&output, made_up(), "").stdout.is_empty());
    let record: Value = serde_json::from_slice(&std::fs::read(&file).expect("a record")).expect("JSON");
    assert_eq!(record["schema"], 1);
    let nowhere = folder.join("missing/record.json");
    let error = probe(&["--output", nowhere.to_str().expect("UTF-8")], made_up(), "");
    assert_eq!(error.status.code(), Some(2));
    assert!(String::from_utf8(error.stderr).expect("UTF-8").contains("missing/record.json"));
    std::fs::remove_dir_all(folder).expect("removed");
}
