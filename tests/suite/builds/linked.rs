//! The feature `link`: one API, whoever asks for it.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Failed;
use tempfile::TempDir;
use tests::{check, workspace};

use crate::crates::{answer, cargo, of_files, of_the_page, refusal};

pub fn the_same_answers(library: &Path) -> Result<(), Failed> {
    let dependent = of_the_page()?;
    let folder = as_linkers_look(library)?;
    let mut run = cargo("run", dependent);
    run.args(["--features", "cuda-sys/link"]);
    let told = answer(linked(&mut run, &folder, library).env("CUDA_SYS_DRIVER", "/nonexistent"))?;
    check(told.contains("running on 12020"), || told)
}

/// Two crates, of which one asks for `link`: the program has one driver, and both reach it.
pub fn one_asks_and_another_does_not(library: &Path) -> Result<(), Failed> {
    let cuda_sys = workspace().join("cuda-sys");
    let manifest = |name: &str, rest: &str| format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n{rest}");
    let linker =
        manifest("linker", &format!("[dependencies]\ncuda-sys = {{ path = {cuda_sys:?}, features = [\"link\"] }}\n"));
    let loader = manifest("loader", &format!("[dependencies]\ncuda-sys = {{ path = {cuda_sys:?} }}\n"));
    let program = manifest(
        "program",
        "[dependencies]\nlinker = { path = \"linker\" }\nloader = { path = \"loader\" }\n[workspace]\n",
    );
    let program = of_files(
        "linker-and-loader",
        &[
            ("Cargo.toml", &program),
            (
                "src/main.rs",
                "fn main() {\n    println!(\"{} {}\", linker::version(), loader::version());\n    loader::loads();\n}\n",
            ),
            ("linker/Cargo.toml", &linker),
            ("linker/src/lib.rs", VERSION),
            ("loader/Cargo.toml", &loader),
            ("loader/src/lib.rs", &format!("{VERSION}{LOADS}")),
        ],
    )?;
    let folder = as_linkers_look(library)?;
    let told = answer(linked(&mut cargo("run", program), &folder, library))?;
    check(told == "12020 12020", || told)
}

/// As any crate calls the API.
const VERSION: &str = "
pub fn version() -> i32 {
    let mut version = 0;
    assert_eq!(unsafe { cuda_sys::cuDriverGetVersion(&mut version) }, cuda_sys::CUresult::CUDA_SUCCESS);
    version
}
";

/// What a crate that expects to load the driver may do, and what it is told.
const LOADS: &str = r#"
pub fn loads() {
    cuda_sys::driver::load().expect("linked");
    let other = std::env::current_exe().expect("a file that is no driver");
    assert!(cuda_sys::driver::load_from(other).is_err());
}
"#;

pub fn the_stub_is_told_as_such(stub: &TempDir) -> Result<(), Failed> {
    let dependent = of_the_page()?;
    let mut run = cargo("run", dependent);
    run.args(["--features", "cuda-sys/link"]).env("CUDA_SYS_LIBRARY_DIR", stub.path());
    refusal(&run.env("LD_LIBRARY_PATH", stub.path()).output()?, &["the CUDA toolkit's stub library"])
}

/// What a linker looks for; a driver's package has only the name that programs load.
fn as_linkers_look(library: &Path) -> Result<TempDir, Failed> {
    let folder = TempDir::new()?;
    std::os::unix::fs::symlink(library, folder.path().join("libcuda.so"))?;
    Ok(folder)
}

fn linked<'c>(run: &'c mut Command, folder: &TempDir, library: &Path) -> &'c mut Command {
    let beside = library.parent().map_or_else(PathBuf::new, Path::to_owned);
    run.env("CUDA_SYS_LIBRARY_DIR", folder.path()).env("LD_LIBRARY_PATH", beside)
}
