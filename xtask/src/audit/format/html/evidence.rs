//! What lies behind an attribute's row: its findings, and every sample of every machine.

use maud::{Markup, html};

use crate::format::cells::{self, Row};
use crate::machine::Machine;
use crate::model::Report;
use crate::observations::{Observation, Range, Sample, Verdict};
use crate::place::Surface;
use crate::value;

/// Folded until somebody wants it; in print it is open.
pub fn of(report: &Report, row: &Row<'_>) -> Markup {
    let findings: Vec<_> = report.findings.iter().filter(|finding| finding.id == row.id).collect();
    let observed = |machine: &'_ Machine| machine.record.observed.iter().any(|observation| observation.id == row.id);
    let named_by = row.attribute.map(cells::named_by).unwrap_or_default();
    let note = row.declared.map_or("", |declared| &declared.note);
    html! {
        details {
            summary {
                "evidence"
                @match findings.len() { 0 => {}, 1 => ", 1 finding", many => { ", " (many) " findings" } }
            }
            @if !named_by.is_empty() { p { "Named by " (named_by) "." } }
            @if !note.is_empty() { p { (note) } }
            @if !findings.is_empty() { ul { @for finding in findings {
                li class=(if finding.known { "known" } else { "new" }) {
                    b { (finding.kind) } " (" (finding.surface) "): " bdi { (finding.evidence) } ". "
                    @if let Some(reason) = &finding.reason { i { (reason) } }
                }
            } } }
            @for (index, machine) in report.machines.iter().enumerate().filter(|(_, machine)| observed(machine)) {
                (machine_samples(index, machine, row.id))
            }
        }
    }
}

/// Values, each by itself.
pub fn list(values: &[String]) -> Markup {
    html! { @for (index, value) in values.iter().enumerate() { @if index > 0 { "; " } bdi { code { (value) } } } }
}

fn machine_samples(index: usize, machine: &Machine, id: u32) -> Markup {
    let observations = || machine.record.observed.iter().filter(move |observation| observation.id == id);
    html! {
        p { (cells::numbers(&[index])) " " bdi { (machine) } ", " (cells::dated(machine)) }
        table.samples {
            thead { tr { th { "call" } th { "value" } th { "range" } th { "status" } th { "set" } th { "read back" } } }
            @for observation in observations() {
                tbody {
                    @if observation.samples.is_empty() {
                        tr { th scope="row" { (Surface::from(observation.surface)) } td colspan="5" { (verdict(observation)) } }
                    }
                    @for (index, sample) in observation.samples.iter().enumerate() {
                        tr {
                            @if index == 0 {
                                th scope="rowgroup" rowspan=(observation.samples.len()) {
                                    (Surface::from(observation.surface))
                                    span.detail { (verdict(observation)) }
                                }
                            }
                            (sample_cells(sample))
                        }
                    }
                }
            }
        }
    }
}

/// With its reason, and with the special streams that differ.
fn verdict(observation: &Observation) -> String {
    let mut text = word(observation.verdict).to_owned();
    if let Some(reason) = &observation.reason {
        text = format!("{text}: {reason}");
    }
    for (stream, verdict) in observation.special_streams.iter().filter(|(_, verdict)| **verdict != observation.verdict)
    {
        text = format!("{text}; {} stream: {}", stream.replace('_', "-"), word(*verdict));
    }
    text
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Accepted => "accepted",
        Verdict::Rejected => "rejected",
        Verdict::Unknown => "unknown to this driver",
        Verdict::Unsupported => "the device lacks it",
        Verdict::NotRun => "not run",
    }
}

fn sample_cells(sample: &Sample) -> Markup {
    let range = match sample.range {
        Range::Good => "good",
        Range::Boundary => "boundary",
        Range::OutOfRange => "out of range",
    };
    html! {
        td { bdi { (sample.value) } @if let Some(with) = &sample.prerequisite { " with " bdi { (with) } } }
        td { (range) }
        td.status { bdi { (sample.status) } @if sample.capture_survived == Some(false) { " (the capture is invalid then)" } }
        td { code { (value::number(&sample.set)) } }
        td { @if let Some(read) = &sample.read_back {
            code class=(if value::is_changed(sample) { "changed" } else { "same" }) { (value::number(read)) }
        } }
    }
}
