//! cuda-sys as others build it: a crate outside the workspace, and builds that must fail with a clear text.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Arguments, Failed, Trial};
use tempfile::TempDir;
use tests::{DRIVERS, check, stub, trial_with, workspace};

fn main() -> ExitCode {
    let driver = &DRIVERS[1];
    let library = driver.library().ok_or("run `cargo xtask setup --drivers`");
    let trials = vec![
        trial_with("a dependent reads the metadata and calls driver 535", library.clone(), |library| {
            let dependent = dependent()?;
            answers(cargo("run", dependent.path()).env("CUDA_SYS_DRIVER", library), |source| source != "prebuilt")
        }),
        trial_with("the stated mode needs neither headers nor libclang, and says so", library.clone(), |library| {
            let dependent = dependent()?;
            let mut run = cargo("run", dependent.path());
            run.env("CUDA_SYS_BINDINGS", "prebuilt")
                .env("LIBCLANG_PATH", "/nonexistent")
                .env("CUDA_HOME", "/nonexistent");
            answers(run.env("CUDA_SYS_DRIVER", library), |source| source == "prebuilt")
        }),
        trial_with("without the feature `generate`, no bindgen is built", library.clone(), |library| {
            let dependent = dependent_with(", default-features = false")?;
            answers(cargo("run", dependent.path()).env("CUDA_SYS_DRIVER", library), |source| source == "prebuilt")?;
            let tree = cargo("tree", dependent.path()).output()?;
            check(tree.status.success() && !text(&tree).contains("bindgen"), || text(&tree))
        }),
        trial_with("linked in place of loaded: the same API, the same answers", library, |library| {
            let dependent = dependent()?;
            // What a linker looks for; the package has only the name that programs load.
            let folder = TempDir::new()?;
            std::os::unix::fs::symlink(&library, folder.path().join("libcuda.so"))?;
            let mut run = cargo("run", dependent.path());
            run.args(["--features", "cuda-sys/link"]).env("CUDA_SYS_LIBRARY_DIR", folder.path());
            run.env("LD_LIBRARY_PATH", library.parent().unwrap_or(&library)).env("CUDA_SYS_DRIVER", "/nonexistent");
            answers(&mut run, |source| source != "prebuilt")
        }),
        refused(
            "CUDA_HOME",
            "/nonexistent",
            &["CUDA_HOME is set", "/nonexistent/include: no cuda.h", "correct CUDA_HOME"],
        ),
        refused("CUDA_SYS_INCLUDE_DIR", "/nonexistent", &["CUDA_SYS_INCLUDE_DIR is set", "cargo xtask setup"]),
        refused("LIBCLANG_PATH", "/nonexistent", &["libclang", "could not be loaded", "correct LIBCLANG_PATH"]),
        refused("LIBCLANG_PATH", "..", &["libclang", "could not be loaded", "CUDA_SYS_BINDINGS=prebuilt"]),
        refused("CUDA_HOME", "toolkit", &["CUDA_HOME is set", "a relative path"]),
        refused("CUDA_SYS_LIBRARY_DIR", "/nonexistent", &["CUDA_SYS_LIBRARY_DIR=/nonexistent", "unset it"]),
        refused("CUDA_SYS_BINDINGS", "checked-in", &["CUDA_SYS_BINDINGS=checked-in", "the only value is `prebuilt`"]),
        trial_with("linked with the toolkit's stub, which is told as such", stub(), |stub| {
            let dependent = dependent()?;
            let mut run = cargo("run", dependent.path());
            run.args(["--features", "cuda-sys/link"]).env("CUDA_SYS_LIBRARY_DIR", stub.path());
            refusal(&run.env("LD_LIBRARY_PATH", stub.path()).output()?, &["the CUDA toolkit's stub library"])
        }),
        Trial::test("a damaged cuda.h is told as such", || {
            let folder = TempDir::new()?;
            fs::write(
                folder.path().join("cuda.h"),
                "#define CUDA_VERSION 13050\ntypedef struct CUctx_st *CUcontext;\ntypedef enum {\n",
            )?;
            let output = build_with("CUDA_SYS_INCLUDE_DIR", folder.path())?;
            refusal(&output, &["damaged or not a whole cuda.h", "from CUDA_SYS_INCLUDE_DIR"])
        }),
    ];
    // They share a target folder, which cargo locks.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The dependent's `main` tells the metadata that its build script read, and what the driver answered.
fn answers(run: &mut Command, source: impl Fn(&str) -> bool) -> Result<(), Failed> {
    let output = run.output()?;
    check(output.status.success(), || text(&output))?;
    let answer = String::from_utf8_lossy(&output.stdout);
    let told: Vec<&str> = answer.trim().split('|').collect();
    check(matches!(told[..], [_, from, "12020"] if source(from)), || format!("answered {told:?}"))
}

fn refused(variable: &'static str, value: &'static str, parts: &'static [&str]) -> Trial {
    Trial::test(format!("{variable}={value} is refused in words"), move || {
        refusal(&build_with(variable, Path::new(value))?, parts)
    })
}

fn refusal(output: &Output, parts: &[&str]) -> Result<(), Failed> {
    let text = text(output);
    check(!output.status.success(), || format!("the build passed: {text}"))?;
    check(!text.contains("panicked"), || text.clone())?;
    parts.iter().try_for_each(|part| check(text.contains(part), || format!("{part:?} is missing in:\n{text}")))
}

fn build_with(variable: &str, value: &Path) -> Result<Output, Failed> {
    let mut build = cargo("build", workspace());
    if variable == "CUDA_SYS_LIBRARY_DIR" {
        build.args(["--features", "cuda-sys/link"]);
    }
    Ok(build.args(["--package", "cuda-sys"]).env_remove("CUDA_SYS_INCLUDE_DIR").env(variable, value).output()?)
}

fn cargo(command: &str, package: impl AsRef<Path>) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([command, "--offline", "--quiet", "--manifest-path"]).arg(package.as_ref().join("Cargo.toml"));
    cargo.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("builds"));
    cargo
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A crate by somebody else: it depends on cuda-sys by path, and on nothing else of the workspace.
fn dependent() -> Result<TempDir, Failed> {
    dependent_with("")
}

