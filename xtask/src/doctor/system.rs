//! The machine, and what its environment says to builds and programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::page::Page;
use crate::{driver, find, libclang};

/// Beside those of discovery: what cuda-sys, clang and the driver read. None of them holds a secret.
const VARIABLES: [&str; 8] = [
    libclang::LIBCLANG_PATH,
    "BINDGEN_EXTRA_CLANG_ARGS",
    "CUDA_SYS_BINDINGS",
    "CUDA_SYS_LIBRARY_DIR",
    driver::OVERRIDE,
    "CUDA_VISIBLE_DEVICES",
    "CARGO_TARGET_DIR",
    "RUSTFLAGS",
];

pub(super) fn tell(page: &mut Page) {
    page.row("system", format!("{}, {}{}", name(), std::env::consts::ARCH, surroundings()));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    for (title, program) in [("rust", "rustc".into()), ("", cargo)] {
        page.row(title, first_line(Command::new(program).arg("--version")).unwrap_or_else(|| "not found".to_owned()));
    }
    let describe = first_line(
        Command::new("git").args(["describe", "--always", "--dirty", "--tags"]).current_dir(crate::workspace()),
    );
    let commit = describe.map_or_else(String::new, |commit| format!(", commit {commit}"));
    page.row("workspace", format!("{} {}{commit}", crate::workspace().display(), env!("CARGO_PKG_VERSION")));
    variables(page);
}

fn variables(page: &mut Page) {
    let discovery = find::VARIABLES.into_iter().filter(|name| *name != "PATH");
    let set = discovery.chain(VARIABLES).filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut lines: Vec<String> = set.map(|(name, value)| format!("{name}={}", value.display())).collect();
    lines.extend(library_path());
    if lines.is_empty() {
        lines.push("none that matters is set".to_owned());
    }
    page.row("variables", lines.join("\n"));
}

/// Where libcuda is looked for first; without the folders that cargo put there for this program.
fn library_path() -> Option<String> {
    const NAME: &str = "LD_LIBRARY_PATH";
    let path = std::env::var_os(NAME)?;
    let of_cargo =
        |folder: &PathBuf| folder.starts_with(crate::target()) || folder.ends_with("lib") && is_rustc(folder);
    let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| !of_cargo(folder)).collect();
    let rest = std::env::join_paths(folders).ok().filter(|rest| !rest.is_empty())?;
    Some(format!("{NAME}={}", rest.display()))
}

/// Whether a folder of libraries is a Rust toolchain's.
fn is_rustc(folder: &Path) -> bool {
    folder.join("rustlib").is_dir() || folder.components().any(|part| part.as_os_str() == "rustlib")
}

fn name() -> String {
    let pretty = fs::read_to_string("/etc/os-release").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
        Some(line.trim_matches('"').to_owned())
    });
    let system = pretty.unwrap_or_else(|| std::env::consts::OS.to_owned());
    match fs::read_to_string("/proc/sys/kernel/osrelease") {
        Ok(kernel) => format!("{system}, kernel {}", kernel.trim()),
        Err(_) => system,
    }
}

/// What decides whether a GPU can be seen at all.
fn surroundings() -> String {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().to_lowercase();
    let facts = [
        (kernel.contains("microsoft"), ", WSL"),
        (["/.dockerenv", "/run/.containerenv"].iter().any(|file| Path::new(file).exists()), ", in a container"),
        (is_set("KUBERNETES_SERVICE_HOST"), ", Kubernetes"),
        (is_set("SLURM_JOB_ID"), ", a Slurm job"),
        (is_set("CONDA_PREFIX"), ", a conda environment"),
        (is_set("VIRTUAL_ENV"), ", a Python environment"),
    ];
    facts.into_iter().filter_map(|(holds, text)| holds.then_some(text)).collect()
}

/// The first line that a program prints, if it succeeds.
pub(super) fn first_line(command: &mut Command) -> Option<String> {
    let output = command.stdin(std::process::Stdio::null()).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(text.lines().next()?.trim().to_owned())
}
