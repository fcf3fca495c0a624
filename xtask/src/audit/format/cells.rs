//! Texts that more than one format shows.

use crate::declared::Declared;
use crate::find::Version;
use crate::finding::{Basis, Finding, Kind};
use crate::machine::{Answer, Machine};
use crate::model::{Attribute, Header, PREFIX, Report};
use crate::place::Place;

/// An attribute in all the sources.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    pub id: u32,
    /// In the newest header.
    pub attribute: Option<&'a Attribute>,
    pub declared: Option<&'a Declared>,
}

/// What the two sources of a header say about one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    pub documented: Option<bool>,
    /// None where aliases are not a thing.
    pub aliased: Option<bool>,
}

/// Every attribute that the newest header or a type has, or that a driver accepts somewhere; by number.
pub fn rows(report: &Report) -> Vec<Row<'_>> {
    let header = report.headers.last();
    let mut ids: Vec<u32> =
        header.into_iter().flat_map(|header| header.attributes.iter().map(|known| known.id)).collect();
    ids.extend(report.declared.iter().map(|declared| declared.id));
    for machine in &report.machines {
        let accepts = |id: &u32| Place::ALL.iter().any(|&place| machine.set(*id, place) == Answer::Accepted);
        ids.extend(machine.ids().into_iter().filter(accepts));
    }
    ids.sort_unstable();
    ids.dedup();
    let row = |id| Row {
        id,
        attribute: header.and_then(|header| header.attribute(id)),
        declared: report.declared.iter().find(|declared| declared.id == id),
    };
    ids.into_iter().map(row).collect()
}

impl<'a> Row<'a> {
    pub fn name(&self) -> &'a str {
        let declared = || self.declared.map_or("(no name)", |declared| &declared.name);
        self.attribute.map_or_else(declared, |attribute| &attribute.name)
    }

    /// Without what all names share.
    pub fn short_name(&self) -> &'a str {
        let name = self.name();
        name.strip_prefix(PREFIX).unwrap_or(name)
    }

    /// The first version that has it: of the types, or of the report's headers.
    pub fn since(&self) -> Option<Version> {
        self.declared.map(|declared| declared.since).or_else(|| self.attribute?.first_seen)
    }

    pub fn type_name(&self) -> &'a str {
        self.declared.map_or("", |declared| &declared.type_name)
    }

    /// What its type offers in a place.
    pub fn offered(&self, place: Place) -> &'static str {
        let offered = self.declared.map(|declared| (declared.sets(place), declared.gets(place)));
        operations(offered.unwrap_or_default()).unwrap_or("–")
    }
}

/// What can be done in a place, if anything.
pub fn operations((set, get): (bool, bool)) -> Option<&'static str> {
    match (set, get) {
        (true, true) => Some("set get"),
        (true, false) => Some("set"),
        (false, true) => Some("get"),
        (false, false) => None,
    }
}

pub fn claim(attribute: &Attribute, place: Place) -> Claim {
    let aliased = match place {
        Place::Stream => Some(attribute.aliased.stream),
        Place::Node => Some(attribute.aliased.node),
        Place::Launch => None,
    };
    Claim { documented: attribute.documented.map(|places| places.at(place)), aliased }
}

fn claims(attribute: &Attribute) -> [Claim; 3] {
    Place::ALL.map(|place| claim(attribute, place))
}

/// A column of the report in which a finding shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Header,
    Type,
    Machine(usize),
}

/// The findings of a place in a column.
pub fn findings_at(report: &Report, id: u32, place: Place, source: Source) -> impl Iterator<Item = &Finding> {
    let newest = report.headers.last().map(|header| header.cuda);
    report.findings.iter().filter(move |finding| {
        let shows = match (source, finding.kind) {
            (Source::Type, kind) => matches!(kind, Kind::OfferedButRejected | Kind::AcceptedButNotOffered),
            (_, Kind::OfferedButRejected | Kind::AcceptedButNotOffered) => false,
            (Source::Header, kind) => {
                kind.basis() == Basis::Header && newest.is_some_and(|newest| finding.cuda.contains(&newest))
            }
            (Source::Machine(index), _) => finding.machines.contains(&index),
        };
        shows && finding.id == id && finding.surface.place() == Some(place)
    })
}

/// A run of headers that say the same about an attribute.
#[derive(Debug)]
pub struct Epoch<'a> {
    pub attribute: &'a Attribute,
    pub first: Version,
    pub last: Version,
}

/// The epochs of every attribute, by number.
pub fn history(headers: &[Header]) -> Vec<Epoch<'_>> {
    let mut epochs: Vec<Epoch<'_>> = Vec::new();
    for header in headers {
        for attribute in &header.attributes {
            let last = epochs.iter_mut().rfind(|epoch| epoch.attribute.id == attribute.id);
            match last {
                Some(epoch) if claims(epoch.attribute) == claims(attribute) => epoch.last = header.cuda,
                _ => epochs.push(Epoch { attribute, first: header.cuda, last: header.cuda }),
            }
        }
    }
    epochs.sort_by_key(|epoch| (epoch.attribute.id, epoch.first));
    epochs
}

