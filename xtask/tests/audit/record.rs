//! Records of machines that do not exist.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A machine that answered so: each an id, a surface and a verdict.
pub fn record(device: &str, driver: &str, answers: &[(u32, &str, &str)]) -> Value {
    let observed: Vec<_> = answers.iter().map(|&(id, surface, verdict)| observation(id, surface, verdict)).collect();
    json!({
        "schema": 1,
        "device": device,
        "compute_capability": "9.0",
        "driver": driver,
        "kernel_driver": format!("{driver}.1"),
        "recorded": "2026-01-02",
        "probe": "0.1.0",
        "header": "13.0",
        "controls": { "no_attributes": "CUDA_SUCCESS", "unassigned_id": "CUDA_ERROR_INVALID_VALUE" },
        "observed": observed,
    })
}

pub fn observation(id: u32, surface: &str, verdict: &str) -> Value {
    let (status, answer) = match verdict {
        "accepted" => ("CUDA_SUCCESS", "accepted"),
        "unknown" => ("CUDA_ERROR_INVALID_VALUE", "unknown_to_driver"),
        "unsupported" => ("CUDA_ERROR_NOT_SUPPORTED", "device_lacks_it"),
        _ => ("CUDA_ERROR_INVALID_VALUE", "rejected_here"),
    };
    let sample = json!({ "value": "1", "range": "good", "answer": answer, "status": status, "set": "01" });
    json!({ "id": id, "surface": surface, "verdict": verdict, "status": status, "samples": [sample] })
}

/// A machine that has nothing to say.
pub fn silent() -> Value {
    record("Nothing", "13.0", &[(999, "launch", "unknown")])
}

pub fn write(folder: &Path, name: &str, record: &Value) -> PathBuf {
    write_text(folder, name, &record.to_string())
}

pub fn write_text(folder: &Path, name: &str, text: &str) -> PathBuf {
    let file = folder.join(name);
    fs::write(&file, text).expect("the record is written");
    file
}
