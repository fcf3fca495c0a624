//! What a record holds.

use serde_json::{Value, json};

use crate::program::recorded;

#[track_caller]
pub fn observation<'a>(record: &'a Value, id: u32, surface: &str) -> &'a Value {
    let of = |observation: &&Value| observation["id"] == id && observation["surface"] == surface;
    record["observed"].as_array().and_then(|all| all.iter().find(of)).expect("every id has every surface")
}

#[track_caller]
pub fn verdict(record: &Value, id: u32, surface: &str) -> String {
    observation(record, id, surface)["verdict"].as_str().expect("a verdict").to_owned()
}

#[track_caller]
fn sample<'a>(record: &'a Value, id: u32, surface: &str, value: &str) -> &'a Value {
    let samples = observation(record, id, surface)["samples"].as_array().expect("samples");
    samples.iter().find(|sample| sample["value"] == value).unwrap_or_else(|| panic!("no {value} in {samples:#?}"))
}

#[test]
fn every_id_is_recorded_on_every_surface() {
    let (record, status, _) = recorded(&[], "");
    assert_eq!(status, Some(0));
    assert_eq!(record["observed"].as_array().map(Vec::len), Some(33 * 7));
    assert_eq!((&record["device"], &record["compute_capability"]), (&json!("Made-up GPU 0"), &json!("9.0")));
    assert_eq!((&record["driver"], &record["live"]), (&json!("12.6"), &json!(false)));
    let controls = json!({ "no_attributes": "CUDA_SUCCESS", "unassigned_id": "CUDA_ERROR_INVALID_VALUE" });
    assert_eq!(record["controls"], controls);
}

#[test]
fn places_are_told_apart() {
    let (record, ..) = recorded(&[], "");
    let verdicts = |id| ["launch", "launch_capturing", "stream_set", "node_set"].map(|at| verdict(&record, id, at));
    assert_eq!(verdicts(3), ["rejected", "rejected", "accepted", "rejected"]);
    assert_eq!(verdicts(8), ["accepted"; 4]);
    assert_eq!(verdicts(13), ["rejected", "accepted", "rejected", "rejected"]);
    assert_eq!(observation(&record, 13, "launch")["status"], "CUDA_ERROR_NOT_SUPPORTED");
    assert_eq!(verdicts(15), ["unknown"; 4]);
    assert_eq!(verdicts(999), ["unknown"; 4]);
}

#[test]
fn special_streams_are_asked_too() {
    let (record, ..) = recorded(&[], "");
    let special = |surface| &observation(&record, 8, surface)["special_streams"];
    let accepted = json!({ "null": "accepted", "legacy": "accepted", "per_thread": "accepted" });
    assert_eq!(special("stream_set"), &accepted);
    assert_eq!(special("launch"), &accepted);
    let capturing = json!({ "null": "not_run", "legacy": "not_run", "per_thread": "accepted" });
    assert_eq!(special("launch_capturing"), &capturing);
    assert_eq!(special("node_set"), &Value::Null);
}

#[test]
fn what_comes_back_is_recorded_as_it_was_written() {
    let (record, ..) = recorded(&[], "");
    let beyond = sample(&record, 8, "stream_set", "-6");
    assert_eq!((&beyond["set"], &beyond["read_back"]), (&json!("faffffff"), &json!("fbffffff")));
    let fresh = sample(&record, 3, "stream_get", "never set");
    assert_eq!(fresh["read_back"], "ffffffff");
    let refused = sample(&record, 3, "stream_set", "0");
    assert_eq!((&refused["answer"], &refused["read_back"]), (&json!("value_rejected"), &Value::Null));
    let event = sample(&record, 12, "launch", "event");
    assert_eq!((&event["set"], &event["prerequisite"]), (&json!("@@".repeat(8)), &json!("timing disabled")));
}

#[test]
fn a_capture_that_a_sample_ends_is_recorded() {
    let (record, ..) = recorded(&[], "");
    let survived = |value| &sample(&record, 4, "launch_capturing", value)["capture_survived"];
    assert_eq!(survived("2 × 1 × 1"), true);
    assert_eq!(survived("3 × 1 × 1 (does not divide the grid)"), false);
}

#[test]
fn two_runs_differ_in_nothing() {
    assert_eq!(recorded(&[], "").0, recorded(&[], "").0);
}

#[test]
fn several_devices_make_an_array() {
    for arguments in [&["--all-devices"][..], &["--device", "0", "--device", "1"]] {
        let (records, status, _) = recorded(arguments, "");
        assert_eq!(status, Some(0));
        let names: Vec<_> = records.as_array().expect("an array").iter().map(|record| &record["device"]).collect();
        assert_eq!(names, ["Made-up GPU 0", "Made-up GPU 1"]);
    }
}

#[test]
fn what_the_device_lacks_is_not_the_drivers_refusal() {
    let (record, status, _) = recorded(&[], "turing");
    assert_eq!(status, Some(0));
    let cluster = observation(&record, 4, "launch");
    assert_eq!(
        (&cluster["verdict"], &cluster["reason"]),
        (&json!("unsupported"), &json!("the device has no clusters"))
    );
    assert_eq!(verdict(&record, 2, "launch"), "accepted");
}
