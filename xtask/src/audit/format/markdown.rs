//! The report as Markdown.

use comfy_table::{Table, presets};

use super::cells::{self, Place};
use crate::model::{Attribute, Finding, Header, Report};

pub fn render(report: &Report) -> String {
    let mut out = format!("# {}\n\n", cells::title(report));
    if let Some(newest) = report.headers.last() {
        out += &attributes(newest);
    }
    out += "\n`+`: an alias macro exists. `?`: the attribute's comment names no place.\n";
    if report.headers.len() > 1 {
        out += &format!("\n## History\n\n{}", history(&report.headers));
    }
    out += &format!("\n## Findings\n\n{}\n", cells::summary(report));
    if !report.findings.is_empty() {
        out += &format!("\n{}", findings(report));
    }
    out
}

fn attributes(header: &Header) -> String {
    let titles = ["id", "attribute", "first seen", "streams", "graph nodes", "launches", "value", "named by"];
    let rows = header.attributes.iter().map(|attribute| {
        let mut row = vec![
            attribute.id.to_string(),
            code(&attribute.name),
            attribute.first_seen.map_or_else(String::new, |first| first.to_string()),
        ];
        row.extend(place_texts(attribute));
        row.extend([code(&cells::value(attribute)), text(&cells::named_by(attribute))]);
        row
    });
    table(&titles, rows)
}

fn history(headers: &[Header]) -> String {
    let titles = ["id", "attribute", "CUDA", "streams", "graph nodes", "launches"];
    let epochs = cells::history(headers);
    let rows = epochs.iter().map(|epoch| {
        let range = cells::range(epoch.first, epoch.last);
        let mut row = vec![epoch.attribute.id.to_string(), code(&epoch.attribute.name), range];
        row.extend(place_texts(epoch.attribute));
        row
    });
    table(&titles, rows)
}

fn findings(report: &Report) -> String {
    let row = |finding: &Finding| {
        vec![
            finding.id.to_string(),
            finding.surface.to_string(),
            code(&finding.kind.to_string()),
            cells::versions(finding, &report.headers),
            text(&finding.evidence),
            finding.reason.as_deref().map_or_else(|| "**new**".to_owned(), text),
        ]
    };
    table(&["id", "place", "finding", "CUDA", "evidence", "reason"], report.findings.iter().map(row))
}

fn place_texts(attribute: &Attribute) -> Vec<String> {
    cells::places(attribute).into_iter().map(place_text).collect()
}

fn place_text(place: Place) -> String {
    let documented = match place.documented {
        Some(true) => "yes",
        Some(false) => "no",
        None => "?",
    };
    format!("{documented}{}", if place.aliased == Some(true) { " +" } else { "" })
}

fn table(titles: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).force_no_tty().set_header(titles);
    table.add_rows(rows);
    format!("{table}\n")
}

/// Text of others: nothing in it is markup.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            _ if c.is_control() => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}

fn code(text: &str) -> String {
    let text: String = text.chars().map(|c| if c == '`' || c.is_control() { ' ' } else { c }).collect();
    if text.is_empty() { text } else { format!("`{}`", text.replace('|', "\\|")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_text_is_shown_as_it_stands() {
        assert_eq!(text("a|b *c* <d> [e](f)\n`g`"), r"a\|b \*c\* &lt;d> \[e\](f) \`g\`");
        assert_eq!(code("a|b`c`\n"), r"`a\|b c  `");
        assert_eq!(code(""), "");
    }
}
