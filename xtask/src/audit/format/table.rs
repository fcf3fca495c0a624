//! The report for a terminal.

use comfy_table::{Attribute as Style, Cell, Color, ColumnConstraint, ContentArrangement, Table, Width, presets};

use super::Screen;
use super::answers::{self, Cell as Answer};
use super::cells::{self, Claim, Row, Source};
use super::wrong::wrong;
use crate::finding::{Finding, Kind};
use crate::model::Report;
use crate::place::Place;

/// Fits the narrowest screen.
const LEGEND: &str = "\
header  ✓ documented for this place     – documented, but not for this place
        ? its comment names no place    + an alias macro exists for this place
types   what the type of cuda-hostfn, named below the attribute, offers here
[1] …   what that machine's driver accepts here: set, get, – neither;
        capturing: a launch can have it only while its stream is capturing;
        unknown: the driver does not know the number; lacks it: the device does
≈       a value is changed or clamped   > a value out of range is accepted
!       another finding (`--all`); the places there are calls: `…_set` and `…_get` on a
        stream or a node, `launch`, `launch_capturing` (while the stream is being
        captured), `captured_node_get` (of the node that such a launch became)
";

/// The columns before those of machines.
const FIXED: u16 = 70;
/// A column of machines.
const WIDE: u16 = 13;

pub fn render(report: &Report, screen: Screen, all: bool) -> String {
    let mut out = format!("{}\n", cells::title(report));
    match &report.headers[..] {
        [header] => out += &format!("  {}\n", header.include.join("cuda.h").display()),
        headers => {
            let versions: Vec<_> = headers.iter().map(|header| header.cuda.to_string()).collect();
            out += &format!("  {}\n", versions.join(" "));
        }
    }
    out += &wrapped(&cells::asked(report), screen);
    if !report.machines.is_empty() {
        out += &section(&machines(report, screen));
        out += &special(report);
    }
    let columns = columns(report);
    let fit = usize::from(((screen.width.saturating_sub(FIXED)) / WIDE).max(1));
    let mut blocks = columns.chunks(fit).collect::<Vec<_>>();
    if blocks.is_empty() {
        blocks.push(&[]);
    }
    for block in blocks {
        out += &section(&attributes(report, block, screen));
    }
    out += LEGEND;
    if report.headers.len() > 1 {
        out += &format!("\nHistory\n{}", section(&history(report, screen)));
    }
    out.push('\n');
    if all {
        let values = wrong_values(report, screen);
        if values.row_count() > 0 {
            out += &format!("Wrong values, where the attribute is accepted\n{}", section(&values));
        }
    }
    out += &format!("{}\n", cells::summary(report));
    let listed: Vec<_> = report.findings.iter().filter(|finding| all || !finding.known).collect();
    if !listed.is_empty() {
        out += &section(&findings(report, &listed, screen));
        // What counts is on the screen when a long list ends.
        out += &format!("{}\n", cells::summary(report));
    }
    if !all {
        out += &wrapped(&left_out(report), screen);
    }
    out
}

/// What `--all` would list, counted.
fn left_out(report: &Report) -> String {
    let mut kinds: Vec<(Kind, usize)> = Vec::new();
    for finding in report.findings.iter().filter(|finding| finding.known) {
        match kinds.iter_mut().find(|(kind, _)| *kind == finding.kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((finding.kind, 1)),
        }
    }
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let kinds: Vec<_> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let known = if kinds.is_empty() { String::new() } else { format!("Known: {}. ", kinds.join(", ")) };
    format!("{known}`--all` lists each with its reason, and the values that drivers answer oddly.")
}

fn section(table: &Table) -> String {
    let lines: Vec<_> = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    format!("\n{}\n", lines.concat())
}

/// A sentence, which may be longer than the screen is wide.
fn wrapped(text: &str, screen: Screen) -> String {
    let mut table = new(screen, &[]);
    table.add_row([text]);
    let lines = table.lines().map(|line| format!("{}\n", line.trim())).filter(|line| line != "\n");
    lines.collect()
}

fn machines(report: &Report, screen: Screen) -> Table {
    let mut table = new(screen, &["", "device", "compute", "driver", "CUDA", "asked"]);
    for (index, machine) in report.machines.iter().enumerate() {
        let record = &machine.record;
        table.add_row([
            cells::numbers(&[index]),
            record.device.clone(),
            record.compute_capability.clone(),
            record.kernel_driver.clone().unwrap_or_else(|| "?".to_owned()),
            record.driver.clone(),
            cells::dated(machine),
        ]);
    }
    table
}

fn special(report: &Report) -> String {
    let lines = report.machines.iter().enumerate().filter_map(|(index, machine)| {
        let text = answers::special_streams(machine);
        (!text.is_empty()).then(|| format!(" {} {text}\n", cells::numbers(&[index])))
    });
    lines.collect()
}

/// Machines that answered the same.
struct Column {
    machines: Vec<usize>,
    /// By row, then by place.
    answers: Vec<[Answer; 3]>,
}

/// A fleet fits a screen if what answered the same has one column.
fn columns(report: &Report) -> Vec<Column> {
    let rows = cells::rows(report);
    let mut columns: Vec<Column> = Vec::new();
    for index in 0..report.machines.len() {
        let answers: Vec<_> =
            rows.iter().map(|row| Place::ALL.map(|place| answers::cell(report, index, row.id, place))).collect();
        match columns.iter_mut().find(|column| column.answers == answers) {
            Some(column) => column.machines.push(index),
            None => columns.push(Column { machines: vec![index], answers }),
        }
    }
    columns
}

