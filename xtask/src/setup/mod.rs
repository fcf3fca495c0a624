//! `cargo xtask setup`: what the machine lacks for building and testing, into the git-ignored `.cuda/`.
//!
//! Existing installations come first. Everything else is pinned (`pins.toml`), verified, and renamed into place whole.
//! Nothing here needs CUDA, libclang or a GPU.

mod advice;
mod apt;
mod apt_sources;
mod checksum;
mod command;
mod existing;
mod fetch;
mod lock;
mod pins;
mod pip;
mod progress;
#[cfg(test)]
mod scratch;
mod stamp;
mod store;
mod tool;
mod unpack;

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};

pub(crate) use command::{Options, run};
pub(crate) use pins::parse_version;
use pins::{Pin, What};
use stamp::{Depth, State};
use store::Store;

use crate::find::{Headers, OLDEST, PROVISIONED, Version};

/// A driver's library for tests, or why it is not there.
#[derive(Debug)]
pub(crate) struct Driver {
    /// Such as `535.261.03`.
    pub(crate) version: String,
    /// What its `cuDriverGetVersion` answers.
    pub(crate) cuda: Version,
    pub(crate) library: Result<PathBuf, String>,
}

/// The libclang that builds will load.
enum Libclang<'s> {
    Installed(PathBuf),
    Provisioned(&'s Pin),
}

/// Every supported version that has a package, the oldest first.
pub(crate) fn supported() -> Result<Vec<Version>> {
    Ok(Store::open()?.supported())
}

/// Provisions headers of these versions; their include folders.
pub(crate) fn headers(versions: &[Version]) -> Result<Vec<PathBuf>> {
    let store = Store::open()?;
    let pins = versions.iter().map(|version| store.pins.headers(*version)).collect::<Result<Vec<_>>>()?;
    all_or_failure(&store, &pins)?;
    Ok(pins.iter().map(|pin| store.place(pin).join(pin.keep())).collect())
}

/// What building needs: headers (found, or the newest provisioned) and a libclang that loads.
pub(crate) fn building() -> Result<Headers> {
    building_and(&[])
}

/// What building needs, and headers of these versions.
pub(crate) fn building_and(versions: &[Version]) -> Result<Headers> {
    let store = Store::open()?;
    let mut pins = versions.iter().map(|version| store.pins.headers(*version)).collect::<Result<Vec<_>>>()?;
    pins.extend(store.needs()?);
    all_or_failure(&store, &pins)?;
    existing::headers(&store.folder)?.ok_or_else(|| anyhow!("the headers just provisioned are not found"))
}

/// What reading headers of these versions needs: them and a libclang that loads, whatever else is installed or missing.
pub(crate) fn reading(versions: &[Version]) -> Result<()> {
    let store = Store::open()?;
    let mut pins = versions.iter().map(|version| store.pins.headers(*version)).collect::<Result<Vec<_>>>()?;
    if let Libclang::Provisioned(pin) = store.libclang()? {
        pins.push(pin);
    }
    all_or_failure(&store, &pins)
}

/// Whether cuda-sys would find headers to build with as things are.
pub(crate) fn can_build() -> bool {
    Store::open().and_then(|store| existing::headers(&store.folder)).is_ok_and(|headers| headers.is_some())
}

/// The old drivers' libraries. None is an error: tests count those that are not there as not run.
pub(crate) fn drivers() -> Result<Vec<Driver>> {
    let store = Store::open()?;
    let pins = store.pins.drivers(std::env::consts::ARCH);
    let outcomes =
        store.provision(&pins).unwrap_or_else(|error| pins.iter().map(|_| Err(anyhow!("{error:#}"))).collect());
    Ok(pins.iter().zip(outcomes).filter_map(|(pin, outcome)| store.driver(pin, outcome)).collect())
}

/// How many of the old drivers' libraries are there, and of how many. Fetches nothing.
pub(crate) fn drivers_in_place() -> Result<(usize, usize)> {
    let store = Store::open()?;
    let pins = store.pins.drivers(std::env::consts::ARCH);
    let there = pins.iter().filter(|pin| store.state(pin, Depth::Sizes) == State::Intact).count();
    Ok((there, pins.len()))
}

impl Store {
    fn supported(&self) -> Vec<Version> {
        self.pins.versions().into_iter().filter(|version| *version >= OLDEST).collect()
    }

    /// What building needs and is not installed.
    fn needs(&self) -> Result<Vec<&Pin>> {
        let mut needs = Vec::new();
        if self.installed_headers()?.is_none() {
            needs.extend(self.newest());
        }
        if let Libclang::Provisioned(pin) = self.libclang()? {
            needs.push(pin);
        }
        Ok(needs)
    }

    /// Headers that are not ours. Those that setup itself put there for another purpose are no reason to do without
    /// the newest: which ones a build takes must not depend on history.
    fn installed_headers(&self) -> Result<Option<Headers>> {
        Ok(existing::headers(&self.folder)?.filter(|found| found.source != PROVISIONED))
    }

    fn newest(&self) -> Option<&Pin> {
        self.pins.headers(*self.pins.versions().last()?).ok()
    }

    /// Looking for an installed libclang means loading it: not if ours is in place.
    fn libclang(&self) -> Result<Libclang<'_>> {
        let target = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
        let pin = self.pins.libclang(&target);
        if let Some(pin) = pin
            && std::env::var_os("LIBCLANG_PATH").is_none()
            && self.state(pin, Depth::Sizes) == State::Intact
        {
            return Ok(Libclang::Provisioned(pin));
        }
        match existing::libclang()? {
            Some(library) => Ok(Libclang::Installed(library)),
            None => pin.map(Libclang::Provisioned).with_context(|| {
                format!(
                    "no libclang is installed, and there is no package of it for {target}; install it, or set \
                     LIBCLANG_PATH to its folder"
                )
            }),
        }
    }

    fn driver(&self, pin: &Pin, outcome: Result<()>) -> Option<Driver> {
        let What::Driver { version, cuda, .. } = &pin.what else { return None };
        let library = match outcome {
            Ok(()) => Ok(self.place(pin).join(pin.keep())),
            Err(error) => Err(format!("driver {version} could not be provisioned: {error:#}")),
        };
        Some(Driver { version: version.clone(), cuda: *cuda, library })
    }
}

fn all_or_failure(store: &Store, pins: &[&Pin]) -> Result<()> {
    let outcomes = store.provision(pins)?;
    let failed: Vec<_> = pins.iter().zip(outcomes).filter_map(|(pin, outcome)| Some((*pin, outcome.err()?))).collect();
    if failed.is_empty() { Ok(()) } else { Err(anyhow!(advice::failure(&failed))) }
}
