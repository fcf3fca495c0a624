//! What is no header, and what else keeps the audit from running.

use std::ffi::OsStr;
use std::fs;

use crate::run::{audit, command, folder, provisioned};

const OURS: &str = "#define CUDA_VERSION 13050\n";

#[track_caller]
fn refused(headers: impl AsRef<OsStr>, says: &str) {
    let run = audit([OsStr::new("--headers"), headers.as_ref()]);
    assert!(run.error().contains(says), "{says}: {run:#?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:#?}");
}

#[test]
fn a_folder_without_a_header_is_told_apart_from_none_and_from_a_file() {
    let empty = tempfile::tempdir().unwrap();
    refused(empty.path(), "no cuda.h");
    refused(empty.path().join("missing"), "There is no such folder");
    let file = empty.path().join("file");
    fs::write(&file, "").unwrap();
    refused(file, "That is a file");
}

#[test]
fn a_folder_called_cuda_h_is_no_header() {
    let outer = tempfile::tempdir().unwrap();
    fs::create_dir(outer.path().join("cuda.h")).unwrap();
    refused(outer.path(), "cannot be read (is a directory)");
}

#[test]
fn the_kernels_header_of_the_same_name_is_no_header() {
    refused(folder("#define CUDA_ADB 1\n").path(), "linux/cuda.h has nothing to do with CUDA");
}

#[test]
fn a_header_before_the_attributes_is_too_old() {
    refused(folder("#define CUDA_VERSION 11070\n").path(), "CUDA 11.7 has no CUlaunchAttributeID; it appears in 11.8");
    let run = audit(["--cuda", "11.7"]);
    assert!(run.error().contains("it appears in 11.8"), "{run:#?}");
}

#[test]
fn a_header_without_the_enum_is_not_one_we_know() {
    refused(folder(&format!("{OURS}int cuInit(unsigned int);\n")).path(), "it has no CUlaunchAttributeID");
}

#[test]
fn a_header_that_is_no_c_is_damaged() {
    refused(folder(&format!("{OURS}typedef enum {{ A = \n")).path(), "damaged or not a whole cuda.h");
    refused(folder(&format!("{OURS}#include <no_such_header.h>\n")).path(), "no_such_header.h");
}

/// Wherever the real header is cut, it is refused, and quietly.
#[test]
fn a_truncated_header_is_damaged() {
    let whole = fs::read(provisioned("13.5").join("cuda.h")).unwrap();
    for part in 1..12 {
        let cut = tempfile::tempdir().unwrap();
        fs::write(cut.path().join("cuda.h"), &whole[..whole.len() * part / 12]).unwrap();
        refused(cut.path(), "");
    }
}

#[cfg(unix)]
#[test]
fn a_header_that_may_not_be_read_is_told_apart() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65534;

    let secret = folder(OURS);
    let header = secret.path().join("cuda.h");
    fs::set_permissions(secret.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&header, fs::Permissions::from_mode(0o000)).unwrap();
    // Root reads everything, so it becomes somebody else, who may not see the folder that the program was built in.
    let program = secret.path().join("audit");
    fs::copy(env!("CARGO_BIN_EXE_audit"), &program).unwrap();
    let mut command = std::process::Command::new(program);
    command.current_dir("/").arg("--headers").arg(secret.path());
    if fs::metadata(&header).unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    let run = crate::run::Run::from(command.output().unwrap());
    assert!(run.error().contains("cannot be read (permission denied)"), "{run:#?}");
}

#[test]
fn versions_that_are_not_there_say_how_to_get_them() {
    let run = audit(["--cuda", "99.9"]);
    assert!(run.error().contains("cargo xtask setup --cuda 99.9"), "{run:#?}");
    assert!(audit(["--cuda", "thirteen"]).error().contains("`thirteen` is no CUDA version"));
}

#[test]
fn a_format_that_does_not_exist_is_refused_with_those_that_do() {
    let run = audit(["--format", "yaml"]);
    assert!(run.error().contains("table, markdown, json, html"), "{run:#?}");
}

#[test]
fn one_version_has_one_column() {
    let [first, second] = [folder(OURS), folder(OURS)];
    let run = command(["--headers"]).arg(first.path()).arg("--headers").arg(second.path()).output().unwrap();
    assert!(crate::run::Run::from(run).error().contains("are both CUDA 13.5"));
}

#[test]
fn a_variable_that_points_nowhere_is_named() {
    let output = command::<&str>([]).env("CUDA_HOME", "/nonexistent").output().unwrap();
    assert!(crate::run::Run::from(output).error().contains("CUDA_HOME is set"));
}

#[test]
fn a_missing_libclang_is_told_with_the_ways_to_get_one() {
    let include = provisioned("13.5");
    let output = command(["--headers"]).arg(include).env("LIBCLANG_PATH", "/nonexistent").output().unwrap();
    let run = crate::run::Run::from(output);
    assert!(run.error().contains("could not be loaded") && run.stderr.contains("cargo xtask setup"), "{run:#?}");
}

#[test]
fn a_report_that_cannot_be_written_leaves_what_was_there() {
    let include = provisioned("13.5");
    let outer = tempfile::tempdir().unwrap();
    for (file, says) in [("missing/report", "there is no folder"), (".", "is a directory")] {
        let file = outer.path().join(file);
        let output = command(["--headers"]).arg(&include).arg("--output").arg(file).output().unwrap();
        let run = crate::run::Run::from(output);
        assert!(run.error().to_lowercase().contains(says), "{run:#?}");
    }
    assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 0);
}
