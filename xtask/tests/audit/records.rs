//! Records that cannot be relied on, and several together.

use std::path::Path;

use serde_json::{Value, json};

use crate::record::{observation, record, silent, write, write_text};
use crate::run::{Run, command, provisioned};

/// The audit of the newest header with these records.
fn observed(files: &[&Path], known: &str) -> Run {
    let include = provisioned("13.5");
    let folder = tempfile::tempdir().unwrap();
    let known = write_text(folder.path(), "known.toml", known);
    let mut command = command(["--format", "json", "--headers"]);
    command.arg(include).arg("--known").arg(known);
    for file in files {
        command.arg("--observed").arg(file);
    }
    Run::from(command.output().unwrap())
}

#[track_caller]
fn refused(text: &str, says: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = write_text(folder.path(), "record.json", text);
    let run = observed(&[&file], "");
    let error = run.error();
    assert!(error.contains("record.json` is not usable") && error.contains(says), "{says}: {run:#?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:#?}");
    assert!(run.stderr.len() < 1000 && !run.stderr.contains('\u{1b}'), "{run:#?}");
}

#[track_caller]
fn refused_with(change: impl FnOnce(&mut Value), says: &str) {
    let mut changed = record("A", "13.0", &[(3, "stream_set", "accepted"), (3, "launch", "rejected")]);
    change(&mut changed);
    refused(&changed.to_string(), says);
}

#[test]
fn what_is_no_record_is_told_apart_from_one_that_is_cut_off() {
    let whole = serde_json::to_string_pretty(&silent()).unwrap();
    for part in 1..10 {
        refused(&whole[..whole.len() * part / 10], "it is cut off");
    }
    refused("", "it is cut off");
    refused("# Not JSON", "it is no record");
    refused("[]", "the list of records is empty");
    refused("{}", "no schema number");
    refused("{\"schema\": 2, \"machines\": []}", "its schema is 2, and this audit reads schema 1");
    refused("{\"schema\": \"\\u001b[2J\"}", "its schema is");
}

#[test]
fn a_record_that_is_not_there_is_named() {
    let run = observed(&[Path::new("/nonexistent/record.json")], "");
    assert!(run.error().contains("`/nonexistent/record.json` is not usable"), "{run:#?}");
}

#[test]
fn a_record_is_no_larger_than_records_are() {
    refused(&" ".repeat((8 << 20) + 1), "more than");
    let observations = |ids: u32| (0..ids).map(|id| observation(id, "launch", "unknown")).collect::<Vec<_>>();
    refused_with(|record| record["observed"] = json!(observations(5000)), "no probe makes more than");
    let samples = json!(vec![observation(1, "launch", "unknown")["samples"][0].clone(); 21_000]);
    refused_with(|record| record["observed"][0]["samples"] = samples, "no probe makes more than");
}

#[test]
fn every_field_is_needed() {
    for field in ["device", "compute_capability", "driver", "recorded", "probe", "header", "controls", "observed"] {
        refused_with(|record| drop(record.as_object_mut().unwrap().remove(field)), &format!("missing field `{field}`"));
    }
}

#[test]
fn nonsense_is_refused() {
    refused_with(|record| record["driver"] = json!("thirteen"), "not a CUDA version");
    refused_with(|record| record["header"] = json!("13"), "not a CUDA version");
    refused_with(|record| record["compute_capability"] = json!("sm_90"), "compute capability");
    refused_with(|record| record["recorded"] = json!("yesterday"), "not like 2026-12-01");
    refused_with(|record| record["device"] = json!(" "), "`device` is empty");
    refused_with(|record| record["observed"] = json!([]), "no observation");
    refused_with(|record| record["observed"][0]["verdict"] = json!("fine\u{1b}[2J"), "unknown variant");
    refused_with(|record| record["observed"][0]["surface"] = json!("tensor"), "unknown variant");
    refused_with(|record| record["observed"][0]["id"] = json!(-1), "invalid value");
    refused_with(|record| record["observed"][0]["samples"][0]["range"] = json!("huge"), "unknown variant");
    refused_with(|record| record["observed"][0]["samples"][0]["set"] = json!("<b>"), "bytes");
    refused_with(|record| record["observed"][0]["special_streams"] = json!({ "first": "accepted" }), "special stream");
}

