//! A small header of our own: what no real one has.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::record::{silent, write};
use crate::run::{Run, attribute, audit, folder};

const HEADER: &str = r#"
#define CUDA_VERSION 14010
typedef enum CUlaunchAttributeID_enum {
    CU_LAUNCH_ATTRIBUTE_FIRST = 0 /**< Valid for streams, launches. Says a thing. */
  , CU_LAUNCH_ATTRIBUTE_LONG_NAME = 1 /**< Valid for graph nodes and
                                           launches. See ::CUlaunchAttributeValue::odd. */
  , CU_LAUNCH_ATTRIBUTE_LONG = 2 /**< Valid for tensors. */
  , CU_LAUNCH_ATTRIBUTE_MAX
} CUlaunchAttributeID;
typedef union CUlaunchAttributeValue_union {
    char pad[64];
    struct { unsigned int x; void *handle; unsigned char bytes[3]; } first;
    float odd;
    /** Value of ::CU_LAUNCH_ATTRIBUTE_LONG. */
    unsigned long long big;
} CUlaunchAttributeValue;
#define CU_STREAM_ATTRIBUTE_FIRST CU_LAUNCH_ATTRIBUTE_FIRST
#define CU_KERNEL_NODE_ATTRIBUTE_LONG_NAME CU_LAUNCH_ATTRIBUTE_LONG_NAME
#define CU_STREAM_ATTRIBUTE_NOTHING 7
/**
 * Launches.
 * \code
 * typedef enum CUlaunchAttributeID_enum {
 *     CU_LAUNCH_ATTRIBUTE_FIRST = 5,
 * } CUlaunchAttributeID;
 * \endcode
 * Look at ::CU_LAUNCH_ATTRIBUTE_LONG_NAME.
 */
int cuLaunchKernelEx(const CUlaunchAttributeID *attributes);
"#;

const ENTRY: &str = r#"
[[finding]]
kind = "unreadable-prose"
id = 2
surface = "all"
since = "14.1"
reason = "It is made up."
"#;

fn run(header: &TempDir, known: &str) -> Run {
    let file = header.path().join("known.toml");
    fs::write(&file, known).unwrap();
    let observed = write(header.path(), "record.json", &silent());
    let [headers, known, observed] = [header.path(), &file, &observed].map(|path| path.as_os_str().to_owned());
    let known = ["--known".into(), known, "--observed".into(), observed];
    audit(["--format".into(), "json".into(), "--headers".into(), headers].into_iter().chain(known))
}

fn findings(report: &Value) -> Vec<(&str, u64, bool)> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|f| (f["kind"].as_str().unwrap(), f["id"].as_u64().unwrap(), f["known"].as_bool().unwrap())).collect()
}

#[test]
fn everything_is_read_from_c_and_not_from_comments() {
    let report = run(&folder(HEADER), ENTRY).json(0);
    let header = &report["headers"][0];
    assert_eq!(header["cuda"], "14.1");
    assert_eq!(header["attributes"].as_array().unwrap().len(), 3);

    let first = attribute(header, 0);
    assert_eq!(first["documented"], json!({ "stream": true, "node": false, "launch": true }));
    assert_eq!(first["aliases"], json!(["CU_STREAM_ATTRIBUTE_FIRST"]));
    assert_eq!(first["value"]["type"], "struct { x: unsigned int, handle: void *, bytes: unsigned char[3] }");
    assert_eq!(first["value"]["found_by"], "name");
    assert_eq!(first["named_by"], json!([{ "function": "cuLaunchKernelEx", "in": "code" }]));

    let long_name = attribute(header, 1);
    assert_eq!(long_name["value"], json!({ "member": "odd", "type": "float", "found_by": "attribute-comment" }));
    assert_eq!(long_name["named_by"], json!([{ "function": "cuLaunchKernelEx", "in": "text" }]));
    assert_eq!(attribute(header, 2)["value"]["type"], "unsigned long long");
}

#[test]
fn a_finding_is_new_until_it_is_listed() {
    let header = folder(HEADER);
    assert_eq!(findings(&run(&header, "").json(1)), [("unreadable-prose", 2, false)]);
    assert_eq!(findings(&run(&header, ENTRY).json(0)), [("unreadable-prose", 2, true)]);
}

#[test]
fn an_entry_that_no_longer_holds_is_a_finding() {
    let stale = ENTRY.replace("unreadable-prose", "no-prose");
    let report = run(&folder(HEADER), &(stale + ENTRY)).json(1);
    assert_eq!(findings(&report), [("unreadable-prose", 2, true), ("stale-known-finding", 2, false)]);
}

#[test]
fn a_malformed_entry_is_an_error_that_names_it() {
    let header = folder(HEADER);
    assert!(run(&header, &ENTRY.replace("id = 2", "id = 77")).error().contains("id 77"));
    assert!(run(&header, &ENTRY.replace("It is made up.", "")).error().contains("no reason"));
    assert!(run(&header, &ENTRY.replace("kind", "kinds")).error().contains("kinds"));
    assert!(run(&header, &ENTRY.replace("unreadable-prose", "odd")).error().contains("unknown variant `odd`"));
    assert!(run(&header, &ENTRY.replace("\"all\"", "\"tensor\"")).error().contains("a surface is one of"));
}
