//! The findings that are understood: `docs/known-findings.toml`.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::error::Error;
use crate::find::Version;
use crate::findings::comparable;
use crate::model::{Finding, Header, Kind, Surface};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    finding: Vec<Entry>,
}

/// One finding and the CUDA versions for which it is understood.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    kind: Kind,
    id: u32,
    surface: Surface,
    /// The first version that shows it; of a change, the version that brought it.
    since: Version,
    /// The last version that shows it; none while the newest does.
    until: Option<Version>,
    reason: String,
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
    /// headers of the versions it names.
    pub fn apply(&self, headers: &[Header], findings: &mut Vec<Finding>) -> Result<(), String> {
        for entry in &self.0 {
            entry.check_id(headers)?;
        }
        for finding in &mut *findings {
            let covering = |cuda: &[Version]| self.0.iter().find(|entry| entry.covers(finding, cuda));
            let entries: Option<Vec<_>> = match finding.kind.is_change() {
                true => covering(&finding.cuda).map(|entry| vec![entry]),
                false => finding.cuda.chunks(1).map(covering).collect(),
            };
            if let Some(entry) = entries.as_ref().and_then(|entries| entries.last()) {
                finding.known = true;
                finding.reason = Some(entry.reason.clone());
            }
        }
        let stale: Vec<_> = self.0.iter().filter_map(|entry| entry.stale(headers, findings)).collect();
        findings.extend(stale);
        Ok(())
    }
}

impl Entry {
    fn label(&self) -> String {
        format!("{} of id {} ({})", self.kind, self.id, self.surface)
    }

    fn check(&self) -> Result<(), String> {
        let label = self.label();
        if self.kind == Kind::StaleKnownFinding {
            return Err(format!("{label}: a stale entry is mended or removed, not listed"));
        }
        if self.reason.trim().is_empty() {
            return Err(format!("{label} gives no reason"));
        }
        match self.until {
            Some(_) if self.kind.is_change() => {
                Err(format!("{label}: a change has only `since`, the version that brought it"))
            }
            Some(until) if until < self.since => Err(format!("{label}: `until` is before `since`")),
            _ => Ok(()),
        }
    }

    /// An id that no header of its versions has is a slip of the pen.
    fn check_id(&self, headers: &[Header]) -> Result<(), String> {
        let headers: Vec<_> = headers.iter().filter(|header| self.in_range(header.cuda)).collect();
        let reached = |header: &&Header| header.attributes.iter().any(|attribute| attribute.id >= self.id);
        if headers.is_empty() || headers.iter().any(reached) {
            return Ok(());
        }
        Err(format!("{}: no header of its versions has such an id", self.label()))
    }

    fn is_for(&self, finding: &Finding) -> bool {
        (self.kind, self.id, self.surface) == (finding.kind, finding.id, finding.surface)
    }

    fn in_range(&self, cuda: Version) -> bool {
        self.since <= cuda && self.until.is_none_or(|until| cuda <= until)
    }

    /// A change between two versions is explained by what happened after the first and up to the second.
    fn between(&self, older: Version, newer: Version) -> bool {
        older < self.since && self.since <= newer
    }

    fn covers(&self, finding: &Finding, cuda: &[Version]) -> bool {
        self.is_for(finding)
            && match *cuda {
                [older, newer] => self.between(older, newer),
                _ => cuda.iter().all(|&cuda| self.in_range(cuda)),
            }
    }

    fn overlaps(&self, other: &Self) -> bool {
        let same = (self.kind, self.id, self.surface) == (other.kind, other.id, other.surface);
        same && match self.kind.is_change() {
            true => self.since == other.since,
            false => self.in_range(other.since) || other.in_range(self.since),
        }
    }

