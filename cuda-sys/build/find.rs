//! Where `cuda.h` is: one ordered table of places, the first usable one wins.
//!
//! Nothing but `std`, and the environment is an argument: tests run it on fake trees, and `cargo xtask` asks it
//! the same question that the build script asks.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The folder that holds `cuda.h`. Set but wrong is an error.
pub const INCLUDE_DIR: &str = "CUDA_SYS_INCLUDE_DIR";

/// Roots of a toolkit, in the order in which they are obeyed. Set but wrong is an error.
const ROOTS: [&str; 4] = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"];

/// The last row: what `cargo xtask setup` provisioned.
pub const PROVISIONED: &str = "cargo xtask setup";

/// Every variable that discovery reads.
pub const VARIABLES: [&str; 10] = [
    INCLUDE_DIR,
    ROOTS[0],
    ROOTS[1],
    ROOTS[2],
    ROOTS[3],
    "CONDA_PREFIX",
    "VIRTUAL_ENV",
    "NVHPC_ROOT",
    "PATH",
    "ProgramFiles",
];

/// The oldest header that has `CUlaunchAttributeID` and `cuLaunchKernelEx`.
pub const OLDEST: Version = Version(11080);

/// `CUDA_VERSION` as the header writes it: 1000 × major + 10 × minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 1000, self.0 % 1000 / 10)
    }
}

/// What discovery may look at.
pub struct Surroundings<'a> {
    /// Reads an environment variable.
    pub var: &'a dyn Fn(&str) -> Option<OsString>,
    /// The target triple the bindings are for.
    pub target: &'a str,
    /// The file system's root; another folder in tests.
    pub root: &'a Path,
    /// What `cargo xtask setup` filled: `headers/X.Y/include` below it.
    pub provisioned: &'a Path,
}

/// Usable headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headers {
    pub include: PathBuf,
    pub version: Version,
    /// The row of the table that led here, such as `CUDA_HOME`.
    pub source: &'static str,
}

/// No usable headers; its text lists every place and what to do.
#[derive(Debug)]
pub struct NotFound {
    /// The variable that is set but wrong, if that is why the search ended.
    pub variable: Option<&'static str>,
    looked_at: Vec<(PathBuf, Rejected)>,
}

/// Why a folder does not count.
#[derive(Debug, PartialEq, Eq)]
pub enum Rejected {
    Relative,
    NoFile,
    Unreadable(ErrorKind),
    NoVersion,
    TooOld(Version),
}

/// A row of the table.
struct Place {
    source: &'static str,
    includes: Vec<PathBuf>,
    /// A variable that must not be passed over when it is wrong.
    binding: bool,
}

/// Finds `cuda.h`.
pub fn find(at: &Surroundings<'_>) -> Result<Headers, NotFound> {
    let mut looked_at = Vec::new();
    for place in table(at) {
        for include in place.includes {
            match usable(&include) {
                Ok(version) => return Ok(Headers { include, version, source: place.source }),
                Err(why) => looked_at.push((include, why)),
            }
        }
        if place.binding {
            return Err(NotFound { variable: Some(place.source), looked_at });
        }
    }
    Err(NotFound { variable: None, looked_at })
}

/// A folder that the table leads to.
#[allow(dead_code, reason = "for `cargo xtask doctor`")]
pub struct Candidate {
    pub source: &'static str,
    pub include: PathBuf,
    pub usable: Result<Version, Rejected>,
}

/// Every folder that the table leads to, in its order.
#[allow(dead_code, reason = "for `cargo xtask doctor`")]
pub fn survey(at: &Surroundings<'_>) -> Vec<Candidate> {
    let candidates = |Place { source, includes, binding: _ }| {
        includes.into_iter().map(move |include| Candidate { source, usable: usable(&include), include })
    };
    table(at).into_iter().flat_map(candidates).collect()
}

/// Reads `CUDA_VERSION` from the `cuda.h` of a folder. `linux/cuda.h`, an unrelated kernel header, has none.
pub fn read_version(include: &Path) -> Result<Version, Rejected> {
    let text = fs::read(include.join("cuda.h")).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Rejected::NoFile,
        kind => Rejected::Unreadable(kind),
    })?;
    String::from_utf8_lossy(&text)
        .lines()
        .find_map(|line| {
            let mut words = line.trim_start().strip_prefix('#')?.split_whitespace();
            let is_it = words.next()? == "define" && words.next()? == "CUDA_VERSION";
            is_it.then(|| words.next()?.trim_matches(['(', ')']).parse().ok())?
        })
        .map(Version)
        .ok_or(Rejected::NoVersion)
}

fn usable(include: &Path) -> Result<Version, Rejected> {
    if include.is_relative() {
        return Err(Rejected::Relative);
    }
    match read_version(include)? {
        version if version < OLDEST => Err(Rejected::TooOld(version)),
        version => Ok(version),
    }
}

