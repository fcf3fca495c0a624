//! Crates by somebody else, and what cargo says to them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use libtest_mimic::Failed;
use tests::{check, workspace};

/// The page whose example is the dependent of these trials.
const PAGE: &str = include_str!("../../../docs/guide/dependents.md");

/// As the page depends on the workspace.
const BY_GIT: &str = r#"{ git = "https://github.com/cuda-hostfn/cuda-hostfn" }"#;

/// The crate of the page, which depends on cuda-sys by path, and on nothing else of the workspace.
pub fn of_the_page() -> Result<PathBuf, Failed> {
    of_the_page_with("")
}

/// The same, with more in its dependency on cuda-sys.
pub fn of_the_page_with(options: &str) -> Result<PathBuf, Failed> {
    let manifest = format!("{}\n[workspace]\n", block("toml", "[package]")?);
    check(manifest.contains(BY_GIT), || "the page depends on the workspace in another way".to_owned())?;
    let path = format!("{{ path = {:?}{options} }}", workspace().join("cuda-sys"));
    let files = [
        ("Cargo.toml", manifest.replace(BY_GIT, &path)),
        ("build.rs", block("rust,ignore", "cargo::rustc-check-cfg")?),
        ("src/main.rs", block("rust,ignore", "use cuda_sys::")?),
    ];
    of_files("green", &files.each_ref().map(|(name, text)| (*name, text.as_str())))
}

/// A crate of these files, whose dependencies are locked as the workspace's are. It has one place, run after run, so that
/// cargo need not build it twice.
pub fn of_files(name: &str, files: &[(&str, &str)]) -> Result<PathBuf, Failed> {
    let folder = empty_folder(name)?;
    for (name, text) in files {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap_or(&folder))?;
        fs::write(file, text)?;
    }
    fs::copy(workspace().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    Ok(folder)
}

pub fn empty_folder(name: &str) -> Result<PathBuf, Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("builds-sources").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The block of that language that has `part` in it.
fn block(language: &str, part: &str) -> Result<String, Failed> {
    let blocks = PAGE.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    let found = blocks.into_iter().find(|(tag, text)| *tag == language && text.contains(part));
    found
        .map(|(_, text)| text.to_owned())
        .ok_or_else(|| format!("the page has no block of {language} with {part}").into())
}

pub fn cargo(command: &str, package: impl AsRef<Path>) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([command, "--offline", "--quiet", "--manifest-path"]).arg(package.as_ref().join("Cargo.toml"));
    cargo.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("builds"));
    cargo
}

/// The command's standard output, if it succeeds.
pub fn answer(run: &mut Command) -> Result<String, Failed> {
    let output = run.output()?;
    check(output.status.success(), || text(&output))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The command fails, in words.
pub fn refusal(output: &Output, parts: &[&str]) -> Result<(), Failed> {
    let text = text(output);
    check(!output.status.success(), || format!("it passed: {text}"))?;
    check(!text.contains("panicked"), || text.clone())?;
    parts.iter().try_for_each(|part| check(text.contains(part), || format!("{part:?} is missing in:\n{text}")))
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