    fn stale(&self, headers: &[Header], findings: &[Finding]) -> Option<Finding> {
        let shows = |cuda: &[Version]| {
            findings
                .iter()
                .any(|finding| self.is_for(finding) && cuda.iter().all(|version| finding.cuda.contains(version)))
        };
        let judged: Vec<Vec<Version>> = match self.kind.is_change() {
            true => headers
                .windows(2)
                .filter(|pair| self.between(pair[0].cuda, pair[1].cuda) && comparable(&pair[0], &pair[1], self.id))
                .map(|pair| vec![pair[0].cuda, pair[1].cuda])
                .collect(),
            false => headers
                .iter()
                .map(|header| header.cuda)
                .filter(|&cuda| self.in_range(cuda))
                .map(|cuda| vec![cuda])
                .collect(),
        };
        let cuda: Vec<Version> = judged.into_iter().filter(|cuda| !shows(cuda)).flatten().collect();
        (!cuda.is_empty()).then(|| Finding {
            kind: Kind::StaleKnownFinding,
            id: self.id,
            surface: self.surface,
            known: false,
            evidence: format!("the known finding {} no longer holds; remove it or give its last version", self.kind),
            cuda,
            reason: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::of_headers;
    use crate::fixture::{attribute, header, places};

    fn entry(kind: &str, versions: &str) -> String {
        format!("[[finding]]\nkind = \"{kind}\"\nid = 0\nsurface = \"all\"\nreason = \"so it is\"\n{versions}\n")
    }

    fn silent(cuda: &str) -> Header {
        header(cuda, vec![attribute(0, None, "")])
    }

    fn spoken(cuda: &str) -> Header {
        header(cuda, vec![attribute(0, Some(places("l")), "")])
    }

    /// Kind and `known` of what remains.
    fn applied(known: &str, headers: &[Header]) -> Vec<(Kind, bool)> {
        let mut findings = of_headers(headers);
        Known::parse(known).unwrap().apply(headers, &mut findings).unwrap();
        findings.iter().map(|finding| (finding.kind, finding.known)).collect()
    }

    #[test]
    fn an_entry_covers_its_versions_and_no_others() {
        let known = entry("no-prose", "since = \"12.0\"\nuntil = \"12.2\"");
        assert_eq!(applied(&known, &[silent("12.0")]), [(Kind::NoProse, true)]);
        assert_eq!(applied(&known, &[silent("12.3")]), [(Kind::NoProse, false)]);
        assert_eq!(applied(&known, &[silent("12.2"), silent("12.3")]), [(Kind::NoProse, false)]);
    }

    #[test]
    fn an_entry_is_stale_only_where_a_header_of_its_versions_denies_it() {
        let known = entry("no-prose", "since = \"12.0\"\nuntil = \"12.2\"");
        assert_eq!(applied(&known, &[spoken("11.8")]), []);
        assert_eq!(applied(&known, &[spoken("13.0")]), []);
        assert_eq!(applied(&known, &[spoken("12.1")]), [(Kind::StaleKnownFinding, false)]);
    }

    #[test]
    fn a_change_is_understood_between_any_two_versions_around_it() {
        let known =
            entry("prose-changed", "since = \"12.3\"") + &entry("no-prose", "since = \"12.0\"\nuntil = \"12.2\"");
        for newer in ["12.3", "13.0"] {
            let expected = [(Kind::NoProse, true), (Kind::ProseChanged, true)];
            assert_eq!(applied(&known, &[silent("12.0"), spoken(newer)]), expected);
        }
        assert_eq!(applied(&known, &[spoken("12.4"), spoken("13.0")]), []);
        let stale = [(Kind::StaleKnownFinding, false)];
        assert_eq!(applied(&known, &[spoken("11.8"), spoken("12.3")]), stale);
    }

    #[test]
    fn malformed_entries_are_refused() {
        for (text, says) in [
            (entry("no-prose", ""), "since"),
            (entry("no-prose", "since = \"12\""), "no CUDA version"),
            (entry("no-such-kind", "since = \"12.0\""), "no-such-kind"),
            (entry("no-prose", "since = \"12.3\"\nuntil = \"12.0\""), "before"),
            (entry("no-prose", "since = \"12.3\"\ncolour = 1"), "colour"),
            (entry("prose-changed", "since = \"12.3\"\nuntil = \"12.4\""), "only `since`"),
            (entry("stale-known-finding", "since = \"12.3\""), "not listed"),
            (entry("no-prose", "since = \"12.3\"").replace("so it is", " "), "no reason"),
            (entry("no-prose", "since = \"12.3\"") + &entry("no-prose", "since = \"12.0\""), "listed twice"),
            ("[[finding".to_owned(), "TOML"),
        ] {
            let error = Known::parse(&text).unwrap_err();
            assert!(error.contains(says), "{says}: {error}");
        }
    }

    #[test]
    fn an_id_that_no_header_has_is_refused() {
        let known = Known::parse(&entry("no-prose", "since = \"12.0\"").replace("id = 0", "id = 99")).unwrap();
        assert!(known.apply(&[silent("12.0")], &mut Vec::new()).unwrap_err().contains("id 99"));
        assert!(known.apply(&[silent("11.8")], &mut Vec::new()).is_ok());
    }
}
