//! The stamp of something provisioned: which archive it came from, and each of its files.
//!
//! It is the last thing written before the folder is renamed into place, so a folder without one was never finished.
//! A run looks at names and sizes only, which costs a few milliseconds for all headers together and catches what
//! happens by accident: deleted, truncated and half-written files, a pin that moved on. `setup --check` reads the
//! contents as well.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::checksum;
use super::pins::Pin;

const NAME: &str = ".provisioned";

/// How closely to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    Sizes,
    Contents,
}

/// What a look at a folder tells.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum State {
    Intact,
    Missing,
    /// The stamp is of another archive.
    Outdated,
    Damaged(String),
}

/// Stamps a folder as holding what a pin provides.
pub(super) fn write(folder: &Path, pin: &Pin) -> Result<usize> {
    let mut files = Vec::new();
    list(folder, &mut files)?;
    files.sort_unstable();
    let mut text = format!("{}  {}\n", pin.sha256, pin.file);
    for file in &files {
        let name = file.strip_prefix(folder).unwrap_or(file);
        let name = name.to_str().with_context(|| format!("{} is not UTF-8", name.display()))?;
        text += &format!("{}  {}  {name}\n", checksum::of(file)?, file.metadata()?.len());
    }
    fs::write(folder.join(NAME), text)?;
    Ok(files.len())
}

/// Compares a folder with its stamp, and the stamp with the pin.
pub(super) fn check(folder: &Path, pin: &Pin, depth: Depth) -> State {
    if !folder.exists() {
        return State::Missing;
    }
    let Ok(text) = fs::read_to_string(folder.join(NAME)) else {
        return State::Damaged("it has no stamp".into());
    };
    let mut lines = text.lines();
    if lines.next().and_then(|line| line.split_once("  ")).is_none_or(|(sha256, _)| sha256 != pin.sha256) {
        return State::Outdated;
    }
    match lines.find_map(|line| fault(folder, line, depth)) {
        Some(fault) => State::Damaged(fault),
        None => State::Intact,
    }
}

fn fault(folder: &Path, line: &str, depth: Depth) -> Option<String> {
    let mut fields = line.splitn(3, "  ");
    let (Some(sha256), Some(Ok(size)), Some(name)) =
        (fields.next(), fields.next().map(str::parse::<u64>), fields.next())
    else {
        return Some("its stamp cannot be read".into());
    };
    let file = folder.join(name);
    match file.metadata() {
        Err(error) => Some(format!("{name}: {error}")),
        Ok(found) if found.len() != size => Some(format!("{name} has {} bytes instead of {size}", found.len())),
        Ok(_) if depth == Depth::Sizes => None,
        Ok(_) => match checksum::of(&file) {
            Ok(actual) if actual == sha256 => None,
            Ok(_) => Some(format!("{name} was changed")),
            Err(error) => Some(format!("{name}: {error}")),
        },
    }
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            list(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::scratch::{Folder, pin};

    fn stamped() -> (Folder, PathBuf, Pin) {
        let folder = Folder::new();
        let header = folder.write("include/cuda.h", b"#define CUDA_VERSION 13050\n");
        let pin = pin("a.whl", b"archive");
        assert_eq!(write(folder.path(), &pin).unwrap(), 1);
        (folder, header, pin)
    }

    #[test]
    fn untouched_is_intact() {
        let (folder, _, pin) = stamped();
        assert_eq!(check(folder.path(), &pin, Depth::Sizes), State::Intact);
        assert_eq!(check(folder.path(), &pin, Depth::Contents), State::Intact);
    }

    #[test]
    fn a_truncated_or_deleted_file_is_noticed_by_size() {
        let (folder, header, pin) = stamped();
        fs::write(&header, b"#define").unwrap();
        assert!(
            matches!(check(folder.path(), &pin, Depth::Sizes), State::Damaged(why) if why.contains("7 bytes instead of 27"))
        );
        fs::remove_file(&header).unwrap();
        assert!(matches!(check(folder.path(), &pin, Depth::Sizes), State::Damaged(_)));
    }

    #[test]
    fn a_changed_file_of_the_same_size_is_noticed_by_contents() {
        let (folder, header, pin) = stamped();
        fs::write(&header, b"#define CUDA_VERSION 13040\n").unwrap();
        assert_eq!(check(folder.path(), &pin, Depth::Sizes), State::Intact);
        assert!(
            matches!(check(folder.path(), &pin, Depth::Contents), State::Damaged(why) if why.contains("was changed"))
        );
    }

    #[test]
    fn unfinished_outdated_and_garbled_are_told_apart() {
        let (folder, _, mut pin) = stamped();
        assert_eq!(check(&folder.path().join("nowhere"), &pin, Depth::Sizes), State::Missing);
        fs::write(folder.path().join(NAME), format!("{}  a.whl\ngarbage\n", pin.sha256)).unwrap();
        assert!(
            matches!(check(folder.path(), &pin, Depth::Sizes), State::Damaged(why) if why.contains("cannot be read"))
        );
        pin.sha256 = "0".repeat(64);
        assert_eq!(check(folder.path(), &pin, Depth::Sizes), State::Outdated);
        fs::remove_file(folder.path().join(NAME)).unwrap();
        assert!(matches!(check(folder.path(), &pin, Depth::Sizes), State::Damaged(_)));
    }
}
