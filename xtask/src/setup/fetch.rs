//! An archive with the right checksum, from the user's own folder or from the network.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, anyhow};

use super::apt::Apt;
use super::checksum::verify;
use super::pins::{Pin, Pins, What};
use super::pip;
use super::progress::Task;

/// Where archives come from.
#[derive(Debug)]
pub(super) struct Sources<'a> {
    pub(super) pins: &'a Pins,
    /// Archives that the user put there.
    pub(super) downloads: PathBuf,
    pub(super) python: &'a Path,
    pub(super) apt_etc: &'a Path,
    pub(super) apt_folder: PathBuf,
    /// Prepared by the first package that needs it.
    pub(super) apt: OnceLock<Result<Apt>>,
}

impl Sources<'_> {
    /// The archive of a pin. One that arrives damaged is fetched once more.
    pub(super) fn archive(&self, pin: &Pin, staging: &Path, task: &Task<'_>) -> Result<PathBuf> {
        let placed = self.downloads.join(&pin.file);
        if placed.is_file() {
            match verify(&placed, pin) {
                Ok(()) => {
                    task.say(format_args!("taken from {}", placed.display()));
                    return Ok(placed);
                }
                Err(error) => task.say(format_args!("{} is not used: {error:#}", placed.display())),
            }
        }
        let first = self.download(pin, staging, false, task)?;
        let Err(error) = verify(&first, pin) else { return Ok(first) };
        task.say(format_args!("{error:#}; downloading it once more"));
        std::fs::remove_file(&first)?;
        let second = self.download(pin, staging, true, task)?;
        verify(&second, pin).context("it arrived damaged twice").map(|()| second)
    }

    fn download(&self, pin: &Pin, staging: &Path, again: bool, task: &Task<'_>) -> Result<PathBuf> {
        task.downloading(pin.size);
        match &pin.what {
            What::Headers(_) | What::Libclang { .. } => pip::download(self.python, pin, staging, again, task),
            What::Driver { .. } => {
                let apt = self.apt.get_or_init(|| Apt::new(&self.apt_folder, self.apt_etc, self.pins));
                apt.as_ref().map_err(|error| anyhow!("{error:#}"))?.download(pin, staging, task)
            }
        }
    }
}
