//! Texts that more than one format shows.

use crate::find::Version;
use crate::model::{Attribute, Finding, Header, Report, Surface};

/// What the two sources of a header say about one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub documented: Option<bool>,
    /// None where aliases are not a thing.
    pub aliased: Option<bool>,
}

/// Streams, graph nodes, launches.
pub const SURFACES: [Surface; 3] = [Surface::Stream, Surface::Node, Surface::Launch];

pub fn places(attribute: &Attribute) -> [Place; 3] {
    let documented = attribute.documented;
    [
        Place { documented: documented.map(|places| places.stream), aliased: Some(attribute.aliased.stream) },
        Place { documented: documented.map(|places| places.node), aliased: Some(attribute.aliased.node) },
        Place { documented: documented.map(|places| places.launch), aliased: None },
    ]
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
                Some(epoch) if places(epoch.attribute) == places(attribute) => epoch.last = header.cuda,
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
    use crate::findings::of_headers;
    use crate::fixture::{attribute, header, places};

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
