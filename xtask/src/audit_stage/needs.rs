//! What the arguments ask for, as far as this stage has to know. The audit itself reads them all, and reports what is
//! wrong with them.

use std::ffi::OsString;

use anyhow::Result;

use crate::find::Version;
use crate::setup;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Needs {
    /// Versions that are named one by one.
    pub(super) cuda: Vec<Version>,
    pub(super) headers: Headers,
    /// The driver of this machine may be asked.
    pub(super) driver: bool,
    /// Only help or the version is asked for.
    pub(super) nothing: bool,
}

/// Which headers the audit reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Headers {
    /// Those that the build of cuda-sys finds.
    Found,
    /// By folder or by version.
    Named,
    /// The newest that can be provisioned.
    Newest,
    /// All that can be.
    All,
}

impl Needs {
    pub(super) fn of(arguments: &[OsString]) -> Result<Self> {
        let mut needs = Self { cuda: Vec::new(), headers: Headers::Found, driver: true, nothing: false };
        let (mut observed, mut record) = (false, false);
        let mut rest = arguments.iter().map(|argument| argument.to_str().unwrap_or_default());
        while let Some(argument) = rest.next() {
            let (name, attached) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (argument, None),
            };
            match name {
                "--" => break,
                "-h" | "--help" | "-V" | "--version" => needs.nothing = true,
                "--all-cuda" => needs.headers = Headers::All,
                "--reference" => (needs.headers, needs.driver) = (Headers::Newest, false),
                "--headers" => needs.name_headers(),
                "--cuda" => {
                    needs.name_headers();
                    needs.cuda.extend(attached.or_else(|| rest.next()).map(setup::parse_version).transpose()?);
                }
                "--observed" => observed = true,
                "--record" => record = true,
                _ => {}
            }
        }
        needs.driver &= (record || !observed) && !needs.nothing;
        Ok(needs)
    }

    fn name_headers(&mut self) {
        if self.headers == Headers::Found {
            self.headers = Headers::Named;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(line: &str) -> Result<Needs> {
        Needs::of(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    fn headers(line: &str) -> Headers {
        needs(line).unwrap().headers
    }

    fn driver(line: &str) -> bool {
        needs(line).unwrap().driver
    }

    #[test]
    fn versions_are_picked_out_of_other_arguments() {
        let found = needs("--format json --cuda 12.0 --cuda=13.5 --output x -- --cuda 11.8").unwrap();
        assert_eq!(found.cuda, [Version(12000), Version(13050)]);
    }

    #[test]
    fn headers_are_named_or_found() {
        assert_eq!(headers("--format json"), Headers::Found);
        for line in ["--headers /somewhere", "--headers=/somewhere", "--cuda 12.0"] {
            assert_eq!(headers(line), Headers::Named, "{line}");
        }
        assert_eq!(headers("--all-cuda --cuda 12.0"), Headers::All);
        assert_eq!(headers("--cuda 12.0 --all-cuda"), Headers::All);
        assert_eq!(headers("--reference"), Headers::Newest);
    }

    #[test]
    fn the_driver_is_left_alone_where_records_suffice() {
        for (line, asked) in [
            ("", true),
            ("--headers /somewhere", true),
            ("--observed a b", false),
            ("--observed=a --record b", true),
            ("--reference", false),
            ("--help", false),
        ] {
            assert_eq!(driver(line), asked, "{line}");
        }
    }

    #[test]
    fn help_needs_nothing() {
        for line in ["--help", "-h", "--version", "--all-cuda --help"] {
            assert!(needs(line).unwrap().nothing, "{line}");
        }
    }

    #[test]
    fn what_is_no_version_stops_before_anything_is_fetched() {
        assert!(needs("--cuda thirteen").is_err());
        assert!(needs("--cuda").unwrap().cuda.is_empty());
    }
}
