//! The launcher of `cargo xtask audit`: provisions what the audit needs, then builds and runs it (stage two).

mod needs;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::{Context, Result, ensure};

use crate::{COULD_NOT_RUN, cargo, setup};
use needs::{Headers, Needs};

const AUDIT: [&str; 6] = ["--package", "xtask", "--features", "audit", "--bin", "audit"];
const PROBE: [&str; 6] = ["--package", "xtask", "--features", "probe", "--bin", "attribute-probe"];

/// Runs the audit; its exit status is ours.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    let needs = Needs::of(arguments)?;
    let bindings = if needs.nothing { Bindings::Generated } else { provision(&needs)? };
    let probe = if needs.driver && crate::driver::may_be_here() { Some(probe(bindings)?) } else { None };
    if !build_if_cold(bindings)? {
        return Ok(COULD_NOT_RUN.into());
    }
    let mut audit = bindings.cargo();
    // A path in the arguments is relative to where the user is.
    audit.current_dir(std::env::current_dir().context("the current folder is gone")?);
    let manifest = crate::workspace().join("xtask/Cargo.toml");
    audit.args(["run", "--quiet", "--manifest-path"]).arg(manifest).args(AUDIT).arg("--");
    if let Some(probe) = probe {
        audit.arg("--probe").arg(probe);
    }
    audit.args(arguments);
    Ok(exit_code(audit.status().context("cannot run cargo")?))
}

/// How cuda-sys is built for the audit and the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bindings {
    Generated,
    /// From what cuda-sys carries: whoever names the headers to read must not need others for building the reader.
    Carried,
}

impl Bindings {
    fn cargo(self) -> Command {
        let mut cargo = cargo();
        if self == Self::Carried {
            cargo.env("CUDA_SYS_BINDINGS", "prebuilt");
        }
        cargo
    }
}

fn provision(needs: &Needs) -> Result<Bindings> {
    let mut cuda = needs.cuda.clone();
    match needs.headers {
        Headers::Found | Headers::Named => {}
        Headers::Newest => cuda.extend(setup::supported()?.last()),
        Headers::All => cuda.extend(setup::supported()?),
    }
    if needs.headers == Headers::Found {
        setup::building_and(&cuda)?;
        return Ok(Bindings::Generated);
    }
    setup::reading(&cuda)?;
    Ok(if setup::can_build() { Bindings::Generated } else { Bindings::Carried })
}

/// Builds the program that asks the driver.
fn probe(bindings: Bindings) -> Result<PathBuf> {
    let built = bindings.cargo().args(["build", "--quiet"]).args(PROBE).status().context("cannot run cargo")?;
    ensure!(built.success(), "attribute-probe, which asks the driver, cannot be built");
    Ok(std::env::current_exe()?.with_file_name(format!("attribute-probe{}", std::env::consts::EXE_SUFFIX)))
}

/// The first build takes a while, so cargo shows its progress; later ones are quiet.
fn build_if_cold(bindings: Bindings) -> Result<bool> {
    let built = std::env::current_exe()?.with_file_name(format!("audit{}", std::env::consts::EXE_SUFFIX));
    if built.is_file() {
        return Ok(true);
    }
    eprintln!("building the audit (only the first time)…");
    let mut build = bindings.cargo();
    build.arg("build").args(AUDIT);
    if !std::io::stderr().is_terminal() {
        build.arg("--quiet");
    }
    Ok(build.status().context("cannot run cargo")?.success())
}

/// The audit's own status. What is none of its (cargo's 101, a signal) means that it could not run.
fn exit_code(status: ExitStatus) -> ExitCode {
    match status.code() {
        Some(code @ 0..=2) => u8::try_from(code).unwrap_or(COULD_NOT_RUN).into(),
        _ => COULD_NOT_RUN.into(),
    }
}
