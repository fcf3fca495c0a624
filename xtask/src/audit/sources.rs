//! Which headers to read.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::args::Args;
use crate::error::{Discovery, Error};
use crate::find::{self, Surroundings, Version};
use crate::header::Include;

/// The folders that the arguments ask for, oldest first; without any, what discovery finds.
pub fn includes(args: &Args, provisioned: &Path) -> Result<Vec<Include>, Error> {
    let mut includes = Vec::new();
    for dir in &args.headers {
        includes.push(Include::new(dir)?);
    }
    for &version in &args.cuda {
        includes.push(of_version(version, provisioned)?);
    }
    if args.all_cuda {
        includes.extend(all(provisioned)?);
    }
    if args.reference.is_some() {
        includes.extend(all(provisioned)?.into_iter().max_by_key(|include| include.version));
    }
    if includes.is_empty() {
        includes.push(discovered(provisioned)?);
    }
    includes.sort_by_key(|include| include.version);
    includes.dedup_by(|a, b| same(&a.dir, &b.dir));
    match includes.windows(2).find(|pair| pair[0].version == pair[1].version) {
        Some(pair) => {
            let [first, second] = [&pair[0], &pair[1]].map(|include| include.dir.clone());
            Err(Error::SameVersion { version: pair[0].version, first, second })
        }
        None => Ok(includes),
    }
}

fn discovered(provisioned: &Path) -> Result<Include, Error> {
    let target = target();
    let at = Surroundings { var: &|name| env::var_os(name), target: &target, root: Path::new("/"), provisioned };
    let headers = find::find(&at).map_err(Discovery)?;
    Include::new(&headers.include)
}

fn of_version(version: Version, provisioned: &Path) -> Result<Include, Error> {
    if version < find::OLDEST {
        return Err(Error::NoAttributes(version));
    }
    let dir = dir_of(&version.to_string(), provisioned);
    if dir.join("cuda.h").is_file() { Include::new(&dir) } else { Err(Error::NotProvisioned(version)) }
}

fn all(provisioned: &Path) -> Result<Vec<Include>, Error> {
    let headers = provisioned.join("headers");
    let names = fs::read_dir(&headers).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let versions = names.filter_map(|name| name.to_str()?.parse::<Version>().ok());
    let found: Vec<_> = versions
        .filter(|&version| version >= find::OLDEST)
        .map(|version| of_version(version, provisioned))
        .collect::<Result<_, _>>()?;
    if found.is_empty() { Err(Error::NothingProvisioned(headers)) } else { Ok(found) }
}

fn dir_of(version: &str, provisioned: &Path) -> PathBuf {
    provisioned.join("headers").join(version).join("include")
}

fn same(a: &Path, b: &Path) -> bool {
    a == b || matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

/// Enough of a triple for discovery and clang: this machine's own.
pub fn target() -> String {
    let system = match env::consts::OS {
        "linux" => "unknown-linux-gnu",
        "windows" => "pc-windows-msvc",
        "macos" => "apple-darwin",
        other => other,
    };
    format!("{}-{system}", env::consts::ARCH)
}