fn attributes(report: &Report, columns: &[Column], screen: Screen) -> Table {
    let titles: Vec<_> = columns.iter().map(|column| cells::numbers(&column.machines)).collect();
    let fixed = ["id", "attribute, value, type", "place", "header", "types"];
    let mut table = new(screen, &fixed.into_iter().chain(titles.iter().map(String::as_str)).collect::<Vec<_>>());
    for (index, row) in cells::rows(report).iter().enumerate() {
        for (place, detail) in Place::ALL.into_iter().zip(details(row)) {
            let first = place == Place::ALL[0];
            let id = if first { row.id.to_string() } else { String::new() };
            let style = if first { Style::Bold } else { Style::Dim };
            let mut line = vec![Cell::new(id), Cell::new(detail).add_attribute(style), Cell::new(place)];
            line.push(claim_cell(
                row.attribute.map(|attribute| cells::claim(attribute, place)),
                worst(report, row, place),
            ));
            line.push(type_cell(report, row, place));
            line.extend(columns.iter().map(|column| answer_cell(&column.answers[index][place as usize])));
            table.add_row(line);
        }
    }
    table
}

/// What stands beside the three places: the name, the value, the type.
fn details(row: &Row<'_>) -> [String; 3] {
    let value = row.attribute.map_or_else(String::new, cells::value);
    let since = row.since().map_or_else(String::new, |since| format!("since {since}"));
    let declared = [row.type_name(), &since].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
    [row.short_name().to_owned(), value, declared.join(", ")]
}

/// The worst finding of a place in the headers: new before known.
fn worst<'a>(report: &'a Report, row: &Row<'_>, place: Place) -> Option<&'a Finding> {
    cells::findings_at(report, row.id, place, Source::Header).min_by_key(|finding| finding.known)
}

fn claim_cell(claim: Option<Claim>, finding: Option<&Finding>) -> Cell {
    let Some(claim) = claim else { return Cell::new("") };
    let (mark, colour) = match claim.documented {
        Some(true) => ("✓", Color::Green),
        Some(false) => ("–", Color::DarkGrey),
        None => ("?", Color::Yellow),
    };
    let alias = if claim.aliased == Some(true) { " +" } else { "" };
    match finding {
        Some(finding) => Cell::new(format!("{mark}{alias} !")).fg(weight(finding.known)),
        None => Cell::new(format!("{mark}{alias}")).fg(colour),
    }
}

fn type_cell(report: &Report, row: &Row<'_>, place: Place) -> Cell {
    let text = row.offered(place);
    let finding = cells::findings_at(report, row.id, place, Source::Type).min_by_key(|finding| finding.known);
    match finding {
        Some(finding) => Cell::new(format!("{text} !")).fg(weight(finding.known)),
        None => Cell::new(text).fg(if text == "–" { Color::DarkGrey } else { Color::Green }),
    }
}

fn answer_cell(answer: &Answer) -> Cell {
    let marks = answer.marks();
    let colour = match (marks.is_empty(), answer.accepted) {
        (false, _) => weight(!answer.new),
        (true, true) => Color::Green,
        (true, false) => Color::DarkGrey,
    };
    Cell::new(format!("{} {marks}", answer.text).trim()).fg(colour)
}

fn weight(known: bool) -> Color {
    if known { Color::Yellow } else { Color::Red }
}

fn wrong_values(report: &Report, screen: Screen) -> Table {
    let several = report.machines.len() > 1;
    let mut table = new(screen, &["id", "place", "value", "answer, less CUDA_ERROR_"]);
    for wrong in wrong(&report.machines) {
        let machines = if several { format!(" {}", cells::numbers(&wrong.machines)) } else { String::new() };
        table.add_row([
            wrong.id.to_string(),
            wrong.places.join(", "),
            wrong.values.join("; "),
            format!("{}{machines}", wrong.outcome.trim_start_matches("CUDA_ERROR_")),
        ]);
    }
    if let Some(column) = table.column_mut(3) {
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(30)));
    }
    table
}

fn history(report: &Report, screen: Screen) -> Table {
    let mut table = new(screen, &["id", "attribute", "CUDA", "stream", "node", "launch"]);
    let mut last = None;
    for epoch in cells::history(&report.headers) {
        let attribute = epoch.attribute;
        let again = last.replace(attribute.id) == Some(attribute.id);
        let (id, name) = if again { (String::new(), "") } else { (attribute.id.to_string(), attribute.short_name()) };
        let mut row = vec![Cell::new(id), Cell::new(name), Cell::new(cells::range(epoch.first, epoch.last))];
        row.extend(Place::ALL.map(|place| claim_cell(Some(cells::claim(attribute, place)), None)));
        table.add_row(row);
    }
    table
}

fn findings(report: &Report, listed: &[&Finding], screen: Screen) -> Table {
    let mut table = new(screen, &["id", "finding, place", "evidence, reason"]);
    for finding in listed {
        let state = if finding.known { "known" } else { "new" };
        let texts = [finding.surface.to_string(), state.to_owned(), cells::shown_by(finding, report)];
        let below = texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
        table.add_row([
            Cell::new(finding.id),
            Cell::new(finding.kind).fg(weight(finding.known)),
            Cell::new(&finding.evidence),
        ]);
        table.add_row([
            Cell::new(""),
            Cell::new(below).add_attribute(Style::Dim),
            Cell::new(finding.reason.as_deref().unwrap_or_default()).add_attribute(Style::Dim),
        ]);
    }
    table
}

fn new(screen: Screen, header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(screen.width);
    if screen.colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table.set_header(header.iter().map(|title| Cell::new(title).add_attribute(Style::Underlined)));
    if let Some(column) = table.column_mut(0) {
        column.set_cell_alignment(comfy_table::CellAlignment::Right);
    }
    table
}
