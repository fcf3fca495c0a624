//! `cargo xtask doctor` as a program, on machines that are made up through the environment.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What it prints, and its exit status.
fn doctor(environment: &[(&str, &str)]) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("doctor");
    for name in ["CUDA_SYS_INCLUDE_DIR", "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"] {
        command.env_remove(name);
    }
    let output = command.envs(environment.iter().copied()).output().expect("it starts");
    assert!(output.stderr.is_empty(), "{output:?}");
    (String::from_utf8(output.stdout).expect("UTF-8"), output.status.code())
}

/// The text of a row.
#[track_caller]
fn row<'t>(text: &'t str, title: &str) -> &'t str {
    let row = text.lines().find_map(|line| line.strip_prefix(title)?.strip_prefix(' '));
    row.unwrap_or_else(|| panic!("no {title} in {text}")).trim()
}

/// A file of this test's, whose name no other has.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("doctor-{}-{name}", std::process::id()))
}

/// The made-up driver of two devices, compiled once.
fn made_up() -> &'static str {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let library = file("driver.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/probe/driver.c");
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let status = Command::new(compiler).args(["-shared", "-fPIC", "-w", "-o"]).arg(&library).arg(source).status();
        assert!(status.expect("a C compiler starts").success());
        library
    });
    library.to_str().expect("UTF-8")
}

#[test]
fn headers_and_who_named_them_are_told() {
    let folder = file("headers");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("cuda.h"), "#define CUDA_VERSION 12040\n").unwrap();
    let (text, _) = doctor(&[("CUDA_SYS_INCLUDE_DIR", folder.to_str().unwrap())]);
    std::fs::remove_dir_all(&folder).unwrap();
    let headers = row(&text, "headers");
    assert!(headers.starts_with("CUDA 12.4: ") && headers.contains("by CUDA_SYS_INCLUDE_DIR"), "{headers}");
    assert!(text.contains("CUDA_SYS_INCLUDE_DIR="), "{text}");
}

#[test]
fn a_variable_that_points_nowhere_is_missing_headers() {
    let (text, status) = doctor(&[("CUDA_HOME", "/nonexistent")]);
    assert_eq!(status, Some(1), "{text}");
    assert!(row(&text, "headers").contains("a variable that is set decides"), "{text}");
    assert!(row(&text, "missing").contains("CUDA_HOME is set") && text.contains("correct CUDA_HOME"), "{text}");
    assert!(row(&text, "xtask").contains("until the variable is corrected"), "{text}");
}

#[test]
fn a_libclang_that_does_not_load_is_missing() {
    let (text, status) = doctor(&[("LIBCLANG_PATH", "/nonexistent")]);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("correct LIBCLANG_PATH"), "{text}");
}

#[test]
fn a_driver_is_asked_for_its_devices() {
    let (text, _) = doctor(&[("CUDA_SYS_DRIVER", made_up())]);
    assert!(row(&text, "driver").contains(made_up()), "{text}");
    for device in ["0: Made-up GPU 0, compute capability", "1: Made-up GPU 1"] {
        assert!(text.contains(device), "{text}");
    }
    assert!(row(&text, "xtask audit").contains("this machine's driver"), "{text}");
}

#[test]
fn no_driver_and_no_device_are_told_apart_and_why() {
    let (text, _) = doctor(&[("CUDA_SYS_DRIVER", "/nonexistent/libcuda.so.1")]);
    let driver = row(&text, "driver");
    assert!(driver.starts_with("none: ") && driver.contains("/nonexistent/libcuda.so.1"), "{driver}");
    assert!(row(&text, "xtask test").contains("the simulated driver"), "{text}");
    let (text, _) = doctor(&[("CUDA_SYS_DRIVER", made_up()), ("DRIVER_FAULT", "empty")]);
    assert!(text.contains("no device: cuInit gives"), "{text}");
}

#[test]
fn a_driver_that_crashes_costs_one_row() {
    let source = file("crash.c");
    let library = file("crash.so");
    std::fs::write(&source, "#include <stdlib.h>\nint cuDriverGetVersion(int *version) { abort(); }").unwrap();
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let status = Command::new(compiler).args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(status.expect("a C compiler starts").success());
    let (text, _) = doctor(&[("CUDA_SYS_DRIVER", library.to_str().unwrap())]);
    assert!(row(&text, "driver").contains("it ended the process that asked"), "{text}");
    row(&text, "xtask test");
}

#[test]
fn the_home_directory_is_not_told() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let (text, _) = doctor(&[("HOME", home.to_str().unwrap())]);
    assert!(row(&text, "workspace").starts_with('~'), "{text}");
    assert!(!text.contains(home.to_str().unwrap()), "{text}");
}
