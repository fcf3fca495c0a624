//! Headers, types and machines for unit tests.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::declared::{Basis, Declared, Readable};
use crate::find::OLDEST;
use crate::finding::Finding;
use crate::findings::{self, Facts};
use crate::machine::{Machine, Source};
use crate::model::{Aliased, Attribute, Header, PREFIX, Places};
use crate::observations::{self as record, Observation, Range, Sample, Verdict};

pub fn header(cuda: &str, attributes: Vec<Attribute>) -> Header {
    Header { cuda: cuda.parse().unwrap(), include: PathBuf::new(), attributes }
}

/// An attribute with aliases for `s`treams and `n`odes.
pub fn attribute(id: u32, documented: Option<Places>, aliased: &str) -> Attribute {
    Attribute {
        id,
        name: format!("{PREFIX}NUMBER_{id}"),
        first_seen: None,
        documented,
        unreadable: None,
        aliased: Aliased { stream: aliased.contains('s'), node: aliased.contains('n') },
        aliases: Vec::new(),
        value: None,
        named_by: Vec::new(),
    }
}

/// `s`treams, `n`odes, `l`aunches.
pub fn places(letters: &str) -> Places {
    Places { stream: letters.contains('s'), node: letters.contains('n'), launch: letters.contains('l') }
}

/// What headers alone show.
pub fn of_headers(headers: &[Header]) -> Vec<Finding> {
    findings::of(Facts { headers, declared: &[], machines: &[] })
}

/// A type that can be set in and read from these places.
pub fn declared(id: u32, set: &str, get: &str) -> Declared {
    let set = places(set);
    let get = places(get);
    Declared {
        id,
        name: format!("{PREFIX}NUMBER_{id}"),
        type_name: format!("Type{id}"),
        stream: set.stream,
        node: set.node,
        launch: set.launch,
        get: Readable { stream: get.stream, node: get.node },
        since: OLDEST,
        evidence: Basis::Driver,
        note: String::new(),
    }
}

/// A machine whose driver answered so: `3 stream_set +` for accepted, `-` rejected, `?` unknown to it, `∅` device lacks
/// it, `.` not run.
pub fn machine(driver: &str, answers: &[&str]) -> Machine {
    let record = record::Machine {
        schema: None,
        device: "Device".into(),
        compute_capability: "9.0".into(),
        driver: driver.into(),
        kernel_driver: Some("1.2".into()),
        recorded: "2026-01-02".into(),
        live: false,
        probe: "0.1.0".into(),
        header: "13.0".into(),
        controls: record::Controls {
            no_attributes: "CUDA_SUCCESS".into(),
            unassigned_id: "CUDA_ERROR_INVALID_VALUE".into(),
        },
        observed: answers.iter().map(|answer| observation(answer)).collect(),
    };
    Machine { record, driver: driver.parse().unwrap(), source: Source::Live }
}

fn observation(answer: &str) -> Observation {
    let [id, surface, verdict] = answer.split(' ').collect::<Vec<_>>()[..] else { panic!("{answer}") };
    let (verdict, status) = match verdict {
        "+" => (Verdict::Accepted, Some("CUDA_SUCCESS")),
        "-" => (Verdict::Rejected, Some("CUDA_ERROR_INVALID_VALUE")),
        "?" => (Verdict::Unknown, Some("CUDA_ERROR_INVALID_VALUE")),
        "∅" => (Verdict::Unsupported, Some("CUDA_ERROR_NOT_SUPPORTED")),
        "." => (Verdict::NotRun, None),
        _ => panic!("{answer}"),
    };
    Observation {
        id: id.parse().unwrap(),
        surface: serde_json::from_value(surface.into()).unwrap(),
        verdict,
        status: status.map(str::to_owned),
        reason: None,
        special_streams: BTreeMap::new(),
        samples: Vec::new(),
    }
}

/// An accepted one.
pub fn sample(range: Range, set: &str, read_back: Option<&str>) -> Sample {
    Sample {
        value: "a value".into(),
        range,
        prerequisite: None,
        answer: record::Answer::Accepted,
        status: "CUDA_SUCCESS".into(),
        set: set.into(),
        read_back: read_back.map(str::to_owned),
        capture_survived: None,
    }
}

/// `kind id surface` of each.
pub fn titles(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{} {} {}", finding.kind, finding.id, finding.surface)).collect()
}