#[test]
fn a_failed_control_spoils_the_record() {
    for (control, status) in
        [("no_attributes", "CUDA_ERROR_LAUNCH_FAILED"), ("unassigned_id", "CUDA_SUCCESS"), ("unassigned_id", "")]
    {
        refused_with(|record| record["controls"][control] = json!(status), "its control failed");
    }
}

#[test]
fn a_place_has_one_verdict() {
    let again = observation(3, "launch", "accepted");
    refused_with(|record| record["observed"].as_array_mut().unwrap().push(again), "id 3, launch is there twice");
}

#[test]
fn a_verdict_is_what_its_samples_say() {
    refused_with(|record| record["observed"][0]["samples"][0]["answer"] = json!("rejected_here"), "no sample was");
    refused_with(
        |record| record["observed"][1]["samples"][0]["answer"] = json!("accepted"),
        "good sample was accepted",
    );
    refused_with(|record| record["observed"][0]["samples"][0]["status"] = json!("CUDA_ERROR_UNKNOWN"), "contradict");
    refused_with(|record| record["observed"][0]["status"] = json!("CUDA_ERROR_UNKNOWN"), "the status is an error");
    refused_with(|record| record["observed"][1]["status"] = json!(null), "the status is no error");
    refused_with(
        |record| record["observed"][1] = json!({ "id": 3, "surface": "launch", "verdict": "not_run" }),
        "no reason",
    );
}

#[test]
fn a_machine_has_one_record() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first.json", "second.json"].map(|name| write(folder.path(), name, &silent()));
    let run = observed(&[&first, &second], "");
    let error = run.error();
    assert!(
        error.contains("first.json") && error.contains("second.json") && error.contains("same machine"),
        "{run:#?}"
    );
    let list = write(folder.path(), "list.json", &json!([silent(), silent()]));
    assert!(observed(&[&list], "").error().contains("same machine"));
}

#[test]
fn machines_are_merged_each_in_its_column() {
    let folder = tempfile::tempdir().unwrap();
    let old = write(folder.path(), "old.json", &record("A", "12.4", &[(3, "stream_set", "rejected")]));
    let new = record("B", "13.0", &[(3, "stream_set", "accepted"), (3, "stream_get", "accepted")]);
    let list =
        write(folder.path(), "list.json", &json!([new, record("C", "13.0", &[(3, "stream_set", "unsupported")])]));
    let run = observed(&[&old, &list], "");
    let report = run.json(1);
    let devices: Vec<_> = report["machines"].as_array().unwrap().iter().map(|machine| &machine["device"]).collect();
    assert_eq!(devices, ["A", "B", "C"]);
    assert_eq!(report["machines"][0].get("schema"), None);
    let finding = |kind: &str| {
        let findings = report["findings"].as_array().unwrap();
        findings.iter().find(|finding| finding["kind"] == kind).unwrap_or(&Value::Null)
    };
    assert_eq!(finding("refused-now-accepted-elsewhere")["machines"], json!([0]));
    assert_eq!(finding("documented-but-rejected")["machines"], json!([0]));
    assert_eq!(finding("offered-but-rejected"), &Value::Null, "one driver accepts it");
}

#[test]
fn what_a_type_offers_and_every_driver_refuses_ends_with_1_and_cannot_be_listed() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "record.json", &record("A", "13.0", &[(3, "stream_set", "rejected")]));
    let report = observed(&[&file], "").json(1);
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["kind"] == "offered-but-rejected" && finding["id"] == 3));
    let known = "[[finding]]\nkind = \"offered-but-rejected\"\nid = 3\nsurface = \"stream\"\nreason = \"x\"\n\
                 driver_since = \"13.0\"\n";
    assert!(observed(&[&file], known).error().contains("not listed"));
}

#[test]
fn a_header_newer_than_the_driver_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let answers = [(17, "node_set", "unknown"), (17, "launch", "unknown"), (18, "launch", "unknown")];
    let file = write(folder.path(), "record.json", &record("A", "13.0", &answers));
    let report = observed(&[&file], "").json(1);
    let about_drivers = report["findings"].as_array().unwrap().iter().filter(|f| f["machines"] != json!([]));
    assert_eq!(about_drivers.count(), 0, "{report:#}");
}

#[test]
fn the_reader_is_told_who_was_asked() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "record.json", &silent());
    let report = observed(&[&file], "").json(1);
    assert_eq!(report["live_driver"]["asked"], false);
    assert_eq!(report["machines"][0]["live"], false);
    assert_eq!(report["machines"][0]["recorded"], "2026-01-02");
}
