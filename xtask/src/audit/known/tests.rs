use super::*;
use crate::finding::Kind;
use crate::findings;
use crate::fixture::{attribute, declared, header, machine, places};
use crate::machine::Machine;
use crate::model::Header;

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
    applied_to(known, headers, &[])
}

fn applied_to(known: &str, headers: &[Header], machines: &[Machine]) -> Vec<(Kind, bool)> {
    let facts = Facts { headers, declared: &[declared(0, "snl", "sn")], machines };
    let mut findings = findings::of(facts);
    // The typed layer is not the matter here.
    findings.retain(|finding| finding.kind != Kind::OfferedButRejected);
    Known::parse(known).unwrap().apply(facts, &mut findings).unwrap();
    findings.iter().map(|finding| (finding.kind, finding.known)).collect()
}

/// Whether the entries can be about these headers at all.
fn checked(known: &str, headers: &[Header]) -> Result<(), String> {
    let facts = Facts { headers, declared: &[], machines: &[] };
    Known::parse(known).unwrap().apply(facts, &mut Vec::new())
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
    let known = entry("prose-changed", "since = \"12.3\"") + &entry("no-prose", "since = \"12.0\"\nuntil = \"12.2\"");
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
        (entry("offered-but-rejected", "driver_since = \"12.3\""), "not listed"),
        (entry("no-prose", "since = \"12.3\"\ndriver_since = \"12.3\""), "neither `driver_since`"),
        (entry("no-prose", "since = \"12.3\"\ndevice = \"x\""), "no `device`"),
        (entry("value-clamped", "since = \"12.3\"\ndriver_since = \"12.3\""), "neither `since`"),
        (entry("value-clamped", ""), "`driver_since` is missing"),
        (entry("documented-but-rejected", "since = \"12.3\""), "`driver_since` is missing"),
        (entry("no-prose", "since = \"12.3\"").replace("\"all\"", "\"tensor\""), "a surface is one of"),
        (entry("no-prose", "since = \"12.3\"").replace("\"all\"", "[]"), "no surface"),
        (entry("no-prose", "since = \"12.3\"").replace("so it is", " "), "no reason"),
        (entry("no-prose", "since = \"12.3\"") + &entry("no-prose", "since = \"12.0\""), "listed twice"),
        ("[[finding".to_owned(), "TOML"),
    ] {
        let error = Known::parse(&text).unwrap_err();
        assert!(error.contains(says), "{says}: {error}");
    }
}

#[test]
fn an_id_that_nothing_has_is_refused() {
    let known = entry("no-prose", "since = \"12.0\"").replace("id = 0", "id = 99");
    assert!(checked(&known, &[silent("12.0")]).unwrap_err().contains("id 99"));
    assert!(checked(&known, &[silent("11.8")]).is_ok());
    let known = entry("value-clamped", "driver_since = \"12.0\"").replace("id = 0", "id = 99");
    assert!(checked(&known, &[silent("12.0")]).unwrap_err().contains("id 99"));
}

const UNREADABLE: Kind = Kind::SetAcceptedGetRefused;

/// Nodes take id 0 and do not give it back.
fn write_only(driver: &str) -> Machine {
    machine(driver, &["0 node_set +", "0 node_get -"])
}

#[test]
fn an_entry_covers_its_machines_and_no_others() {
    let known = |range: &str| entry("set-accepted-get-refused", range).replace("\"all\"", "[\"node_get\"]");
    let bounded = known("driver_since = \"12.0\"\ndriver_until = \"13.0\"");
    assert_eq!(applied_to(&bounded, &[], &[write_only("13.0")]), [(UNREADABLE, true)]);
    assert_eq!(applied_to(&bounded, &[], &[write_only("13.1")]), [(UNREADABLE, false)]);
    assert_eq!(applied_to(&bounded, &[], &[write_only("12.4"), write_only("13.1")]), [(UNREADABLE, false)]);
    let elsewhere = known("driver_since = \"12.0\"\ndevice = \"Another\"");
    assert_eq!(applied_to(&elsewhere, &[], &[write_only("13.0")]), [(UNREADABLE, false)]);
    let here = known("driver_since = \"12.0\"\ndevice = \"Device\"");
    assert_eq!(applied_to(&here, &[], &[write_only("13.0")]), [(UNREADABLE, true)]);
}

#[test]
fn an_entry_is_stale_only_where_a_machine_that_was_asked_denies_it() {
    let known = entry("set-accepted-get-refused", "driver_since = \"12.0\"").replace("\"all\"", "\"node_get\"");
    let stale = [(Kind::StaleKnownFinding, false)];
    assert_eq!(applied_to(&known, &[silent("13.0")], &[]).len(), 1, "no machine, nothing to say");
    assert_eq!(applied_to(&known, &[], &[machine("13.0", &["0 node_set +", "0 node_get +"])]), stale);
    for answers in [&["0 node_get ?"][..], &["0 node_get ."], &["0 node_get ∅"], &["1 node_get -"]] {
        let header = header("13.0", vec![attribute(0, Some(places("n")), "n")]);
        assert_eq!(applied_to(&known, &[header], &[machine("13.0", answers)]), [], "{answers:?}");
    }
    assert_eq!(applied_to(&known, &[spoken("11.8")], &[machine("11.8", &["0 node_get +"])]), []);
}

#[test]
fn an_entry_about_both_names_headers_and_drivers() {
    let known =
        entry("documented-but-rejected", "since = \"12.0\"\ndriver_since = \"12.4\"").replace("\"all\"", "\"launch\"");
    let refusing = |driver| machine(driver, &["0 launch -"]);
    let rejected = |known| [(Kind::DocumentedButRejected, known)];
    assert_eq!(applied_to(&known, &[spoken("12.0")], &[refusing("12.4")]), rejected(true));
    assert_eq!(applied_to(&known, &[spoken("12.0")], &[refusing("12.3")]), rejected(false));
    assert_eq!(applied_to(&known, &[spoken("11.8")], &[refusing("12.4")]), rejected(false));
    assert_eq!(
        applied_to(&known, &[spoken("12.0")], &[machine("13.0", &["0 launch +"])]),
        [(Kind::StaleKnownFinding, false)]
    );
}

#[test]
fn drivers_that_agree_say_nothing_about_an_older_difference() {
    let known = entry("refused-now-accepted-elsewhere", "driver_since = \"12.0\"").replace("\"all\"", "\"launch\"");
    let header = || [spoken("11.8")];
    let refused = (Kind::DocumentedButRejected, false);
    assert_eq!(applied_to(&known, &header(), &[machine("12.0", &["0 launch -"])]), [refused]);
    let both = [machine("12.0", &["0 launch -"]), machine("11.8", &["0 launch +"])];
    assert_eq!(applied_to(&known, &header(), &both), [refused, (Kind::RefusedNowAcceptedElsewhere, true)]);
    assert_eq!(applied_to(&known, &header(), &[machine("12.0", &["0 launch +"])]), [(Kind::StaleKnownFinding, false)]);
}
