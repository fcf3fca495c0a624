//! The report as one page: the matrix with filters, every sample below its attribute, and nothing from elsewhere.
//!
//! maud escapes every text. Without scripts the filters are not shown, and all else is.

mod evidence;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::answers;
use super::cells::{self, Row, Source};
use super::wrong::wrong;
use crate::finding::{Finding, Kind};
use crate::model::Report;
use crate::place::Place;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("filters.js");

/// Nothing is loaded, whatever a record says.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

pub fn render(report: &Report) -> String {
    let title = cells::title(report);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "CUDA launch attributes: " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { "CUDA launch attributes" }
                    p { (title) ". " (cells::summary(report)) }
                    p { (cells::asked(report)) }
                    (machines(report))
                }
                main {
                    h2 { "Where each may be set and read" }
                    (filters(report))
                    (matrix(report))
                    (legend())
                    (wrong_values(report))
                    (history(report))
                    h2 id="findings" { "Findings" }
                    p { (cells::summary(report)) }
                    (findings(report))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string() + "\n"
}

fn machines(report: &Report) -> Markup {
    html! {
        @if !report.machines.is_empty() {
            div.scroll { table.machines {
                thead { tr { th { "machine" } th { "device" } th { "compute capability" } th { "driver" } th { "CUDA" } th { "asked" } } }
                tbody {
                    @for (index, machine) in report.machines.iter().enumerate() {
                        tr {
                            th scope="row" { (number(index)) }
                            td { bdi { (machine.record.device) } }
                            td { (machine.record.compute_capability) }
                            td { bdi { (machine.record.kernel_driver.as_deref().unwrap_or("?")) } }
                            td { (machine.record.driver) }
                            td { (cells::dated(machine)) }
                        }
                    }
                }
            } }
            @for (index, machine) in report.machines.iter().enumerate() {
                @let special = answers::special_streams(machine);
                @if !special.is_empty() { p { (number(index)) " " (special) } }
            }
        }
    }
}

fn number(index: usize) -> String {
    cells::numbers(&[index])
}

fn filters(report: &Report) -> Markup {
    let mut kinds: Vec<Kind> = report.findings.iter().map(|finding| finding.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    html! {
        form #filters hidden {
            label { "id or name " input name="id" type="search" autocomplete="off" size="18"; }
            label { "place " select name="place" {
                option value="" { "all" }
                @for place in Place::ALL { option { (place) } }
            } }
            label { "finding " select name="finding" {
                option value="" { "all" }
                option value="*" { "any" }
                option value="new" { "new" }
                @for kind in kinds { option { (kind) } }
            } }
            button type="reset" { "Show all" }
            button type="button" name="unfold" { "Unfold evidence" }
            output name="count" {}
        }
    }
}

fn matrix(report: &Report) -> Markup {
    let width = 4 + report.machines.len();
    html! {
        div.scroll { table.matrix {
            thead { tr {
                th { "attribute" } th { "place" } th { "header" } th { "types" }
                @for index in 0..report.machines.len() { th { (number(index)) } }
            } }
            @for row in cells::rows(report) {
                tbody id=(format!("id-{}", row.id)) data-id=(row.id) data-name=(row.name()) {
                    @for place in Place::ALL {
                        tr data-place=(place) data-findings=(kinds(report, row.id, place)) {
                            @if place == Place::ALL[0] { th.attribute scope="rowgroup" rowspan="3" { (attribute(&row)) } }
                            th scope="row" { (place) }
                            (claim(report, &row, place))
                            (offered(report, &row, place))
                            @for index in 0..report.machines.len() { (answer(report, index, row.id, place)) }
                        }
                    }
                    tr.more { td colspan=(width) { (evidence::of(report, &row)) } }
                }
            }
        } }
    }
}

/// The findings of a place, and `new` if one is; those of the attribute as such belong to each place.
fn kinds(report: &Report, id: u32, place: Place) -> String {
    let here = |finding: &&Finding| finding.id == id && finding.surface.place().is_none_or(|at| at == place);
    let found: Vec<_> = report.findings.iter().filter(here).collect();
    let mut kinds: Vec<_> = found.iter().map(|finding| finding.kind.to_string()).collect();
    if found.iter().any(|finding| !finding.known) {
        kinds.push("new".to_owned());
    }
    kinds.join(" ")
}

fn attribute(row: &Row<'_>) -> Markup {
    html! {
        span.id { (row.id) } " " code { (row.short_name()) }
        @if let Some(value) = row.attribute.map(cells::value).filter(|value| !value.is_empty()) {
            span.detail { code { (value) } }
        }
        span.detail {
            @if !row.type_name().is_empty() { "type " code { (row.type_name()) } }
            @if let Some(since) = row.since() { " since CUDA " (since) }
        }
    }
}

fn claim(report: &Report, row: &Row<'_>, place: Place) -> Markup {
    let Some(attribute) = row.attribute else { return html! { td {} } };
    let claim = cells::claim(attribute, place);
    let (class, text) = match claim.documented {
        Some(true) => ("yes", "yes"),
        Some(false) => ("no", "no"),
        None => ("unclear", "?"),
    };
    html! {
        td class=(class) {
            (text) @if claim.aliased == Some(true) { " +" }
            (mark(cells::findings_at(report, row.id, place, Source::Header), "!"))
        }
    }
}

