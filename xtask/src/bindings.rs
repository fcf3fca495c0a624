//! `cargo xtask bindings`: the bindings that cuda-sys carries, from the newest headers.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::setup;

/// Writes the carried bindings, or with `--check` compares them.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    let write = match arguments {
        [] => true,
        [check] if check == "--check" => false,
        _ => bail!("bindings takes `--check` and nothing else"),
    };
    Ok(if are_current(write)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether the carried bindings are what the newest headers give; with `write`, makes them so.
pub(crate) fn are_current(write: bool) -> Result<bool> {
    let newest = *setup::supported()?.last().context("xtask/pins.toml lists no headers")?;
    let include = setup::headers(&[newest])?.remove(0);
    setup::building()?;
    let fresh = formatted(&generated(&include)?)?;
    let file = crate::workspace().join("cuda-sys/prebuilt/bindings.rs");
    if fs::read(&file).ok().as_deref() == Some(&fresh) {
        return Ok(true);
    }
    if write {
        fs::create_dir_all(file.parent().context("the file is in a folder")?)?;
        fs::write(&file, fresh).with_context(|| format!("cannot write {}", file.display()))?;
    } else {
        eprintln!("{} is not what CUDA {newest} gives: run `cargo xtask bindings`", file.display());
    }
    Ok(write)
}

fn generated(include: &Path) -> Result<Vec<u8>> {
    let mut generator = crate::cargo();
    generator.args([
        "run",
        "--quiet",
        "--package",
        "xtask",
        "--features",
        "bindings",
        "--bin",
        "prebuilt-bindings",
        "--",
    ]);
    let output = generator.arg(include).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the bindings could not be generated");
    Ok(output.stdout)
}

fn formatted(source: &[u8]) -> Result<Vec<u8>> {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .current_dir(crate::workspace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run rustfmt: `rustup component add rustfmt`")?;
    let mut input = rustfmt.stdin.take().context("rustfmt has an input")?;
    let source = source.to_owned();
    let writer = std::thread::spawn(move || input.write_all(&source));
    let output = rustfmt.wait_with_output()?;
    writer.join().expect("the writer does not panic")?;
    ensure!(output.status.success(), "rustfmt refused the bindings");
    Ok(output.stdout)
}
