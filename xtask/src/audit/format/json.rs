//! The report as JSON: the model as it is.

use crate::model::Report;

pub fn render(report: &Report) -> String {
    serde_json::to_string_pretty(report).expect("a report has only strings as keys") + "\n"
}
