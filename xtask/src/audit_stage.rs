//! The launcher of `cargo xtask audit`: provisions what the audit needs, then builds and runs it (stage two).

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::{ExitCode, ExitStatus};

use anyhow::{Context, Result};

use crate::find::Version;
use crate::{COULD_NOT_RUN, cargo, setup};

const STAGE_TWO: [&str; 6] = ["--package", "xtask", "--features", "audit", "--bin", "audit"];

/// Runs the audit; its exit status is ours.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    let needs = Needs::of(arguments)?;
    if !needs.nothing {
        let all = if needs.all_cuda { setup::supported()? } else { Vec::new() };
        setup::building_and(&[all, needs.cuda].concat())?;
    }
    if !build_if_cold()? {
        return Ok(COULD_NOT_RUN.into());
    }
    let mut audit = cargo();
    // A path in the arguments is relative to where the user is.
    audit.current_dir(std::env::current_dir().context("the current folder is gone")?);
    let manifest = crate::workspace().join("xtask/Cargo.toml");
    audit.args(["run", "--quiet", "--manifest-path"]).arg(manifest).args(STAGE_TWO).arg("--").args(arguments);
    Ok(exit_code(audit.status().context("cannot run cargo")?))
}

/// The first build takes a while, so cargo shows its progress; later ones are quiet.
fn build_if_cold() -> Result<bool> {
    let built = std::env::current_exe()?.with_file_name(format!("audit{}", std::env::consts::EXE_SUFFIX));
    if built.is_file() {
        return Ok(true);
    }
    eprintln!("building the audit (only the first time)…");
    let mut build = cargo();
    build.arg("build").args(STAGE_TWO);
    if !std::io::stderr().is_terminal() {
        build.arg("--quiet");
    }
    Ok(build.status().context("cannot run cargo")?.success())
}

/// The audit's own status. What is none of its (cargo's 101, a signal) means that it could not run.
fn exit_code(status: ExitStatus) -> ExitCode {
    match status.code() {
        Some(code @ 0..=2) => u8::try_from(code).unwrap_or(COULD_NOT_RUN).into(),
        _ => COULD_NOT_RUN.into(),
    }
}

/// What the arguments ask to have provisioned. The audit itself reads them all, and reports what is wrong with them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Needs {
    cuda: Vec<Version>,
    all_cuda: bool,
    /// Only help or the version is asked for.
    nothing: bool,
}

impl Needs {
    fn of(arguments: &[OsString]) -> Result<Self> {
        let mut needs = Self::default();
        let mut rest = arguments.iter().map(|argument| argument.to_str().unwrap_or_default());
        while let Some(argument) = rest.next() {
            match argument {
                "--" => break,
                "-h" | "--help" | "-V" | "--version" => needs.nothing = true,
                "--all-cuda" => needs.all_cuda = true,
                "--cuda" => needs.cuda.extend(rest.next().map(setup::parse_version).transpose()?),
                _ => {
                    if let Some(version) = argument.strip_prefix("--cuda=") {
                        needs.cuda.push(setup::parse_version(version)?);
                    }
                }
            }
        }
        Ok(needs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(line: &str) -> Result<Needs> {
        Needs::of(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn versions_are_picked_out_of_other_arguments() {
        let cuda = vec![Version(12000), Version(13050)];
        let found = needs("--format json --cuda 12.0 --cuda=13.5 --output x -- --cuda 11.8").unwrap();
        assert_eq!(found, Needs { cuda, ..Needs::default() });
        assert!(needs("--all-cuda").unwrap().all_cuda);
        assert_eq!(needs("--headers /somewhere").unwrap(), Needs::default());
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
        assert_eq!(needs("--cuda").unwrap(), Needs::default());
    }
}