fn dependent_with(options: &str) -> Result<TempDir, Failed> {
    let folder = TempDir::new()?;
    let cuda_sys = workspace().join("cuda-sys");
    let manifest = format!(
        "[package]\nname = \"dependent\"\nedition = \"2024\"\nlinks = \"dependent\"\n\
         [dependencies]\ncuda-sys = {{ path = {cuda_sys:?}{options} }}\n[workspace]\n"
    );
    fs::write(folder.path().join("Cargo.toml"), manifest)?;
    fs::copy(workspace().join("Cargo.lock"), folder.path().join("Cargo.lock"))?;
    fs::write(folder.path().join("build.rs"), BUILD)?;
    fs::create_dir(folder.path().join("src"))?;
    fs::write(folder.path().join("src/main.rs"), MAIN)?;
    Ok(folder)
}

const BUILD: &str = r#"
fn main() {
    let version = std::env::var("DEP_CUDA_HOSTFN_SYS_VERSION").expect("the version of the bindings");
    let source = std::env::var("DEP_CUDA_HOSTFN_SYS_SOURCE").expect("where they come from");
    match std::env::var("DEP_CUDA_HOSTFN_SYS_INCLUDE") {
        Ok(include) => assert!(std::path::Path::new(&include).join("cuda.h").is_file()),
        Err(_) => assert_eq!(source, "prebuilt"),
    }
    println!("cargo::rustc-env=HEADER={version}");
    println!("cargo::rustc-env=SOURCE={source}");
}
"#;

const MAIN: &str = r#"
fn main() {
    let mut version = 0;
    let code = unsafe { cuda_sys::cuDriverGetVersion(&mut version) };
    if code != cuda_sys::CUresult::CUDA_SUCCESS {
        eprintln!("{code:?}: {}", cuda_sys::driver::load().unwrap_err());
        std::process::exit(1);
    }
    assert_eq!(env!("HEADER").parse(), Ok(cuda_sys::CUDA_VERSION));
    println!("{}|{}|{version}", env!("HEADER"), env!("SOURCE"));
}
"#;
