//! The command line's `setup`.

use std::process::ExitCode;

use anyhow::{Result, ensure};

use super::pins::Pin;
use super::stamp::{Depth, State};
use super::store::Store;
use super::{Libclang, all_or_failure};
use crate::find::Version;

/// What `cargo xtask setup` was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) cuda: Vec<Version>,
    pub(crate) all_cuda: bool,
    pub(crate) drivers: bool,
    pub(crate) check: bool,
}

/// Provisions, or with `check` only looks.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let store = Store::open()?;
    let wanted = wanted(&store, options)?;
    if options.check {
        return Ok(check(&store, &wanted));
    }
    all_or_failure(&store, &wanted)?;
    for pin in &wanted {
        println!("{}: {}", pin.name(), store.place(pin).join(pin.keep()).display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Versions asked for come from their packages, whatever is installed; otherwise what the machine has comes first.
fn wanted<'s>(store: &'s Store, options: &Options) -> Result<Vec<&'s Pin>> {
    let mut versions = options.cuda.clone();
    if options.all_cuda {
        versions.extend(store.supported());
    }
    versions.sort_unstable();
    versions.dedup();

    let mut wanted = versions.iter().map(|version| store.pins.headers(*version)).collect::<Result<Vec<_>>>()?;
    let installed = if versions.is_empty() { store.installed_headers()? } else { None };
    let libclang = store.libclang()?;
    if let Some(found) = installed {
        println!("CUDA {} headers: {} (found: {})", found.version, found.include.display(), found.source);
    } else if versions.is_empty() {
        wanted.extend(store.newest());
    }
    match libclang {
        Libclang::Installed(library) => println!("libclang: {} (found)", library.display()),
        Libclang::Provisioned(pin) => wanted.push(pin),
    }
    if options.drivers {
        let drivers = store.pins.drivers(std::env::consts::ARCH);
        ensure!(!drivers.is_empty(), "there are no packages of old drivers for {}", std::env::consts::ARCH);
        wanted.extend(drivers);
    }
    Ok(wanted)
}

/// Reads everything and changes nothing; failure if something is not as it should be.
fn check(store: &Store, wanted: &[&Pin]) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for pin in wanted {
        let state = match store.state(pin, Depth::Contents) {
            State::Intact => "intact".to_owned(),
            State::Missing => "missing".to_owned(),
            State::Outdated => "outdated".to_owned(),
            State::Damaged(why) => format!("damaged: {why}"),
        };
        if state != "intact" {
            code = ExitCode::FAILURE;
        }
        println!("{}: {state}", pin.name());
    }
    code
}
