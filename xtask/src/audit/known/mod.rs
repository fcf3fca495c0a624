//! The findings that are understood: `docs/known-findings.toml`.

mod entry;
mod stale;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::error::Error;
use crate::finding::Finding;
use crate::findings::Facts;
use entry::Entry;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    finding: Vec<Entry>,
}

/// The contents of the file.
#[derive(Debug)]
pub struct Known(Vec<Entry>);

impl Known {
    pub fn read(file: &Path) -> Result<Self, Error> {
        let parsed = fs::read_to_string(file).map_err(|error| error.to_string()).and_then(|text| Self::parse(&text));
        parsed.map_err(|what| Error::Known { file: file.to_owned(), what })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let entries = toml::from_str::<File>(text).map_err(|error| error.to_string())?.finding;
        for (index, entry) in entries.iter().enumerate() {
            entry.check()?;
            if entries[..index].iter().any(|other| other.overlaps(entry)) {
                return Err(format!("{} is listed twice for the same version", entry.label()));
            }
        }
        Ok(Self(entries))
    }

    /// Marks the findings that are understood, and adds the entries that no longer hold. An entry is judged only by
    /// headers and machines that it is about.
    pub fn apply(&self, facts: Facts<'_>, findings: &mut Vec<Finding>) -> Result<(), String> {
        for entry in &self.0 {
            entry.check_id(facts)?;
        }
        for finding in &mut *findings {
            if let Some(reason) = self.reason(finding, facts) {
                finding.known = true;
                finding.reason = Some(reason.to_owned());
            }
        }
        let stale: Vec<_> = self.0.iter().flat_map(|entry| stale::findings(entry, facts, findings)).collect();
        findings.extend(stale);
        Ok(())
    }

    /// The reason, if every case of the finding has one.
    fn reason(&self, finding: &Finding, facts: Facts<'_>) -> Option<&str> {
        let entries = self.0.iter().filter(|entry| entry.is_for(finding));
        if let (true, [older, newer]) = (finding.kind.is_change(), &finding.cuda[..]) {
            let mut entries = entries;
            return entries.find(|entry| entry.between(*older, *newer)).map(|entry| entry.reason.as_str());
        }
        let cases = finding.cases();
        let covering = cases.iter().map(|case| entries.clone().find(|entry| entry.covers(*case, facts.machines)));
        covering.collect::<Option<Vec<_>>>()?.last().map(|entry| entry.reason.as_str())
    }
}
