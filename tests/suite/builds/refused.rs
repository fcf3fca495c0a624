//! Builds that must fail with a clear text.

use std::fs;
use std::path::Path;
use std::process::Output;

use libtest_mimic::{Failed, Trial};
use tempfile::TempDir;
use tests::workspace;

use crate::crates::{cargo, refusal};

/// Variable, value, and what the text has in it.
const REFUSED: [(&str, &str, &[&str]); 7] = [
    ("CUDA_HOME", "/nonexistent", &["CUDA_HOME is set", "/nonexistent/include: no cuda.h", "correct CUDA_HOME"]),
    ("CUDA_SYS_INCLUDE_DIR", "/nonexistent", &["CUDA_SYS_INCLUDE_DIR is set", "cargo xtask setup"]),
    ("LIBCLANG_PATH", "/nonexistent", &["libclang", "could not be loaded", "correct LIBCLANG_PATH"]),
    ("LIBCLANG_PATH", "..", &["libclang", "could not be loaded", "CUDA_SYS_BINDINGS=prebuilt"]),
    ("CUDA_HOME", "toolkit", &["CUDA_HOME is set", "a relative path"]),
    ("CUDA_SYS_LIBRARY_DIR", "/nonexistent", &["CUDA_SYS_LIBRARY_DIR=/nonexistent", "unset it"]),
    ("CUDA_SYS_BINDINGS", "checked-in", &["CUDA_SYS_BINDINGS=checked-in", "the only value is `prebuilt`"]),
];

pub fn trials() -> Vec<Trial> {
    let of_variable = |(variable, value, parts): (&'static str, &'static str, &'static [&'static str])| {
        Trial::test(format!("{variable}={value} is refused in words"), move || {
            refusal(&build_with(variable, Path::new(value))?, parts)
        })
    };
    let mut trials: Vec<Trial> = REFUSED.into_iter().map(of_variable).collect();
    trials.push(Trial::test("a damaged cuda.h is told as such", || {
        let folder = TempDir::new()?;
        let damaged = "#define CUDA_VERSION 13050\ntypedef struct CUctx_st *CUcontext;\ntypedef enum {\n";
        fs::write(folder.path().join("cuda.h"), damaged)?;
        let output = build_with("CUDA_SYS_INCLUDE_DIR", folder.path())?;
        refusal(&output, &["damaged or not a whole cuda.h", "from CUDA_SYS_INCLUDE_DIR"])
    }));
    trials
}

fn build_with(variable: &str, value: &Path) -> Result<Output, Failed> {
    let mut build = cargo("build", workspace());
    if variable == "CUDA_SYS_LIBRARY_DIR" {
        build.args(["--features", "cuda-sys/link"]);
    }
    Ok(build.args(["--package", "cuda-sys"]).env_remove("CUDA_SYS_INCLUDE_DIR").env(variable, value).output()?)
}
