//! Sources to report: the history across headers, then the findings.

use crate::declared::Declared;
use crate::find::{OLDEST, Version};
use crate::findings::{self, Facts};
use crate::known::Known;
use crate::machine::{Asked, Machine};
use crate::model::{Header, Report};
use crate::observations::SCHEMA;

/// Joins the sources; headers oldest first.
pub fn build(
    mut headers: Vec<Header>,
    declared: Vec<Declared>,
    (machines, live_driver): (Vec<Machine>, Asked),
    known: &Known,
) -> Result<Report, String> {
    date(&mut headers);
    let facts = Facts { headers: &headers, declared: &declared, machines: &machines };
    let mut findings = findings::of(facts);
    known.apply(facts, &mut findings)?;
    Ok(Report { schema: SCHEMA, headers, declared, machines, live_driver, findings })
}

/// Tells the first header of each id where an older one lacks it, or where no older one can have it.
fn date(headers: &mut [Header]) {
    for index in 0..headers.len() {
        let (older, newer) = headers.split_at_mut(index);
        let header = &mut newer[0];
        for attribute in &mut header.attributes {
            let first: Option<Version> = match older.iter().find_map(|older| older.attribute(attribute.id)) {
                Some(earlier) => earlier.first_seen,
                None if !older.is_empty() || header.cuda == OLDEST => Some(header.cuda),
                None => None,
            };
            attribute.first_seen = first;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{attribute, header, places};

    #[test]
    fn the_first_version_is_told_only_where_it_is_known() {
        let old = || attribute(0, Some(places("l")), "");
        let new = || attribute(1, Some(places("l")), "");
        let since = |headers: &[&str]| {
            let mut headers: Vec<_> = headers.iter().map(|cuda| header(cuda, vec![old(), new()])).collect();
            headers[0].attributes.pop();
            date(&mut headers);
            let last = headers.pop().unwrap();
            last.attributes.iter().map(|a| a.first_seen.map(|first| first.to_string())).collect::<Vec<_>>()
        };
        assert_eq!(since(&["12.0", "12.3", "13.0"]), [None, Some("12.3".into())]);
        assert_eq!(since(&["11.8", "13.0"]), [Some("11.8".into()), Some("13.0".into())]);
    }
}
