//! What test runners say, added up.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::iter::Sum;

/// One suite's numbers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) name: String,
    pub(crate) passed: u32,
    pub(crate) failed: u32,
    /// The tests that say that they did not run, by name.
    pub(crate) not_run: Vec<String>,
    /// The tests that failed, by name.
    pub(crate) failures: Vec<String>,
    /// What suites say of the driver that they ran on.
    pub(crate) drivers: Vec<String>,
}

impl Tally {
    /// Copies a runner's output to ours, and counts.
    pub(crate) fn read(name: &str, output: impl Read) -> io::Result<Self> {
        let mut tally = Self { name: name.to_owned(), ..Self::default() };
        for line in BufReader::new(output).lines() {
            let line = line?;
            println!("{line}");
            tally.add(&line);
        }
        Ok(tally)
    }

    /// A command that failed although no test did, such as one that does not compile, counts as a failed test.
    pub(crate) fn closed(mut self, success: bool) -> Self {
        if !success && self.failed == 0 {
            self.failed = 1;
        }
        self
    }

    fn add(&mut self, line: &str) {
        if let Some(numbers) = line.strip_prefix("test result: ") {
            let number = |what| {
                let before = numbers.split(';').find_map(|part| part.strip_suffix(what))?;
                before.split_whitespace().last()?.parse::<u32>().ok()
            };
            self.passed += number(" passed").unwrap_or_default();
            self.failed += number(" failed").unwrap_or_default();
        } else if let Some(suite) = line.strip_prefix("suite ") {
            self.drivers.push(suite.to_owned());
        } else if let Some((test, verdict)) = line.strip_prefix("test ").and_then(|test| test.split_once(" ... ")) {
            let test = test.trim_end().to_owned();
            match verdict {
                "FAILED" => self.failures.push(test),
                verdict if verdict.starts_with("ignored") => self.not_run.push(test),
                _ => {}
            }
        }
    }
}

/// Why tests did not run, as their names say, and which.
pub(crate) fn reasons<'a>(not_run: impl Iterator<Item = &'a String>) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut reasons: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for name in not_run {
        let (test, why) = name.rsplit_once(" (did not run: ").unwrap_or((name, "ignored by the source)"));
        let tests = reasons.entry(why.trim_end_matches(')')).or_default();
        // Suites are run more than once.
        if !tests.contains(&test) {
            tests.push(test);
        }
    }
    reasons
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        tallies.fold(Self::default(), |mut total, tally| {
            total.passed += tally.passed;
            total.failed += tally.failed;
            total.not_run.extend(tally.not_run);
            total
        })
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, passed, failed, not_run, failures: _, drivers: _ } = self;
        write!(f, "{name:<34}{passed:>8}{failed:>8}{:>12}", not_run.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
suite device, on a GPU
running 3 tests
test reads ... ok
test writes ... FAILED
test on a device (did not run: no GPU) ... ignored
test result: FAILED. 11 passed; 2 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.02s
test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    #[test]
    fn every_runner_counts() {
        let tally = Tally::read("suite", OUTPUT.as_bytes()).unwrap();
        assert_eq!((tally.passed, tally.failed), (16, 2));
        assert_eq!(tally.not_run, ["on a device (did not run: no GPU)"]);
        assert_eq!(tally.failures, ["writes"]);
        assert_eq!(tally.drivers, ["device, on a GPU"]);
    }

    #[test]
    fn tests_that_did_not_run_are_listed_by_reason() {
        let names = ["a (did not run: no GPU)", "b", "c (x) (did not run: no GPU)", "a (did not run: no GPU)"]
            .map(str::to_owned);
        let reasons = Vec::from_iter(reasons(names.iter()));
        assert_eq!(reasons, [("ignored by the source", vec!["b"]), ("no GPU", vec!["a", "c (x)"])]);
    }

    #[test]
    fn a_suite_that_does_not_compile_has_failed() {
        assert_eq!(Tally::default().closed(false).failed, 1);
        assert_eq!(Tally { failed: 2, ..Tally::default() }.closed(false).failed, 2);
        assert_eq!(Tally::default().closed(true).failed, 0);
    }
}
