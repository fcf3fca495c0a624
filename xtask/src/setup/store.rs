//! The folder `.cuda`: what is in place, and how a new thing gets there whole or not at all.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::thread;

use anyhow::{Context, Result, anyhow};

use super::fetch::Sources;
use super::lock::Lock;
use super::pins::{Pin, Pins, What};
use super::progress::{Progress, Task};
use super::stamp::{self, Depth, State};
use super::unpack;

/// pip spends most of its time waiting for the network.
const WORKERS: usize = 4;

/// `.cuda`, and the programs that fill it.
#[derive(Debug)]
pub(crate) struct Store {
    pub(super) folder: PathBuf,
    pub(super) pins: Pins,
    pub(super) python: PathBuf,
    pub(super) apt_etc: PathBuf,
}

impl Store {
    /// The store of this workspace.
    pub(crate) fn open() -> Result<Self> {
        Ok(Self {
            folder: crate::workspace().join(".cuda"),
            pins: Pins::load()?,
            python: if cfg!(windows) { "python" } else { "python3" }.into(),
            apt_etc: "/etc/apt".into(),
        })
    }

    pub(crate) fn place(&self, pin: &Pin) -> PathBuf {
        self.folder.join(pin.place())
    }

    pub(crate) fn state(&self, pin: &Pin, depth: Depth) -> State {
        stamp::check(&self.place(pin), pin, depth)
    }

    /// Puts into place what is not; one outcome for each pin. Nothing is written, and the network is left alone, if
    /// all is there.
    ///
    /// # Errors
    ///
    /// The store itself cannot be written.
    pub(crate) fn provision(&self, wanted: &[&Pin]) -> Result<Vec<Result<()>>> {
        let lacking = self.lacking(wanted);
        if lacking.is_empty() {
            return Ok(wanted.iter().map(|_| Ok(())).collect());
        }
        self.provision_locked(wanted).with_context(|| {
            let names: Vec<_> = lacking.iter().map(|pin| pin.name()).collect();
            format!("{} cannot be put into place", names.join(", "))
        })
    }

    fn lacking<'p>(&self, wanted: &[&'p Pin]) -> Vec<&'p Pin> {
        let mut lacking = Vec::new();
        for pin in wanted {
            if self.state(pin, Depth::Sizes) != State::Intact && !lacking.contains(pin) {
                lacking.push(*pin);
            }
        }
        lacking
    }

    fn provision_locked(&self, wanted: &[&Pin]) -> Result<Vec<Result<()>>> {
        let progress = Progress::new();
        let _lock =
            Lock::acquire(&self.folder, |pid| progress.say(format_args!("waiting for another setup (pid {pid})…")))?;
        // What a killed run left goes; the lock says that nobody uses it. A pip that outlived its setup may still write
        // there, so we work in a folder of our own.
        let all_tmp = self.folder.join("tmp");
        let _ = fs::remove_dir_all(&all_tmp);
        let tmp = all_tmp.join(std::process::id().to_string());
        fs::create_dir_all(&tmp).with_context(|| format!("cannot create {}", tmp.display()))?;
        let sources = Sources {
            pins: &self.pins,
            downloads: self.folder.join("downloads"),
            python: &self.python,
            apt_etc: &self.apt_etc,
            apt_folder: tmp.join("apt"),
            apt: OnceLock::new(),
        };

        let queue: Mutex<VecDeque<_>> = Mutex::new(self.lacking(wanted).into());
        let failures = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    while let Some(pin) = queue.lock().ok().and_then(|mut queue| queue.pop_front()) {
                        let task = progress.begin(pin.name(), pin.size);
                        if let State::Damaged(why) = self.state(pin, Depth::Sizes) {
                            task.say(format_args!("replacing what is there: {why}"));
                        }
                        match self.install(&sources, pin, &tmp, &task) {
                            Ok(files) => task
                                .end(format_args!("in place ({files} {})", if files == 1 { "file" } else { "files" })),
                            Err(error) => {
                                task.end("failed");
                                failures.lock().expect("no worker panics").push((pin, error));
                            }
                        }
                    }
                });
            }
        });
        let _ = fs::remove_dir_all(&all_tmp);
        let failures = failures.into_inner().expect("no worker panics");
        let outcome = |wanted: &&Pin| match failures.iter().find(|(failed, _)| failed == wanted) {
            Some((_, error)) => Err(anyhow!("{error:#}")),
            None => Ok(()),
        };
        Ok(wanted.iter().map(outcome).collect())
    }

    fn install(&self, sources: &Sources<'_>, pin: &Pin, tmp: &Path, task: &Task<'_>) -> Result<usize> {
        let staging = tmp.join(pin.place().replace('/', "-"));
        fs::create_dir_all(&staging)?;
        let archive = sources.archive(pin, &staging, task)?;
        task.unpacking();
        let fresh = staging.join("fresh");
        match pin.what {
            What::Headers(_) | What::Libclang { .. } => unpack::wheel(&archive, pin, &fresh)?,
            What::Driver { .. } => unpack::deb(&archive, pin, &staging, &fresh)?,
        }
        let files = stamp::write(&fresh, pin)?;
        replace(&fresh, &self.place(pin), &staging.join("old"))?;
        Ok(files)
    }
}

/// Renames `fresh` to `place`; what was there becomes `old`.
fn replace(fresh: &Path, place: &Path, old: &Path) -> Result<()> {
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent)?;
    }
    if place.symlink_metadata().is_ok() {
        fs::rename(place, old).with_context(|| format!("cannot replace {}", place.display()))?;
    }
    fs::rename(fresh, place).with_context(|| format!("cannot create {}", place.display()))
}

#[cfg(all(test, unix))]
#[path = "store_tests.rs"]
mod tests;