fn table(at: &Surroundings<'_>) -> Vec<Place> {
    let targets = toolkit_targets(at.target);
    let arch = at.target.split('-').next().unwrap_or_default();
    let windows = at.target.contains("windows");
    let var = |name: &str| (at.var)(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let below = |root: &Path, patterns: &[&str]| -> Vec<PathBuf> {
        let for_target = |pattern: &&str| match pattern.contains("{target}") {
            true => targets.iter().map(|target| pattern.replace("{target}", target)).collect(),
            false => vec![(*pattern).to_owned()],
        };
        let for_arch = |pattern: String| pattern.replace("{arch}", arch);
        patterns.iter().flat_map(for_target).map(for_arch).flat_map(|pattern| expand(root, &pattern)).collect()
    };
    let mut places = Vec::new();
    let mut row = |source, includes, binding| places.push(Place { source, includes, binding });

    if let Some(include) = var(INCLUDE_DIR) {
        row(INCLUDE_DIR, vec![include], true);
    }
    for name in ROOTS {
        if let Some(root) = var(name) {
            row(name, below(&root, &TOOLKIT), true);
        }
    }
    if let Some(root) = var("CONDA_PREFIX") {
        row("CONDA_PREFIX", below(&root, &[&TOOLKIT[..], &["Library/include"], &WHEELS].concat()), false);
    }
    if let Some(root) = var("VIRTUAL_ENV") {
        row("VIRTUAL_ENV", below(&root, &WHEELS), false);
    }
    if let Some(root) = var("NVHPC_ROOT") {
        row("NVHPC_ROOT", below(&root, &["cuda/*/targets/{target}/include", "cuda/*/include"]), false);
    }
    let nvcc = if windows { "nvcc.exe" } else { "nvcc" };
    let compilers = var("PATH").into_iter().flat_map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    for nvcc in compilers.map(|folder| folder.join(nvcc)).filter(|file| file.is_file()) {
        // A distribution's `nvcc` may be a link into the toolkit, or a wrapper beside it.
        let real = fs::canonicalize(&nvcc).unwrap_or_else(|_| nvcc.clone());
        for root in [&real, &nvcc].into_iter().filter_map(|file| file.parent()?.parent()) {
            row("nvcc on PATH", below(root, &TOOLKIT), false);
        }
    }
    if windows {
        let programs = var("ProgramFiles").unwrap_or_else(|| at.root.join("Program Files"));
        row("system", below(&programs, &["NVIDIA GPU Computing Toolkit/CUDA/v*/include"]), false);
    } else {
        row("system", below(at.root, &SYSTEM), false);
    }
    row(PROVISIONED, below(at.provisioned, &["headers/*/include"]), false);
    places
}

/// Where a toolkit's root has its headers; the folder of the target first, so that a cross build gets its own.
const TOOLKIT: [&str; 2] = ["targets/{target}/include", "include"];

/// Where pip's wheels put them inside an environment, on Unix and on Windows.
const WHEELS: [&str; 4] = [
    "lib/python*/site-packages/nvidia/cu*/include",
    "lib/python*/site-packages/nvidia/cuda_runtime/include",
    "Lib/site-packages/nvidia/cu*/include",
    "Lib/site-packages/nvidia/cuda_runtime/include",
];

/// The HPC SDK has toolkits of several versions side by side, in a folder for each of its releases.
const SYSTEM: [&str; 10] = [
    "usr/local/cuda/targets/{target}/include",
    "usr/local/cuda/include",
    "usr/local/cuda-*/targets/{target}/include",
    "usr/local/cuda-*/include",
    "opt/cuda/targets/{target}/include",
    "opt/cuda/include",
    "opt/nvidia/hpc_sdk/Linux_{arch}/*/cuda/*/targets/{target}/include",
    "opt/nvidia/hpc_sdk/Linux_{arch}/*/cuda/*/include",
    "usr/include",
    "usr/lib/cuda/include",
];

/// NVIDIA's names for a target's folder. Servers and Jetsons share a target in Rust, and have a folder each.
fn toolkit_targets(triple: &str) -> &'static [&'static str] {
    match triple.split('-').next() {
        Some("aarch64") => &["sbsa-linux", "aarch64-linux"],
        Some("powerpc64le") => &["ppc64le-linux"],
        _ => &["x86_64-linux"],
    }
}

/// The folders that match a pattern in which a component may end in `*`, the highest number first.
fn expand(root: &Path, pattern: &str) -> Vec<PathBuf> {
    pattern.split('/').fold(vec![root.to_owned()], |folders, component| match component.split_once('*') {
        None => folders.iter().map(|folder| folder.join(component)).collect(),
        Some((prefix, _)) => folders.iter().flat_map(|folder| numbered(folder, prefix)).collect(),
    })
}

fn numbered(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(Vec<u32>, PathBuf)> = names
        .filter_map(|entry| {
            let numbers = entry.file_name().to_str()?.strip_prefix(prefix)?.split('.').map(str::parse).collect();
            Some((Result::ok(numbers)?, entry.path()))
        })
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path).collect()
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.variable {
            Some(name) => writeln!(f, "{name} is set, but there is no usable cuda.h where it points:")?,
            None => writeln!(f, "no usable cuda.h was found. Looked at:")?,
        }
        for (include, why) in &self.looked_at {
            writeln!(f, "  {}: {why}", include.display())?;
        }
        writeln!(f, "Any one of these mends it:")?;
        if let Some(name) = self.variable {
            writeln!(f, "  - correct {name};")?;
            return write!(f, "  - unset it, and have the usual places searched, which `cargo xtask setup` can fill.");
        }
        writeln!(f, "  - install the CUDA toolkit {OLDEST} or newer, and set CUDA_HOME if it is in no usual place;")?;
        writeln!(
            f,
            "  - `pip install nvidia-cuda-runtime` into a virtual environment and activate it, or set {INCLUDE_DIR} \
             to any folder that holds cuda.h;"
        )?;
        write!(f, "  - in a clone of this workspace, run `cargo xtask setup`.")
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relative => {
                write!(f, "a relative path, and a build runs in the folder of each crate; give a whole one")
            }
            Self::NoFile => write!(f, "no cuda.h"),
            Self::Unreadable(kind) => write!(f, "cuda.h cannot be read ({kind})"),
            Self::NoVersion => write!(f, "its cuda.h defines no CUDA_VERSION, as the CUDA driver's header does"),
            Self::TooOld(version) => write!(f, "CUDA {version}, older than {OLDEST}, the oldest supported"),
        }
    }
}
