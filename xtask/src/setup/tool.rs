//! Running other people's programs: quietly, with what they said kept for the error.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// Runs a program to its end. `log` takes what it writes; `meanwhile` is called some ten times a second.
pub(super) fn run(command: &mut Command, log: &Path, mut meanwhile: impl FnMut()) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    command.env("LC_ALL", "C.UTF-8").stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound => bail!("{program} is not installed"),
        Err(error) => return Err(error).with_context(|| format!("cannot run {program}")),
    };
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        meanwhile();
        std::thread::sleep(Duration::from_millis(50));
    };
    if status.success() {
        return Ok(());
    }
    bail!("{program} failed ({status}): {}", essence(&fs::read_to_string(log).unwrap_or_default()))
}

/// What of a log tells why: the lines marked as errors, else the last one.
fn essence(log: &str) -> String {
    let lines = || log.lines().map(str::trim).filter(|line| !line.is_empty());
    // pip hides the cause in its warnings, and then says that it found no release.
    if let Some(broken) =
        lines().find_map(|line| Some(line.strip_prefix("WARNING: Retrying")?.split_once("broken by ")?.1))
    {
        let cause = broken.rsplit_once("': /").map_or(broken, |(cause, _)| cause);
        let cause = cause.rsplit_once(">: ").map_or(cause, |(_, cause)| cause);
        return format!("the package index did not answer: {}", cause.trim_matches(['\'', ')']));
    }
    let marked = |line: &&str| ["ERROR:", "E:"].iter().any(|mark| line.starts_with(mark));
    let mut telling: Vec<_> = lines().filter(marked).take(2).collect();
    if telling.is_empty() {
        telling.extend(lines().next_back());
    }
    telling.join("; ")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::setup::scratch::Folder;

    fn shell(script: &str) -> Result<()> {
        run(Command::new("sh").args(["-c", script]), &Folder::new().path().join("log"), || ())
    }

    #[test]
    fn a_failure_carries_the_telling_lines() {
        let error = |script| shell(script).unwrap_err().to_string();
        assert!(
            error("echo noise; echo 'E: no such package' >&2; echo noise; exit 100").ends_with(": E: no such package")
        );
        assert!(error("echo first; echo last; exit 3").ends_with(": last"));
        assert!(shell("exit 0").is_ok());
    }

    #[test]
    fn an_unreachable_index_is_told_from_a_missing_release() {
        let log = "WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError('<Connection object at \
                   0x7f>: Failed to establish a new connection: [Errno -3] No name')': /simple/x/\nERROR: none found\n";
        let expected = "the package index did not answer: Failed to establish a new connection: [Errno -3] No name";
        assert_eq!(essence(log), expected);
    }

    #[test]
    fn an_absent_program_is_named() {
        let log = Folder::new();
        let error = run(&mut Command::new("no-such-program"), &log.path().join("log"), || ()).unwrap_err();
        assert_eq!(error.to_string(), "no-such-program is not installed");
    }
}
