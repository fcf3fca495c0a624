//! Samples that end the process, break the context or never come back, all at launches with id 5.

use std::time::{Duration, Instant};

use crate::program::recorded;
use crate::record::{observation, verdict};

#[test]
fn a_crash_costs_one_id_in_one_place() {
    let (record, status, error) = recorded(&[], "crash");
    assert_eq!(status, Some(1));
    assert!(error.contains("id 5 on a launch, value 0 (default): the process ended"), "{error}");
    let launch = observation(&record, 5, "launch");
    assert_eq!(launch["verdict"], "not_run");
    assert!(launch["reason"].as_str().expect("a reason").contains("the process ended"), "{launch}");
    assert_eq!(verdict(&record, 5, "stream_set"), "rejected", "not unknown: some of it was not asked");
    assert_eq!(verdict(&record, 6, "launch"), "accepted");
}

#[test]
fn a_context_that_a_launch_breaks_is_no_acceptance() {
    let (record, status, error) = recorded(&[], "break");
    assert_eq!(status, Some(1));
    assert!(error.contains("the context was lost: CUDA_ERROR_LAUNCH_FAILED"), "{error}");
    let launch = observation(&record, 5, "launch");
    assert_eq!((&launch["verdict"], &launch["status"]), (&"rejected".into(), &"CUDA_ERROR_LAUNCH_FAILED".into()));
    assert!(launch["reason"].as_str().expect("a reason").contains("the context was lost"), "{launch}");
    assert_eq!(verdict(&record, 6, "launch"), "accepted");
}

#[test]
fn a_hang_ends_the_run_and_is_named() {
    let began = Instant::now();
    let (record, status, error) = recorded(&["--timeout", "2"], "hang");
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(status, Some(1));
    assert!(error.contains("id 5 on a launch, value 0 (default): the time for the whole run is over"), "{error}");
    assert_eq!(verdict(&record, 4, "launch"), "accepted");
    for (id, surface) in [(5, "launch"), (5, "stream_set"), (6, "launch"), (999, "node_get")] {
        let lost = observation(&record, id, surface);
        assert_eq!(lost["verdict"], "not_run");
        assert!(lost["reason"].is_string(), "{lost}");
    }
}

#[test]
fn a_driver_that_takes_everything_is_not_believed() {
    let (record, status, error) = recorded(&[], "lenient");
    assert_eq!((status, &record["controls"]["unassigned_id"]), (Some(1), &"CUDA_SUCCESS".into()));
    assert!(error.contains("nothing in its record can be relied on"), "{error}");
}
