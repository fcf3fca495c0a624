//! The archives that `cargo package` makes of both crates, as somebody builds them who has nothing else of the workspace.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Failed;
use tests::{check, workspace};

use crate::crates::{answer, cargo, empty_folder, of_files, refusal};

/// Both archives, unpacked side by side.
pub struct Archives {
    folder: PathBuf,
}

impl Archives {
    pub fn packed() -> Result<Self, Failed> {
        let folder = empty_folder("archives")?;
        // Cargo's own check would take the crate that crates.io has by that name.
        let package = ["--allow-dirty", "--no-verify", "--exclude-lockfile", "-p", "cuda-sys", "-p", "cuda-hostfn"];
        let mut pack = cargo("package", workspace());
        answer(pack.args(package).env("CARGO_TARGET_DIR", &folder))?;
        let archives = Self { folder };
        for name in ["cuda-sys", "cuda-hostfn"] {
            let archive = archives.path("package").join(format!("{name}-{VERSION}.crate"));
            answer(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&archives.folder))?;
        }
        Ok(archives)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn unpacked(&self, name: &str) -> PathBuf {
        self.path(&format!("{name}-{VERSION}"))
    }

    /// A program on cuda-hostfn alone, from the archive.
    fn program(&self) -> Result<PathBuf, Failed> {
        let (hostfn, sys) = (self.unpacked("cuda-hostfn"), self.unpacked("cuda-sys"));
        let manifest = format!(
            "[package]\nname = \"program\"\nedition = \"2024\"\n[dependencies]\ncuda-hostfn = {{ path = {hostfn:?} }}\n\
             [patch.crates-io]\ncuda-sys = {{ path = {sys:?} }}\n[workspace]\n"
        );
        of_files("program", &[("Cargo.toml", &manifest), ("src/main.rs", PROGRAM)])
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

const PROGRAM: &str = "
fn main() {
    println!(\"{}\", cuda_hostfn::driver_version().expect(\"a driver\"));
}
";

pub fn build_and_run(library: &Path) -> Result<(), Failed> {
    let archives = Archives::packed()?;
    let program = archives.program()?;
    let mut run = cargo("run", &program);
    run.env("CUDA_SYS_DRIVER", library).env("CUDA_SYS_INCLUDE_DIR", headers()?);
    // Beside an archive there is nothing that `cargo xtask setup` provisioned.
    let libclang = workspace().join(".cuda/libclang");
    if libclang.is_dir() && std::env::var_os("LIBCLANG_PATH").is_none() {
        run.env("LIBCLANG_PATH", libclang);
    }
    let told = answer(&mut run)?;
    check(told == "12.2", || told)
}

/// As docs.rs does, and everybody who has neither headers nor libclang.
pub fn documented_checked_and_run_without_headers(library: &Path) -> Result<(), Failed> {
    let archives = Archives::packed()?;
    let program = archives.program()?;
    for command in [["doc", "--no-deps"], ["check", "--all-targets"]] {
        answer(nothing_installed(cargo(command[0], &program).arg(command[1])).env("DOCS_RS", "1"))?;
    }
    let mut run = cargo("run", &program);
    let told =
        answer(nothing_installed(&mut run).env("CUDA_SYS_BINDINGS", "prebuilt").env("CUDA_SYS_DRIVER", library))?;
    check(told == "12.2", || told)
}

/// A program that needs two versions of cuda-sys is refused before anything is built.
pub fn two_versions_cannot_meet() -> Result<(), Failed> {
    let archives = Archives::packed()?;
    let (first, second) = (archives.unpacked("cuda-sys"), archives.path("second"));
    answer(Command::new("cp").arg("-r").args([&first, &second]))?;
    let manifest = fs::read_to_string(second.join("Cargo.toml"))?;
    let newer = manifest.replace(&format!("\nversion = \"{VERSION}\""), "\nversion = \"9.0.0\"");
    check(newer != manifest, || manifest)?;
    fs::write(second.join("Cargo.toml"), newer)?;
    let manifest = format!(
        "[package]\nname = \"program\"\nedition = \"2024\"\n[dependencies]\nfirst = {{ path = {first:?}, package = \
         \"cuda-sys\" }}\nsecond = {{ path = {second:?}, package = \"cuda-sys\" }}\n[workspace]\n"
    );
    let program = of_files("two-versions", &[("Cargo.toml", &manifest), ("src/main.rs", "fn main() {}")])?;
    let output = cargo("check", &program).output()?;
    refusal(&output, &["links to the native library `cuda_hostfn_sys`, but it conflicts with a previous package"])
}

fn headers() -> Result<&'static str, Failed> {
    option_env!("CUDA_TESTS_INCLUDE").ok_or_else(|| "this suite was built without headers".into())
}

fn nothing_installed(command: &mut Command) -> &mut Command {
    command.env("CUDA_HOME", "/nonexistent").env("LIBCLANG_PATH", "/nonexistent").env_remove("CUDA_SYS_INCLUDE_DIR")
}
