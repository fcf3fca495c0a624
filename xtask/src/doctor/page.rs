//! The report as text: titles on the left, and nothing that names a person.

use std::fmt::Display;
use std::path::PathBuf;

/// Where the texts begin.
const INDENT: usize = 14;

/// The report, written from top to bottom.
#[derive(Debug)]
pub(super) struct Page {
    text: String,
    home: Option<PathBuf>,
    /// What has to be done, and how.
    missing: Vec<String>,
}

impl Page {
    pub(super) fn new(home: Option<PathBuf>) -> Self {
        Self { text: String::new(), home: home.filter(|home| home.components().count() > 1), missing: Vec::new() }
    }

    /// A row; without a title, one more line of the row above.
    pub(super) fn row(&mut self, title: &str, text: impl Display) {
        let text = self.without_home(&text.to_string());
        for (index, line) in text.lines().enumerate() {
            let title = if index == 0 { title } else { "" };
            self.text += format!("{title:INDENT$}{line}").trim_end();
            self.text.push('\n');
        }
    }

    pub(super) fn gap(&mut self) {
        self.text.push('\n');
    }

    pub(super) fn missing(&mut self, what: impl Display) {
        self.missing.push(what.to_string());
    }

    /// The whole text, and whether nothing is missing.
    pub(super) fn close(mut self) -> (String, bool) {
        let missing = std::mem::take(&mut self.missing);
        self.gap();
        for (index, what) in missing.iter().enumerate() {
            self.row(if index == 0 { "missing" } else { "" }, what);
        }
        if missing.is_empty() {
            self.row("missing", "nothing that building and testing need");
        }
        (self.text, missing.is_empty())
    }

    fn without_home(&self, text: &str) -> String {
        match self.home.as_deref().and_then(|home| home.to_str()) {
            Some(home) => text.replace(home, "~"),
            None => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_several_lines_are_indented_and_homes_are_not_told() {
        let mut page = Page::new(Some("/home/someone".into()));
        page.row("headers", "/home/someone/include\nmore");
        page.missing("libclang: install it");
        let (text, is_whole) = page.close();
        assert_eq!(text, "headers       ~/include\n              more\n\nmissing       libclang: install it\n");
        assert!(!is_whole);
    }

    #[test]
    fn the_root_is_nobodys_home() {
        let mut page = Page::new(Some("/".into()));
        page.row("headers", "/usr/include");
        assert!(page.close().0.contains("/usr/include"));
    }
}
