//! The libraries on targets other than this machine's: that they compile there, with the bindings that cuda-sys carries.
//! Nothing is linked or run.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

const TARGETS: [&str; 2] = ["aarch64-unknown-linux-gnu", "x86_64-pc-windows-gnu"];

/// Whether the libraries compile on every target whose standard library is installed; says which are not.
pub(super) fn compile() -> Result<bool> {
    let sysroot = sysroot()?;
    let mut compile = true;
    for target in TARGETS {
        if !sysroot.join("lib/rustlib").join(target).join("lib").is_dir() {
            eprintln!("did not run: cargo check --target {target} (needs `rustup target add {target}`)");
            continue;
        }
        eprintln!("cargo check --package cuda-sys --package cuda-hostfn --target {target}");
        let mut check = crate::cargo();
        check.args(["check", "--quiet", "--package", "cuda-sys", "--package", "cuda-hostfn", "--target", target]);
        check.env("CUDA_SYS_BINDINGS", "prebuilt").env("RUSTFLAGS", "-D warnings");
        compile &= check.status().context("cannot run cargo")?.success();
    }
    Ok(compile)
}

fn sysroot() -> Result<PathBuf> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).current_dir(crate::workspace()).output();
    let output = output.context("cannot run rustc")?;
    Ok(Path::new(String::from_utf8(output.stdout)?.trim()).to_owned())
}
