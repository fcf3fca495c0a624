//! The report for a terminal.

use comfy_table::{Attribute as Style, Cell, Color, ContentArrangement, Table, presets};

use super::Screen;
use super::cells::{self, Place, SURFACES};
use crate::model::{Attribute, Finding, Report, Surface};

/// Fits the narrowest screen.
const LEGEND: &str = "\
✓ documented for this place          – documented, but not for this place
? its comment names no place         ! a finding, see below
+ an alias macro exists: CU_STREAM_ATTRIBUTE_… or CU_KERNEL_NODE_ATTRIBUTE_…
Below an attribute: the member of CUlaunchAttributeValue that holds its value;
the functions whose text names it, and → where that text sends readers for it.
";

const FIRST: &str = "first: the first of these headers that has it.\n";

pub fn render(report: &Report, screen: Screen) -> String {
    let mut out = format!("{}\n", cells::title(report));
    match &report.headers[..] {
        [header] => out += &format!("  {}\n", header.include.join("cuda.h").display()),
        headers => {
            let versions: Vec<_> = headers.iter().map(|header| header.cuda.to_string()).collect();
            out += &format!("  {}\n", versions.join(" "));
        }
    }
    out += &section(&attributes(report, screen));
    out += LEGEND;
    if report.headers.len() > 1 {
        out += FIRST;
        out += &format!("\nHistory\n{}", section(&history(report, screen)));
    } else {
        out += "\n";
    }
    out += &format!("{}\n", cells::summary(report));
    if !report.findings.is_empty() {
        out += &section(&findings(report, screen));
    }
    out
}

fn section(table: &Table) -> String {
    let lines: Vec<_> = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    format!("\n{}\n", lines.concat())
}

fn attributes(report: &Report, screen: Screen) -> Table {
    let dated = report.headers.len() > 1;
    let mut titles = vec!["id", "attribute, value, named by", "stream", "node", "launch"];
    if dated {
        titles.push("first");
    }
    let mut table = new(screen, &titles);
    for attribute in report.headers.last().map_or(&[][..], |header| &header.attributes) {
        let mut row = vec![Cell::new(attribute.id), Cell::new(attribute.short_name()).add_attribute(Style::Bold)];
        row.extend(place_cells(attribute, &report.findings));
        if dated {
            row.push(Cell::new(attribute.first_seen.map_or_else(String::new, |first| first.to_string())));
        }
        table.add_row(row);
        for detail in [cells::value(attribute), cells::named_by(attribute)] {
            if !detail.is_empty() {
                table.add_row([Cell::new(""), Cell::new(detail).fg(Color::DarkGrey)]);
            }
        }
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
        row.extend(place_cells(attribute, &[]));
        table.add_row(row);
    }
    table
}

fn findings(report: &Report, screen: Screen) -> Table {
    let mut table = new(screen, &["id", "place", "finding", "evidence, reason"]);
    for finding in &report.findings {
        let colour = if finding.known { Color::Yellow } else { Color::Red };
        let state = if finding.known { "known" } else { "new" };
        let state = match report.headers.len() {
            1 => state.to_owned(),
            _ => format!("{state}, {}", cells::versions(finding, &report.headers)),
        };
        table.add_row([
            Cell::new(finding.id),
            Cell::new(finding.surface),
            Cell::new(finding.kind).fg(colour),
            Cell::new(&finding.evidence),
        ]);
        table.add_row([
            Cell::new(""),
            Cell::new(""),
            Cell::new(state).fg(Color::DarkGrey),
            Cell::new(finding.reason.as_deref().unwrap_or_default()).fg(Color::DarkGrey),
        ]);
    }
    table
}

fn place_cells(attribute: &Attribute, findings: &[Finding]) -> Vec<Cell> {
    let places = cells::places(attribute);
    places
        .iter()
        .zip(SURFACES)
        .map(|(place, surface)| place_cell(*place, finding_here(attribute, surface, findings)))
        .collect()
}

/// The worst finding of a place: new before known.
fn finding_here<'a>(attribute: &Attribute, surface: Surface, findings: &'a [Finding]) -> Option<&'a Finding> {
    let here = findings.iter().filter(|finding| finding.id == attribute.id && finding.surface == surface);
    here.min_by_key(|finding| finding.known)
}

fn place_cell(place: Place, finding: Option<&Finding>) -> Cell {
    let (mark, colour) = match place.documented {
        Some(true) => ("✓", Color::Green),
        Some(false) => ("–", Color::DarkGrey),
        None => ("?", Color::Yellow),
    };
    let alias = if place.aliased == Some(true) { " +" } else { "" };
    match finding {
        Some(finding) => {
            let colour = if finding.known { Color::Yellow } else { Color::Red };
            Cell::new(format!("{mark}{alias} !")).fg(colour)
        }
        None => Cell::new(format!("{mark}{alias}")).fg(colour),
    }
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
