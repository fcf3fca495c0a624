//! Headers by themselves: prose against aliases, and what changed from one to the next.

use crate::finding::{Finding, Kind};
use crate::model::{Attribute, Header};
use crate::place::Surface;

/// The findings of some headers, oldest first, one for each header that shows it.
pub fn of(headers: &[Header]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for header in headers {
        let mut add = |kind, id, surface, evidence| {
            findings.push(Finding { cuda: vec![header.cuda], ..Finding::new(kind, id, surface, evidence) });
        };
        for attribute in &header.attributes {
            in_attribute(attribute, &mut |kind, surface, evidence| add(kind, attribute.id, surface, evidence));
        }
        for id in gaps(header) {
            let evidence = "no attribute has this number, higher ones exist".to_owned();
            add(Kind::NumberGap, id, Surface::All, evidence);
        }
    }
    for pair in headers.windows(2) {
        findings.extend(changes(&pair[0], &pair[1]));
    }
    findings
}

/// Whether an attribute's prose can be compared between two headers: both must have it.
pub fn comparable(older: &Header, newer: &Header, id: u32) -> bool {
    older.attribute(id).is_some() && newer.attribute(id).is_some()
}

fn in_attribute(attribute: &Attribute, report: &mut impl FnMut(Kind, Surface, String)) {
    if let Some(sentence) = &attribute.unreadable {
        let evidence = format!("its comment has a sentence about places that we cannot read: “{sentence}”");
        report(Kind::UnreadableProse, Surface::All, evidence);
        return;
    }
    let Some(documented) = attribute.documented else {
        let aliases = match attribute.aliases.len() {
            0 => "and no alias macro names one".to_owned(),
            _ => format!("only the macros tell ({})", attribute.aliases.join(", ")),
        };
        report(Kind::NoProse, Surface::All, format!("its comment names no place, {aliases}"));
        return;
    };
    let aliased = attribute.aliased;
    for (surface, documented_here, aliased_here, prefix) in [
        (Surface::Stream, documented.stream, aliased.stream, "CU_STREAM_ATTRIBUTE"),
        (Surface::Node, documented.node, aliased.node, "CU_KERNEL_NODE_ATTRIBUTE"),
    ] {
        match (documented_here, aliased_here) {
            (true, false) => {
                let evidence =
                    format!("documented for {documented}, but no {prefix}_{} exists", attribute.short_name());
                report(Kind::DocumentedButNotAliased, surface, evidence);
            }
            (false, true) => {
                let evidence =
                    format!("{prefix}_{} exists, but it is documented for {documented}", attribute.short_name());
                report(Kind::AliasedButNotDocumented, surface, evidence);
            }
            _ => {}
        }
    }
    if !documented.launch {
        let mentions = attribute.named_in_text().filter(|mention| mention.function.starts_with("cuLaunch"));
        for mention in mentions {
            let sends = mention.see.as_ref().map_or(String::new(), |see| format!(" and sends readers to {see}"));
            let evidence =
                format!("the text of {} names it{sends}, but it is documented for {documented}", mention.function);
            report(Kind::NamedButNotDocumented, Surface::Launch, evidence);
        }
    }
}

fn gaps(header: &Header) -> impl Iterator<Item = u32> {
    let last = header.attributes.iter().map(|attribute| attribute.id).max().unwrap_or(0);
    (0..last).filter(|&id| header.attribute(id).is_none())
}

fn changes(older: &Header, newer: &Header) -> Vec<Finding> {
    let mut findings = Vec::new();
    for attribute in &newer.attributes {
        let Some(before) = older.attribute(attribute.id) else { continue };
        if before.documented != attribute.documented {
            let [was, is] = [before, attribute].map(|attribute| {
                attribute.documented.map_or_else(|| "nothing".to_owned(), |places| places.to_string())
            });
            let evidence = format!("its comment named {was} in {} and names {is} in {}", older.cuda, newer.cuda);
            let cuda = vec![older.cuda, newer.cuda];
            findings.push(Finding { cuda, ..Finding::new(Kind::ProseChanged, attribute.id, Surface::All, evidence) });
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{attribute, header, of_headers, places};

    fn keys(headers: &[Header]) -> Vec<(Kind, u32, Surface)> {
        of_headers(headers).iter().map(|finding| (finding.kind, finding.id, finding.surface)).collect()
    }

    #[test]
    fn agreement_is_no_finding() {
        let first = attribute(0, Some(places("snl")), "sn");
        let second = attribute(1, Some(places("l")), "");
        assert_eq!(keys(&[header("13.0", vec![first, second])]), []);
    }

    #[test]
    fn prose_and_aliases_are_compared_in_each_place() {
        let documented = attribute(0, Some(places("snl")), "");
        let aliased = attribute(1, Some(places("l")), "sn");
        let expected = [
            (Kind::DocumentedButNotAliased, 0, Surface::Stream),
            (Kind::DocumentedButNotAliased, 0, Surface::Node),
            (Kind::AliasedButNotDocumented, 1, Surface::Stream),
            (Kind::AliasedButNotDocumented, 1, Surface::Node),
        ];
        assert_eq!(keys(&[header("13.0", vec![documented, aliased])]), expected);
    }

    #[test]
    fn silence_is_one_finding_whatever_the_aliases() {
        let silent = header("13.0", vec![attribute(0, None, "sn")]);
        assert_eq!(keys(&[silent]), [(Kind::NoProse, 0, Surface::All)]);
    }

    #[test]
    fn a_missing_number_is_a_gap_and_the_end_is_not() {
        let header = header("13.0", vec![attribute(0, Some(places("l")), ""), attribute(2, Some(places("l")), "")]);
        assert_eq!(keys(&[header]), [(Kind::NumberGap, 1, Surface::All)]);
    }

    #[test]
    fn a_change_names_both_sides_and_a_new_attribute_is_none() {
        let older = header("12.0", vec![attribute(0, Some(places("n")), "n")]);
        let newer = header("12.3", vec![attribute(0, Some(places("nl")), "n"), attribute(1, Some(places("l")), "")]);
        let findings = of_headers(&[older, newer]);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].kind, Kind::ProseChanged);
        let cuda: Vec<_> = findings[0].cuda.iter().map(ToString::to_string).collect();
        assert_eq!(cuda, ["12.0", "12.3"]);
    }

    #[test]
    fn one_oddity_in_several_headers_is_one_finding() {
        let headers = ["12.0", "12.3"].map(|cuda| header(cuda, vec![attribute(0, None, "")]));
        let findings = of_headers(&headers);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].cuda.len(), 2);
    }
}
