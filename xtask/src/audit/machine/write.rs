//! Records as files.

use super::Machine;
use crate::observations::{self as record, SCHEMA};

/// One record, or a list of several, as `--observed` reads them.
pub fn to_record(machines: &[Machine]) -> String {
    let records: Vec<_> = machines
        .iter()
        .map(|machine| record::Machine { schema: Some(SCHEMA), live: false, ..machine.record.clone() })
        .collect();
    let json = match &records[..] {
        [record] => serde_json::to_string_pretty(record),
        records => serde_json::to_string_pretty(records),
    };
    json.expect("a record has only strings as keys") + "\n"
}
