//! What is odd: where the sources disagree, and what changed from one header to the next.

mod documented;
mod headers;
mod machines;
mod offered;
mod values;

use crate::declared::Declared;
use crate::finding::Finding;
use crate::machine::Machine;
use crate::model::Header;

pub use headers::comparable;

/// The four sources. A header has two of them, its prose and its aliases.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Oldest first.
    pub headers: &'a [Header],
    pub declared: &'a [Declared],
    pub machines: &'a [Machine],
}

/// Every finding, by id.
pub fn of(facts: Facts<'_>) -> Vec<Finding> {
    let mut found = headers::of(facts.headers);
    found.extend(documented::of(facts));
    found.extend(offered::of(facts));
    found.extend(machines::of(facts.machines));
    found.extend(values::of(facts.machines));
    let mut findings = merged(found);
    findings.sort_by(|a, b| {
        (a.id, a.kind, a.surface, &a.cuda, &a.machines).cmp(&(b.id, b.kind, b.surface, &b.cuda, &b.machines))
    });
    findings
}

/// The same observation in several headers or on several machines is one finding.
fn merged(found: Vec<Finding>) -> Vec<Finding> {
    fn same(a: &Finding, b: &Finding) -> bool {
        a.is(b.kind, b.id, b.surface) && a.evidence == b.evidence && !a.kind.is_change()
    }
    let mut by_header: Vec<Finding> = Vec::new();
    for new in found {
        match by_header.iter_mut().find(|old| same(old, &new) && old.cuda == new.cuda) {
            Some(old) => old.machines.extend(new.machines),
            None => by_header.push(new),
        }
    }
    let mut findings: Vec<Finding> = Vec::new();
    for new in by_header {
        match findings.iter_mut().find(|old| same(old, &new) && old.machines == new.machines) {
            Some(old) => old.cuda.extend(new.cuda),
            None => findings.push(new),
        }
    }
    findings
}
