//! Entries that no longer hold.

use super::entry::Entry;
use crate::find::Version;
use crate::finding::{Basis, Case, Finding, Kind};
use crate::findings::{Facts, comparable};
use crate::machine::Answer;
use crate::place::Surface;

/// A finding for each surface on which something that the entry is about does not show what it says.
pub fn findings(entry: &Entry, facts: Facts<'_>, findings: &[Finding]) -> Vec<Finding> {
    let stale = entry.surfaces.iter().map(|&surface| {
        let shown: Vec<_> = findings.iter().filter(|finding| finding.is(entry.kind, entry.id, surface)).collect();
        let (mut cuda, mut machines) = match entry.kind.basis() {
            Basis::Change => (of_change(entry, facts, &shown), Vec::new()),
            _ => of_cases(entry, surface, facts, &shown),
        };
        cuda.dedup();
        machines.sort_unstable();
        machines.dedup();
        let evidence = format!("the known finding {} no longer holds; remove it or correct its versions", entry.kind);
        Finding { cuda, machines, ..Finding::new(Kind::StaleKnownFinding, entry.id, surface, evidence) }
    });
    stale.filter(|stale| !stale.cuda.is_empty() || !stale.machines.is_empty()).collect()
}

/// The headers around the change that do not show it.
fn of_change(entry: &Entry, facts: Facts<'_>, shown: &[&Finding]) -> Vec<Version> {
    let shows = |cuda: &[Version]| shown.iter().any(|finding| finding.cuda == cuda);
    let judged = facts
        .headers
        .windows(2)
        .filter(|pair| entry.between(pair[0].cuda, pair[1].cuda) && comparable(&pair[0], &pair[1], entry.id))
        .map(|pair| [pair[0].cuda, pair[1].cuda]);
    judged.filter(|cuda| !shows(cuda)).flatten().collect()
}

/// The headers and machines that do not show it.
fn of_cases(entry: &Entry, surface: Surface, facts: Facts<'_>, shown: &[&Finding]) -> (Vec<Version>, Vec<usize>) {
    let shown: Vec<Case> = shown.iter().flat_map(|finding| finding.cases()).collect();
    let missing: Vec<Case> = judged(entry, surface, facts).into_iter().filter(|case| !shown.contains(case)).collect();
    (missing.iter().filter_map(|case| case.cuda).collect(), missing.iter().filter_map(|case| case.machine).collect())
}

/// The cases that an entry is about and on which something can be said.
fn judged(entry: &Entry, surface: Surface, facts: Facts<'_>) -> Vec<Case> {
    let headers = || facts.headers.iter().map(|header| header.cuda).filter(|&cuda| entry.has_header(cuda));
    let machines = || {
        let machines = facts.machines.iter().enumerate();
        let judged = machines.filter(|(_, machine)| {
            entry.has_machine(machine)
                && machine.has_say(entry.id, surface)
                && comparable_drivers(entry, surface, facts)
        });
        judged.map(|(index, _)| index)
    };
    match entry.kind.basis() {
        Basis::Header => headers().map(|cuda| Case { cuda: Some(cuda), machine: None }).collect(),
        Basis::Machine => machines().map(|index| Case { cuda: None, machine: Some(index) }).collect(),
        Basis::Both => headers()
            .flat_map(|cuda| machines().map(move |index| Case { cuda: Some(cuda), machine: Some(index) }))
            .collect(),
        Basis::Change | Basis::Ours => Vec::new(),
    }
}

/// Drivers can be held against each other only where one accepts.
fn comparable_drivers(entry: &Entry, surface: Surface, facts: Facts<'_>) -> bool {
    let accepts = || facts.machines.iter().any(|machine| machine.answer(entry.id, surface.calls()) == Answer::Accepted);
    entry.kind != Kind::RefusedNowAcceptedElsewhere || accepts()
}