fn offered(report: &Report, row: &Row<'_>, place: Place) -> Markup {
    let text = row.offered(place);
    html! {
        td class=(if text == "–" { "no" } else { "yes" }) {
            (text) (mark(cells::findings_at(report, row.id, place, Source::Type), "!"))
        }
    }
}

fn answer(report: &Report, index: usize, id: u32, place: Place) -> Markup {
    let cell = answers::cell(report, index, id, place);
    html! {
        td class=(if cell.accepted { "yes" } else { "no" }) {
            (cell.text) (mark(cells::findings_at(report, id, place, Source::Machine(index)), &cell.marks()))
        }
    }
}

/// The marks of some findings, which say on hovering what they are.
fn mark<'a>(findings: impl Iterator<Item = &'a Finding>, marks: &str) -> Markup {
    let findings: Vec<_> = findings.collect();
    let texts: Vec<_> = findings.iter().map(|finding| format!("{}: {}", finding.kind, finding.evidence)).collect();
    let class = if findings.iter().all(|finding| finding.known) { "known" } else { "new" };
    html! {
        @if !findings.is_empty() { " " span class=(class) title=(texts.join("\n")) { (marks) } }
    }
}

fn legend() -> Markup {
    html! {
        dl.legend {
            dt { "header" } dd { "what the attribute's comment says about the place; " b { "?" } ": it names none; " b { "+" } ": an alias macro exists for the place" }
            dt { "types" } dd { "what the type of cuda-hostfn offers there" }
            dt { "[1] …" } dd {
                "what that machine's driver accepts there: set, get, or neither (–); capturing: a launch can have it only while its \
                 stream is capturing; unknown: the driver does not know the number; lacks it: the device does"
            }
            dt { "≈" } dd { "a value is changed or clamped on the way" }
            dt { ">" } dd { "a value out of range is accepted" }
            dt { "!" } dd { "another finding" }
            dt { "set, read back" } dd {
                "a number, or bytes: @@ are of the address that was given, ## of one that the driver made, .. were not written"
            }
        }
    }
}

fn wrong_values(report: &Report) -> Markup {
    let wrong = wrong(&report.machines);
    let several = report.machines.len() > 1;
    html! {
        @if !wrong.is_empty() {
            h2 { "Wrong values" }
            p { "What the driver makes of them where it accepts the attribute; capture is a launch while its stream is capturing." }
            div.scroll { table {
                thead { tr {
                    th { "id" } th { "place" } th { "value" } th { "what the driver makes of it" }
                    @if several { th { "machines" } }
                } }
                tbody { @for wrong in wrong {
                    tr data-row=(wrong.id) {
                        th scope="row" { (link(wrong.id)) }
                        td { (wrong.places.join(", ")) }
                        td { (evidence::list(&wrong.values)) }
                        td { bdi { (wrong.outcome) } }
                        @if several { td { (cells::numbers(&wrong.machines)) } }
                    }
                } }
            } }
        }
    }
}

/// To the row of an attribute.
fn link(id: u32) -> Markup {
    html! { a href=(format!("#id-{id}")) { (id) } }
}

fn history(report: &Report) -> Markup {
    html! {
        @if report.headers.len() > 1 {
            h2 { "History" }
            div.scroll { table {
                thead { tr { th { "id" } th { "attribute" } th { "CUDA" } @for place in Place::ALL { th { (place) } } } }
                tbody { @for epoch in cells::history(&report.headers) {
                    tr {
                        th scope="row" { (epoch.attribute.id) }
                        td { code { (epoch.attribute.short_name()) } }
                        td { (cells::range(epoch.first, epoch.last)) }
                        @for place in Place::ALL {
                            @let claim = cells::claim(epoch.attribute, place);
                            td {
                                (match claim.documented { Some(true) => "yes", Some(false) => "no", None => "?" })
                                @if claim.aliased == Some(true) { " +" }
                            }
                        }
                    }
                } }
            } }
        }
    }
}

fn findings(report: &Report) -> Markup {
    let several = report.headers.len() > 1 || report.machines.len() > 1;
    let rows: Vec<_> = cells::rows(report).iter().map(|row| row.id).collect();
    html! {
        @if !report.findings.is_empty() {
            div.scroll { table.findings {
                thead { tr { th { "id" } th { "place" } th { "finding" } @if several { th { "shown by" } } th { "evidence" } th { "reason" } } }
                tbody { @for finding in &report.findings {
                    tr {
                        th scope="row" {
                            @if rows.contains(&finding.id) { (link(finding.id)) } @else { (finding.id) }
                        }
                        td { (finding.surface) }
                        td class=(if finding.known { "known" } else { "new" }) { (finding.kind) }
                        @if several { td { (cells::shown_by(finding, report)) } }
                        td { bdi { (finding.evidence) } }
                        td { @match &finding.reason { Some(reason) => bdi { (reason) }, None => strong.new { "new" } } }
                    }
                } }
            } }
        }
    }
}
