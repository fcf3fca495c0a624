//! The hot paths beside those of straight C and of another crate.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::bundle::executable;

/// How it is built.
pub(crate) const OURS: [&str; 6] = ["bench", "--no-run", "--package", "tests", "--bench", "hot_paths"];
pub(crate) const CUDARC: [&str; 6] = ["build", "--release", "--manifest-path", CUDARC_MANIFEST, "--features", "run"];
pub(crate) const CUDARC_MANIFEST: &str = "benches/cudarc/Cargo.toml";
/// Both relative to the workspace.
pub(crate) const C_SOURCE: &str = "tests/benches/hot_paths/hot_paths.c";
pub(crate) const KERNEL: &str = "cuda-hostfn/tests/fill.ptx";

const BASELINE: &str = "docs/benchmarks/instructions.json";

/// The program that asks the contenders and is one.
pub(crate) struct HotPaths(PathBuf);

impl HotPaths {
    pub(crate) fn build() -> Result<Self> {
        executable(&OURS).map(Self)
    }

    /// Prints the table of all contenders that can be built here.
    pub(crate) fn compare(&self, include: &Path) -> Result<()> {
        let mut ours = Command::new(&self.0);
        ours.args(["--seconds", "60"]);
        match self.straight_c(include) {
            Ok(program) => {
                let kernel = crate::workspace().join(KERNEL);
                ours.arg(format!("C={} {}", program.display(), kernel.display()));
            }
            Err(why) => println!("straight C: did not run: {why:#}"),
        }
        match executable(&CUDARC) {
            Ok(program) => _ = ours.arg(format!("cudarc={}", program.display())),
            Err(why) => println!("cudarc: did not run: {why:#}"),
        }
        ensure!(ours.status().context("cannot run the benchmark")?.success(), "the benchmark failed");
        Ok(())
    }

    /// Prints the table of instructions; whether none has grown.
    pub(crate) fn count_instructions(&self, bless: bool) -> Result<bool> {
        let mut ours = Command::new(&self.0);
        ours.arg("--instructions").arg(crate::workspace().join(BASELINE));
        if bless {
            ours.arg("--bless");
        }
        Ok(ours.status().context("cannot run the benchmark")?.success())
    }

    /// Linked with the driver that the others load.
    fn straight_c(&self, include: &Path) -> Result<PathBuf> {
        let output = Command::new(&self.0).arg("--library").output()?;
        let library = String::from_utf8(output.stdout)?;
        let program = crate::target().join("hot_paths_c");
        let mut compiler = Command::new("cc");
        compiler.arg("-O2").arg("-I").arg(include).arg(crate::workspace().join(C_SOURCE)).arg(library.trim());
        let status = compiler.args(["-lpthread", "-o"]).arg(&program).status().context("cannot run cc")?;
        if !status.success() {
            bail!("cc failed");
        }
        Ok(program)
    }
}
