//! A report as text.

mod answers;
mod cells;
mod html;
mod json;
mod markdown;
mod table;
mod wrong;

use crate::model::Report;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For a terminal.
    Table,
    /// GitHub's Markdown.
    Markdown,
    /// Schema 1, for other tools; see docs/report-schema.md.
    Json,
    /// One page for a browser, with filters and every sample.
    Html,
    /// Markdown, as `docs/attributes.md` has it.
    #[value(skip)]
    Reference,
}

/// What the text is written to.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// In columns of a terminal.
    pub width: u16,
    pub colour: bool,
}

/// `all` is for the table, which leaves out what is known without it.
pub fn render(report: &Report, format: Format, screen: Screen, all: bool) -> String {
    match format {
        Format::Table => table::render(report, screen, all),
        Format::Markdown => markdown::render(report),
        Format::Json => json::render(report),
        Format::Html => html::render(report),
        Format::Reference => markdown::reference(report),
    }
}
