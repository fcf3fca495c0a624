//! Wheels, through pip: it knows this machine's index, proxy and certificates.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::pins::Pin;
use super::progress::Task;
use super::tool;

/// Downloads a wheel into the folder `staging`, without pip's cache the second time.
pub(super) fn download(python: &Path, pin: &Pin, staging: &Path, again: bool, task: &Task<'_>) -> Result<PathBuf> {
    let folder = staging.join("wheel");
    fs::create_dir_all(&folder)?;
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input"])
        .args(["--disable-pip-version-check", "--progress-bar=off", "--retries=2"])
        .args(platforms(&pin.file).iter().flat_map(|tag| ["--platform", tag]))
        .args(again.then_some("--no-cache-dir"))
        .arg("--dest")
        .arg(&folder)
        .arg(format!("{}=={}", pin.package, pin.version))
        .env("PIP_REQUIRE_VIRTUALENV", "0")
        // pip downloads into its temporary folder first: there its progress can be seen.
        .env("TMPDIR", &folder);
    tool::run(&mut pip, &staging.join("pip.log"), || task.reached(size(&folder)))
        .context("pip could not download it")?;
    let wheel = folder.join(&pin.file);
    wheel.metadata().with_context(|| format!("pip fetched another file than {}", pin.file))?;
    Ok(wheel)
}

/// The platform tags at the end of a wheel's name.
fn platforms(file: &str) -> Vec<&str> {
    file.trim_end_matches(".whl").rsplit('-').next().unwrap_or_default().split('.').collect()
}

/// The bytes below a folder that other programs are changing.
pub(super) fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let data = entry.metadata().ok()?;
            Some(if data.is_dir() { size(&entry.path()) } else { data.len() })
        })
        .sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn platforms_are_read_from_the_name() {
        let file = "nvidia_cuda_runtime-13.5.37-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl";
        assert_eq!(super::platforms(file), ["manylinux2014_x86_64", "manylinux_2_17_x86_64"]);
        assert_eq!(super::platforms("libclang-18.1.1-py2.py3-none-win_amd64.whl"), ["win_amd64"]);
    }
}
