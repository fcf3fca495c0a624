//! Real headers, as setup provisions them.

use std::fs;

use serde_json::{Value, json};

use crate::run::{attribute, audit, command, provisioned};

const NEWEST: &str = "13.5";

fn report(version: &str) -> Value {
    let include = provisioned(version);
    audit(["--format".as_ref(), "json".as_ref(), "--headers".as_ref(), include.as_os_str()]).json(0)
}

#[test]
fn the_newest_header_has_its_eighteen_attributes() {
    let report = report(NEWEST);
    assert_eq!(report["schema"], 1);
    let header = &report["headers"][0];
    assert_eq!(header["cuda"], NEWEST);
    let ids: Vec<_> = header["attributes"].as_array().unwrap().iter().map(|a| a["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (0..=18).filter(|id| *id != 15).collect::<Vec<_>>());
}

#[test]
fn an_attribute_is_told_as_the_schema_promises() {
    let report = report(NEWEST);
    let policy = attribute(&report["headers"][0], 3);
    assert_eq!(policy["name"], "CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY");
    assert_eq!(policy["documented"], json!({ "stream": true, "node": false, "launch": false }));
    assert_eq!(policy["aliased"], json!({ "stream": true, "node": false }));
    assert_eq!(policy["value"]["member"], "syncPolicy");
    assert_eq!(policy["value"]["type"], "CUsynchronizationPolicy");
    assert_eq!(attribute(&report["headers"][0], 0)["documented"], Value::Null);
}

#[test]
fn the_launch_text_is_caught_sending_readers_to_the_stream() {
    let report = report(NEWEST);
    let mention = &attribute(&report["headers"][0], 3)["named_by"][0];
    assert_eq!(*mention, json!({ "function": "cuLaunchKernelEx", "in": "text", "see": "cuStreamSetAttribute" }));
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().any(|f| f["kind"] == "named-but-not-documented" && f["id"] == 3 && f["known"] == true));
}

#[test]
fn every_header_knows_the_member_of_every_value() {
    for version in ["11.8", "12.0", "12.4", NEWEST] {
        let report = report(version);
        for attribute in report["headers"][0]["attributes"].as_array().unwrap() {
            let has_value = attribute["value"]["member"].is_string();
            assert_eq!(has_value, attribute["id"] != 0, "{version}: {attribute:#}");
            let type_name = attribute["value"]["type"].as_str().unwrap_or_default();
            assert!(!type_name.contains("bindgen") && !type_name.contains('?'), "{version}: {attribute:#}");
        }
    }
}

#[test]
fn the_same_member_is_found_with_comments_and_without() {
    let [old, new] = ["11.8", NEWEST].map(report);
    for before in old["headers"][0]["attributes"].as_array().unwrap() {
        let now = attribute(&new["headers"][0], before["id"].as_u64().unwrap());
        assert_eq!(before["value"]["member"], now["value"]["member"]);
        assert_eq!(before["value"]["type"], now["value"]["type"]);
    }
}

#[test]
fn all_headers_give_the_history() {
    provisioned("11.8");
    provisioned(NEWEST);
    let report = audit(["--all-cuda", "--format", "json"]).json(0);
    let newest = report["headers"].as_array().unwrap().last().unwrap();
    assert_eq!(newest["cuda"], NEWEST);
    assert_eq!(attribute(newest, 3)["first_seen"], "11.8");
    let changes: Vec<_> =
        report["findings"].as_array().unwrap().iter().filter(|f| f["kind"] == "prose-changed").collect();
    assert_eq!(changes.iter().map(|f| f["id"].as_u64().unwrap()).collect::<Vec<_>>(), [8, 9, 10]);
    assert_eq!(changes[0]["cuda"][0], "11.8");
}

#[test]
fn the_table_fits_and_is_plain_when_nobody_looks() {
    let include = provisioned(NEWEST);
    let run = audit(["--headers".as_ref(), include.as_os_str()]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    let all = audit(["--all".as_ref(), "--headers".as_ref(), include.as_os_str()]);
    let path = include.display().to_string();
    for line in run.stdout.lines().chain(all.stdout.lines()).filter(|line| !line.contains(&path)) {
        assert!(line.chars().count() <= 100, "{line}");
    }
    assert!(!run.stdout.contains('\u{1b}'));
    assert!(run.stdout.contains("SYNCHRONIZATION_POLICY") && run.stdout.contains("findings, all known."));
    assert!(run.stdout.contains("No live driver was asked, these are records"), "{}", run.stdout);
    // What is known is counted, and listed on demand.
    assert!(run.stdout.lines().count() < 110 && run.stdout.contains(" documented-but-rejected"), "{}", run.stdout);
    assert!(all.stdout.contains("Wrong values") && all.stdout.lines().count() > 2 * run.stdout.lines().count());
}

#[test]
fn the_file_is_what_would_have_been_printed() {
    let include = provisioned(NEWEST);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.md");
    let arguments = ["--format".as_ref(), "markdown".as_ref(), "--headers".as_ref(), include.as_os_str()];
    let printed = audit(arguments);
    let written = command(arguments).arg("--output").arg(&file).output().unwrap();
    assert!(written.status.success() && written.stdout.is_empty());
    assert_eq!(fs::read_to_string(&file).unwrap(), printed.stdout);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
