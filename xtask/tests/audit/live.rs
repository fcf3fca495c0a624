//! The driver of this machine, played by a script in place of attribute-probe.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::record::{record, silent, write_text};
use crate::run::{Run, command, provisioned};

fn script(folder: &Path, stdout: &str, stderr: &str, status: i32) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let record = write_text(folder, "answer", stdout);
    let text = format!("#!/bin/sh\ncat '{}'\necho '{stderr}' >&2\nexit {status}\n", record.display());
    let script = write_text(folder, "probe", &text);
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    script
}

fn run(folder: &Path, probe: &Path, more: &[&str]) -> Run {
    let mut command = command(["--format", "json", "--headers"]);
    command.arg(provisioned("13.5")).arg("--probe").arg(probe).args(more).current_dir(folder);
    Run::from(command.output().unwrap())
}

#[test]
fn a_live_driver_is_the_only_column_and_can_be_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let answer = record("Live", "13.0", &[(3, "stream_set", "accepted")]);
    let probe = script(folder.path(), &answer.to_string(), "some words", 0);
    let report = run(folder.path(), &probe, &["--record", "saved.json"]).json(0);
    assert_eq!(report["machines"].as_array().unwrap().len(), 1);
    assert_eq!((&report["machines"][0]["device"], &report["machines"][0]["live"]), (&"Live".into(), &true.into()));
    assert_eq!(report["live_driver"]["asked"], true);

    let saved: Value = serde_json::from_str(&fs::read_to_string(folder.path().join("saved.json")).unwrap()).unwrap();
    assert_eq!((&saved["schema"], &saved["live"], &saved["device"]), (&1.into(), &false.into(), &"Live".into()));
    let again = run(folder.path(), &probe, &["--observed", "saved.json"]).json(0);
    assert_eq!(again["live_driver"]["asked"], false, "records that are named suffice");
    assert_eq!(again["machines"][0]["observed"], report["machines"][0]["observed"]);
}

#[test]
fn a_live_driver_is_held_against_records() {
    let folder = tempfile::tempdir().unwrap();
    let probe = script(folder.path(), &silent().to_string(), "", 0);
    write_text(folder.path(), "same.json", &silent().to_string());
    let run = run(folder.path(), &probe, &["--observed", "same.json", "--record", "new.json"]);
    assert!(run.error().contains("the live driver and `same.json` are records of the same machine"), "{run:#?}");
}

#[test]
fn without_a_device_the_records_are_taken_and_the_reason_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let probe = script(folder.path(), "", "error: there is no device", 2);
    let report = run(folder.path(), &probe, &[]).json(0);
    assert_eq!(report["live_driver"]["why"], "there is no device");
    assert!(!report["machines"].as_array().unwrap().is_empty());
    let run = run(folder.path(), &probe, &["--record", "saved.json"]);
    assert!(run.error().contains("nothing to record in `saved.json`: there is no device"), "{run:#?}");
    assert!(!folder.path().join("saved.json").exists());
}

#[test]
fn a_probe_that_fails_is_no_record() {
    let folder = tempfile::tempdir().unwrap();
    let probe = script(folder.path(), "", "it broke", 101);
    assert!(run(folder.path(), &probe, &[]).error().contains("it broke"));
    let probe = script(folder.path(), "{", "", 0);
    assert!(run(folder.path(), &probe, &[]).error().contains("the live driver is not usable: it is cut off"));
    assert!(run(folder.path(), Path::new("/nonexistent/probe"), &[]).error().contains("could not be asked"));
}
