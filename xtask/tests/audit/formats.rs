//! Texts of a record, which nobody trusts, in every format.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::record::{record, write};
use crate::run::{Run, command, provisioned};

/// What a terminal, a browser or a Markdown viewer would obey.
const HOSTILE: &str =
    "<img src=x onerror=alert(1)>\"'&|`*_[a](http://evil.example)\u{1b}[2J\u{9b}1m\u{202e}\r\n\0www.evil.example @all";

fn hostile() -> Value {
    let mut record = record(HOSTILE, "13.0", &[(8, "stream_set", "accepted"), (3, "launch", "rejected")]);
    let long = format!("{HOSTILE}{}", "x".repeat(1 << 20));
    for text in ["probe", "kernel_driver"] {
        record[text] = json!(long);
    }
    record["observed"][1]["status"] = json!(HOSTILE);
    record["observed"][1]["reason"] = json!(long);
    let sample = json!({
        "value": long, "range": "out_of_range", "prerequisite": HOSTILE, "answer": "value_rejected", "status": HOSTILE,
        "set": "ff",
    });
    record["observed"][0]["samples"].as_array_mut().unwrap().push(sample);
    record
}

fn rendered(format: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "record.json", &hostile());
    let run = run(format, &[file]);
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    run.stdout
}

fn run(format: &str, records: &[PathBuf]) -> Run {
    let mut command = command(["--format", format, "--headers"]);
    command.arg(provisioned("13.5")).args(records.iter().flat_map(|file| [Path::new("--observed"), file]));
    Run::from(command.output().unwrap())
}

#[test]
fn no_format_passes_on_what_is_obeyed() {
    for format in ["table", "markdown", "json", "html"] {
        let text = rendered(format);
        let bad = text.chars().find(|&c| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}'));
        assert_eq!(bad, None, "{format}");
        assert!(text.len() < 400_000, "{format}: {}", text.len());
    }
}

#[test]
fn html_has_no_markup_of_others_and_loads_nothing() {
    let text = rendered("html");
    assert!(!text.contains("<img") && text.contains("&lt;img src=x"));
    for loading in ["src=\"", "url(", "@import", "<link", "<iframe"] {
        assert!(!text.contains(loading), "{loading}");
    }
    let quoted = text.match_indices("href=\"").all(|(at, _)| text[at..].starts_with("href=\"#"));
    assert!(quoted, "a link leaves the page");
    assert_eq!(text.matches("<script").count(), 1);
    assert!(text.contains("default-src 'none'"));
}

#[test]
fn html_can_be_read_without_scripts() {
    let text = rendered("html");
    let (body, _) = text.split_once("<script").unwrap();
    assert!(body.contains("SYNCHRONIZATION_POLICY") && body.contains("<details><summary>evidence"));
    assert!(body.contains("<form id=\"filters\" hidden>"), "filters that would do nothing are not shown");
    for id in (0..=18).filter(|id| *id != 15) {
        assert!(body.contains(&format!("<tbody id=\"id-{id}\"")), "{id}");
    }
}

#[test]
fn markdown_has_no_markup_of_others() {
    let text = rendered("markdown");
    // Between backticks nothing is markup.
    let outside: String = text.split('`').step_by(2).collect();
    let unescaped = outside.replace("\\]", "");
    assert!(!outside.contains("<img") && !unescaped.contains("](") && !outside.contains("www.evil"));
    assert!(text.lines().all(|line| line.matches('`').count() % 2 == 0));
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    let device = text.lines().find(|line| line.starts_with("| M1")).unwrap();
    let titles = text.lines().find(|line| line.starts_with("| machine")).unwrap();
    assert_eq!(columns(device), columns(titles), "{device}");
}

#[test]
fn the_table_keeps_its_width_whatever_the_texts() {
    let text = rendered("table");
    let include = provisioned("13.5").display().to_string();
    for line in text.lines().filter(|line| !line.contains(&include)) {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn machines_that_answer_alike_share_a_column_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..40)
        .map(|index| {
            let verdict = if index == 7 { "rejected" } else { "accepted" };
            let record = record(&format!("Device {index}"), "13.0", &[(8, "stream_set", verdict)]);
            write(folder.path(), &format!("{index}.json"), &record)
        })
        .collect();
    let text = run("table", &files).stdout;
    let lines: Vec<_> = text.lines().filter(|line| line.contains(" PRIORITY ")).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("set") && lines[0].chars().count() <= 100, "{lines:?}");
    let report: Value = run("json", &files).json(1);
    assert_eq!(report["machines"].as_array().unwrap().len(), 40);
}

#[test]
fn json_is_as_the_schema_promises() {
    let folder = tempfile::tempdir().unwrap();
    let record = record("A", "13.0", &[(3, "launch", "rejected"), (3, "stream_set", "accepted")]);
    let report = run("json", &[write(folder.path(), "record.json", &record)]).json(0);
    let policy = json!({
        "id": 3, "name": "CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY", "type": "SynchronizationPolicy",
        "stream": true, "node": false, "launch": false, "get": { "stream": true, "node": false },
        "since": "11.8", "evidence": "driver",
    });
    let declared = report["declared"].as_array().unwrap().iter().find(|declared| declared["id"] == 3).unwrap();
    for (field, value) in policy.as_object().unwrap() {
        assert_eq!(&declared[field], value, "{field}");
    }
    let machine = &report["machines"][0];
    for (field, value) in
        [("device", "A"), ("compute_capability", "9.0"), ("driver", "13.0"), ("kernel_driver", "13.0.1")]
    {
        assert_eq!(machine[field], value);
    }
    let launch = json!({ "value": "1", "range": "good", "answer": "rejected_here", "status": "CUDA_ERROR_INVALID_VALUE", "set": "01" });
    assert_eq!(machine["observed"][0]["surface"], "launch");
    assert_eq!(machine["observed"][0]["verdict"], "rejected");
    assert_eq!(machine["observed"][0]["samples"][0], launch);
}
