//! Debian packages, through an apt that works in a folder of its own: nothing of the system's apt changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::apt_sources::{Format, rewrite};
use super::pins::{Pin, Pins, What};
use super::pip::size;
use super::progress::Task;
use super::tool;

const COMPONENT: &str = "non-free";

/// A private apt, its package lists fetched.
#[derive(Debug)]
pub(super) struct Apt {
    folder: PathBuf,
}

impl Apt {
    /// Copies the sources of the system (`/etc/apt`), and fetches the lists of the releases that the pins need.
    pub(super) fn new(folder: &Path, etc: &Path, pins: &Pins) -> Result<Self> {
        let mut suites: Vec<&str> = pins
            .0
            .iter()
            .filter_map(|pin| match &pin.what {
                What::Driver { suite, .. } => Some(suite.as_str()),
                _ => None,
            })
            .collect();
        suites.sort_unstable();
        suites.dedup();

        for part in ["sources", "lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(folder.join(part))?;
        }
        if !copy_sources(etc, &folder.join("sources"), &suites)? {
            bail!("this machine's apt sources ({}) name no Debian archive", etc.display());
        }
        fs::write(folder.join("status"), "")?;
        fs::write(folder.join("apt.conf"), configuration(folder))?;
        let apt = Self { folder: folder.to_owned() };
        let update = tool::run(apt.get().arg("update"), &folder.join("update.log"), || ());
        // A release that is gone does not stop the others: what is missing shows when it is asked for.
        if !has_lists(&folder.join("lists"))? {
            update
                .and_then(|()| bail!("apt-get update fetched none"))
                .context("Debian's package lists are not to be had")?;
        }
        Ok(apt)
    }

    pub(super) fn download(&self, pin: &Pin, staging: &Path, task: &Task<'_>) -> Result<PathBuf> {
        let folder = staging.join("deb");
        fs::create_dir_all(&folder)?;
        let mut download = self.get();
        download.arg("download").arg(format!("{}={}", pin.package, pin.version)).current_dir(&folder);
        tool::run(&mut download, &staging.join("apt.log"), || task.reached(size(&folder))).with_context(|| {
            let What::Driver { suite, .. } = &pin.what else { return String::new() };
            format!(
                "{} {} could not be had from Debian {suite}, which may have moved on to another version",
                pin.package, pin.version
            )
        })?;
        let deb = folder.join(&pin.file);
        deb.metadata().with_context(|| format!("apt fetched another file than {}", pin.file))?;
        Ok(deb)
    }

    fn get(&self) -> Command {
        let mut command = Command::new("apt-get");
        command.arg("--config-file").arg(self.folder.join("apt.conf"));
        command
    }
}

fn copy_sources(etc: &Path, into: &Path, suites: &[&str]) -> Result<bool> {
    let parts = fs::read_dir(etc.join("sources.list.d")).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut any = false;
    for file in std::iter::once(etc.join("sources.list")).chain(parts) {
        let Some((name, format)) =
            file.file_name().and_then(|name| Some((name.to_str()?, Format::of(name.to_str()?)?)))
        else {
            continue;
        };
        let text = fs::read_to_string(&file).unwrap_or_default();
        let rewritten = rewrite(&text, format, suites, COMPONENT);
        if !rewritten.is_empty() {
            any = true;
            fs::write(into.join(name), rewritten)?;
        }
    }
    Ok(any)
}

fn has_lists(folder: &Path) -> Result<bool> {
    for entry in fs::read_dir(folder)? {
        if entry?.file_name().to_string_lossy().contains("_Packages") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Read after the system's configuration, whose proxies and certificates it keeps. Hooks that run after an update
/// would touch the system's caches, so they are cleared. Sandboxing would need a folder that user `_apt` can reach.
fn configuration(folder: &Path) -> String {
    let at = folder.display();
    format!(
        r#"#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Dir::Etc::SourceList "{at}/sources/none";
Dir::Etc::SourceParts "{at}/sources";
Dir::Etc::Preferences "{at}/none";
Dir::Etc::PreferencesParts "{at}/none";
Dir::State "{at}";
Dir::State::Lists "{at}/lists";
Dir::State::status "{at}/status";
Dir::Cache "{at}/cache";
Dir::Log "{at}";
APT::Sandbox::User "root";
APT::Default-Release "";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::scratch::Folder;

    #[test]
    fn only_files_that_apt_reads_are_copied() {
        let folder = Folder::new();
        let line = b"deb http://m.example/debian bookworm main\n";
        folder.write("etc/sources.list.d/debian.list", line);
        folder.write("etc/sources.list.d/off.list.disabled", line);
        folder.write("etc/sources.list.d/other.list", b"deb http://m.example/other bookworm main\n");
        let into = folder.path().join("into");
        fs::create_dir(&into).unwrap();
        assert!(copy_sources(&folder.path().join("etc"), &into, &["trixie"]).unwrap());
        let copied: Vec<_> = fs::read_dir(&into).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(copied, ["debian.list"]);
        assert_eq!(
            fs::read_to_string(into.join("debian.list")).unwrap(),
            "deb http://m.example/debian trixie non-free\n"
        );
    }

    #[test]
    fn a_machine_without_debian_sources_is_told_so() {
        let folder = Folder::new();
        let etc = folder.path().join("etc");
        let error = Apt::new(&folder.path().join("apt"), &etc, &Pins::load().unwrap()).unwrap_err();
        assert!(error.to_string().contains("name no Debian archive"), "{error}");
    }
}