pub fn range(first: Version, last: Version) -> String {
    if first == last { first.to_string() } else { format!("{first} – {last}") }
}

/// The headers and machines of a finding, where the report has several.
pub fn shown_by(finding: &Finding, report: &Report) -> String {
    let mut parts = Vec::new();
    if !finding.cuda.is_empty() && report.headers.len() > 1 {
        parts.push(format!("CUDA {}", versions(finding, &report.headers)));
    }
    if !finding.machines.is_empty() && report.machines.len() > 1 {
        parts.push(numbers(&finding.machines));
    }
    parts.join(", ")
}

/// Machines by their numbers in the report.
pub fn numbers(machines: &[usize]) -> String {
    machines.iter().map(|index| format!("[{}]", index + 1)).collect()
}

/// The versions of a finding, neighbours of the report's headers drawn together.
pub fn versions(finding: &Finding, headers: &[Header]) -> String {
    if finding.kind.is_change() {
        return finding.cuda.iter().map(ToString::to_string).collect::<Vec<_>>().join(" → ");
    }
    let mut runs: Vec<(Version, Version)> = Vec::new();
    let mut within = false;
    for cuda in headers.iter().map(|header| header.cuda) {
        let shows = finding.cuda.contains(&cuda);
        match runs.last_mut() {
            Some(run) if shows && within => run.1 = cuda,
            _ if shows => runs.push((cuda, cuda)),
            _ => {}
        }
        within = shows;
    }
    runs.into_iter().map(|(first, last)| range(first, last)).collect::<Vec<_>>().join(", ")
}

pub fn value(attribute: &Attribute) -> String {
    attribute.value.as_ref().map_or_else(String::new, |value| format!("{}: {}", value.member, value.type_name))
}

/// The functions that name an attribute in their text, each with the one it sends readers to.
pub fn named_by(attribute: &Attribute) -> String {
    let texts: Vec<_> = attribute
        .named_in_text()
        .map(|mention| match &mention.see {
            Some(see) => format!("{} → {see}", mention.function),
            None => mention.function.clone(),
        })
        .collect();
    texts.join(", ")
}

pub fn title(report: &Report) -> String {
    match &report.headers[..] {
        [] => String::new(),
        [header] => format!("CUDA {}: {} launch attributes", header.cuda, header.attributes.len()),
        [first, .., last] => format!(
            "CUDA {} to {}, {} headers: {} launch attributes in the newest",
            first.cuda,
            last.cuda,
            report.headers.len(),
            last.attributes.len()
        ),
    }
}

/// Who was asked, and how old the answers are.
pub fn asked(report: &Report) -> String {
    let asked = &report.live_driver;
    let shown = match (asked.asked, report.machines.is_empty()) {
        (true, _) => return "The driver of this machine was asked.".to_owned(),
        (false, false) => "these are records",
        (false, true) => "there are no records",
    };
    let why = asked.why.as_deref().unwrap_or_default();
    format!("No live driver was asked, {shown}: {why}.")
}

/// The day of a machine's answers.
pub fn dated(machine: &Machine) -> String {
    if machine.record.live { "live".to_owned() } else { machine.record.recorded.clone() }
}

/// How many findings there are, and how many nobody has explained.
pub fn summary(report: &Report) -> String {
    let new = report.findings.iter().filter(|finding| !finding.known).count();
    match (report.findings.len(), new) {
        (0, _) => "No findings.".to_owned(),
        (1, 0) => "1 finding, known.".to_owned(),
        (all, 0) => format!("{all} findings, all known."),
        (1, _) => "1 finding, new.".to_owned(),
        (all, new) => format!("{all} findings, {new} of them new."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{attribute, header, of_headers, places};

    #[test]
    fn headers_that_agree_are_one_epoch() {
        let early = || vec![attribute(0, Some(places("n")), "")];
        let late = || vec![attribute(0, Some(places("nl")), ""), attribute(1, None, "s")];
        let headers =
            [header("11.8", early()), header("12.0", early()), header("12.3", late()), header("13.0", late())];
        let epochs: Vec<_> =
            history(&headers).iter().map(|epoch| (epoch.attribute.id, range(epoch.first, epoch.last))).collect();
        let expected =
            [(0, "11.8 – 12.0"), (0, "12.3 – 13.0"), (1, "12.3 – 13.0")].map(|(id, text)| (id, text.to_owned()));
        assert_eq!(epochs, expected);
    }

    #[test]
    fn versions_of_a_finding_are_drawn_together() {
        let silent = |cuda| header(cuda, vec![attribute(0, None, "")]);
        let spoken = |cuda| header(cuda, vec![attribute(0, Some(places("l")), "")]);
        let headers = [silent("11.8"), silent("12.0"), spoken("12.3"), silent("13.0")];
        let findings = of_headers(&headers);
        let texts: Vec<_> = findings.iter().map(|finding| versions(finding, &headers)).collect();
        assert_eq!(texts, ["11.8 – 12.0, 13.0", "12.0 → 12.3", "12.3 → 13.0"]);
    }
}
