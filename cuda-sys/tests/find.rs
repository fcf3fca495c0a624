//! The table of places, on fake trees.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

#[path = "../build/find.rs"]
#[expect(dead_code, reason = "the build script tells cargo which variables are read")]
mod find;

use find::{Headers, NotFound, Rejected, Surroundings, Version};

const LINUX: &str = "x86_64-unknown-linux-gnu";
const SERVER: &str = "aarch64-unknown-linux-gnu";
const WINDOWS: &str = "x86_64-pc-windows-msvc";

/// A file system with nothing in it, and an empty environment.
struct Machine {
    root: TempDir,
    target: &'static str,
    variables: HashMap<&'static str, OsString>,
}

impl Machine {
    fn new(target: &'static str) -> Self {
        Self { root: TempDir::new().unwrap(), target, variables: HashMap::new() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn file(self, path: &str, text: &str) -> Self {
        let file = self.path(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        self
    }

    fn cuda_h(self, include: &str, version: u32) -> Self {
        self.file(
            &format!("{include}/cuda.h"),
            &format!("#ifndef guard\n#define guard\n#define CUDA_VERSION {version}\n"),
        )
    }

    fn var(mut self, name: &'static str, path: &str) -> Self {
        let value = self.path(path).into();
        self.variables.insert(name, value);
        self
    }

    fn find(&self) -> Result<Headers, NotFound> {
        find::find(&Surroundings {
            var: &|name| self.variables.get(name).cloned(),
            target: self.target,
            root: self.root.path(),
            provisioned: &self.path("clone/.cuda"),
        })
    }

    /// The folder found, relative to the root, and the row that led there.
    fn found(&self) -> (String, &'static str) {
        let headers = self.find().unwrap_or_else(|error| panic!("{error}"));
        let include = headers.include.strip_prefix(self.root.path()).unwrap();
        (include.to_str().unwrap().replace('\\', "/"), headers.source)
    }

    fn refused(&self) -> String {
        self.find().expect_err("headers were found").to_string()
    }
}

fn found(include: &str, source: &'static str) -> (String, &'static str) {
    (include.to_owned(), source)
}

#[test]
fn each_layout_is_found() {
    let layouts = [
        (LINUX, "", "usr/local/cuda/targets/x86_64-linux/include", "system"),
        (LINUX, "", "usr/local/cuda/include", "system"),
        (LINUX, "", "usr/local/cuda-12.4/include", "system"),
        (LINUX, "", "opt/cuda/include", "system"),
        // Debian's nvidia-cuda-dev.
        (LINUX, "", "usr/include", "system"),
        (SERVER, "", "usr/local/cuda/targets/sbsa-linux/include", "system"),
        // A Jetson's.
        (SERVER, "", "usr/local/cuda/targets/aarch64-linux/include", "system"),
        // NVIDIA's HPC SDK.
        (LINUX, "", "opt/nvidia/hpc_sdk/Linux_x86_64/24.11/cuda/12.6/include", "system"),
        (SERVER, "", "opt/nvidia/hpc_sdk/Linux_aarch64/25.5/cuda/12.9/targets/sbsa-linux/include", "system"),
        (LINUX, "NVHPC_ROOT", "cuda/12.6/targets/x86_64-linux/include", "NVHPC_ROOT"),
        (LINUX, "CONDA_PREFIX", "targets/x86_64-linux/include", "CONDA_PREFIX"),
        (SERVER, "CONDA_PREFIX", "targets/sbsa-linux/include", "CONDA_PREFIX"),
        (WINDOWS, "CONDA_PREFIX", "Library/include", "CONDA_PREFIX"),
        (LINUX, "CONDA_PREFIX", "lib/python3.12/site-packages/nvidia/cu13/include", "CONDA_PREFIX"),
        (LINUX, "VIRTUAL_ENV", "lib/python3.11/site-packages/nvidia/cu13/include", "VIRTUAL_ENV"),
        (LINUX, "VIRTUAL_ENV", "lib/python3.11/site-packages/nvidia/cuda_runtime/include", "VIRTUAL_ENV"),
        (WINDOWS, "VIRTUAL_ENV", "Lib/site-packages/nvidia/cu13/include", "VIRTUAL_ENV"),
        (WINDOWS, "ProgramFiles", "NVIDIA GPU Computing Toolkit/CUDA/v12.4/include", "system"),
        (LINUX, "CUDA_HOME", "include", "CUDA_HOME"),
        (LINUX, "CUDA_PATH", "targets/x86_64-linux/include", "CUDA_PATH"),
        (LINUX, "CUDA_ROOT", "include", "CUDA_ROOT"),
        (LINUX, "CUDA_TOOLKIT_ROOT_DIR", "include", "CUDA_TOOLKIT_ROOT_DIR"),
        (LINUX, "", "clone/.cuda/headers/13.5/include", "cargo xtask setup"),
    ];
    for (target, variable, include, source) in layouts {
        let (machine, include) = match variable {
            "" => (Machine::new(target), include.to_owned()),
            name => (Machine::new(target).var(name, "prefix"), format!("prefix/{include}")),
        };
        assert_eq!(machine.cuda_h(&include, 12040).found(), found(&include, source), "{target} {variable}");
    }
}

#[test]
fn earlier_rows_win() {
    let machine = Machine::new(LINUX).cuda_h("clone/.cuda/headers/13.5/include", 13050);
    let machine = machine.cuda_h("usr/local/cuda/include", 12000);
    assert_eq!(machine.found().1, "system");
    let machine = machine.cuda_h("tool/include", 12010).file("tool/bin/nvcc", "").var("PATH", "tool/bin");
    assert_eq!(machine.found(), found("tool/include", "nvcc on PATH"));
    let machine =
        machine.cuda_h("venv/lib/python3.9/site-packages/nvidia/cu13/include", 13000).var("VIRTUAL_ENV", "venv");
    assert_eq!(machine.found().1, "VIRTUAL_ENV");
    let machine = machine.cuda_h("conda/include", 12020).var("CONDA_PREFIX", "conda");
    assert_eq!(machine.found().1, "CONDA_PREFIX");
    let machine = machine.cuda_h("path/include", 12030).var("CUDA_PATH", "path");
    assert_eq!(machine.found().1, "CUDA_PATH");
    let machine = machine.cuda_h("home/include", 12040).var("CUDA_HOME", "home");
    assert_eq!(machine.found().1, "CUDA_HOME");
    let machine = machine.cuda_h("exact", 12050).var("CUDA_SYS_INCLUDE_DIR", "exact");
    assert_eq!(machine.found(), found("exact", "CUDA_SYS_INCLUDE_DIR"));
    assert_eq!(machine.find().unwrap().version, Version(12050));
}

#[test]
fn the_highest_number_wins_and_not_the_last_letter() {
    let machine = Machine::new(LINUX);
    let machine = machine.cuda_h("clone/.cuda/headers/12.9/include", 12090);
    let machine = machine.cuda_h("clone/.cuda/headers/12.10/include", 12100);
    let machine = machine.cuda_h("clone/.cuda/headers/11.8/include", 11080);
    assert_eq!(machine.found().0, "clone/.cuda/headers/12.10/include");
    let machine = machine.cuda_h("usr/local/cuda-9.0/include", 9000).cuda_h("usr/local/cuda-12.6/include", 12060);
    assert_eq!(machine.found().0, "usr/local/cuda-12.6/include");
}

#[test]
fn a_target_gets_no_other_targets_headers() {
    let machine = |target| {
        Machine::new(target)
            .cuda_h("usr/local/cuda/targets/x86_64-linux/include", 12040)
            .cuda_h("opt/nvidia/hpc_sdk/Linux_x86_64/24.3/cuda/12.3/include", 12030)
    };
    assert_eq!(machine(LINUX).found().0, "usr/local/cuda/targets/x86_64-linux/include");
    for target in [SERVER, "powerpc64le-unknown-linux-gnu", "aarch64-pc-windows-msvc"] {
        assert!(machine(target).find().is_err(), "{target}");
    }
}

#[test]
fn windows_looks_below_program_files_and_for_nvcc_exe() {
    let machine = Machine::new(WINDOWS).cuda_h("usr/local/cuda/include", 13050);
    assert!(machine.find().is_err(), "a Linux place");
    let machine = machine.cuda_h("Program Files/NVIDIA GPU Computing Toolkit/CUDA/v12.4/include", 12040);
    let machine = machine.cuda_h("Program Files/NVIDIA GPU Computing Toolkit/CUDA/v12.10/include", 12100);
    assert_eq!(machine.find().unwrap().version, Version(12100), "without the variable, and the highest number");
    let machine = machine.cuda_h("tool/include", 12010).file("tool/bin/nvcc.exe", "").var("PATH", "tool/bin");
    assert_eq!(machine.found(), found("tool/include", "nvcc on PATH"));
}

/// WSL is Linux to a build: the toolkit is installed in it, and the Windows side is not searched.
#[test]
fn wsl_takes_the_toolkit_that_is_installed_in_it() {
    let machine = Machine::new(LINUX)
        .cuda_h("mnt/c/Program Files/NVIDIA GPU Computing Toolkit/CUDA/v13.0/include", 13000)
        .file("usr/lib/wsl/lib/libcuda.so.1", "");
    assert!(machine.find().is_err());
    assert_eq!(machine.cuda_h("usr/local/cuda-12.9/include", 12090).found().0, "usr/local/cuda-12.9/include");
}

#[test]
fn a_survey_tells_every_folder_and_what_is_wrong_with_it() {
    let machine = Machine::new(LINUX).cuda_h("home/include", 12040).var("CUDA_HOME", "home");
    let machine = machine.cuda_h("usr/local/cuda/include", 11070).cuda_h("opt/cuda/include", 13000);
    let survey = find::survey(&Surroundings {
        var: &|name| machine.variables.get(name).cloned(),
        target: machine.target,
        root: machine.root.path(),
        provisioned: &machine.path("clone/.cuda"),
    });
    let of = |include: &str| {
        let found = survey.iter().find(|candidate| candidate.include == machine.path(include)).expect(include);
        (found.source, found.usable.as_ref().map(|version| version.0).map_err(ToString::to_string))
    };
    assert_eq!(of("home/include"), ("CUDA_HOME", Ok(12040)));
    assert_eq!(of("opt/cuda/include"), ("system", Ok(13000)));
    assert!(of("usr/local/cuda/include").1.unwrap_err().contains("older than 11.8"));
    assert_eq!(of("usr/include").1, Err("no cuda.h".to_owned()));
}

#[cfg(unix)]
#[test]
fn nvcc_may_be_a_link_into_the_toolkit() {
    let machine = Machine::new(LINUX).cuda_h("toolkit/include", 12040).file("toolkit/bin/nvcc", "").var("PATH", "bin");
    fs::create_dir(machine.path("bin")).unwrap();
    std::os::unix::fs::symlink(machine.path("toolkit/bin/nvcc"), machine.path("bin/nvcc")).unwrap();
    let headers = machine.find().unwrap();
    assert_eq!(headers.include.canonicalize().unwrap(), machine.path("toolkit/include").canonicalize().unwrap());
}

#[test]
fn a_wrong_variable_is_an_error_although_others_would_do() {
    for variable in ["CUDA_SYS_INCLUDE_DIR", "CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"] {
        let machine = Machine::new(LINUX).cuda_h("usr/local/cuda/include", 12040).var(variable, "nowhere");
        let text = machine.refused();
        assert!(text.starts_with(&format!("{variable} is set, but")), "{text}");
        assert!(text.contains("nowhere"), "{text}");
        assert!(text.contains("unset it"), "{text}");
        assert!(!text.contains("pip install"), "it would not help: {text}");
    }
}

#[test]
fn an_empty_variable_is_not_set() {
    let mut machine = Machine::new(LINUX).cuda_h("usr/local/cuda/include", 12040);
    machine.variables.insert("CUDA_HOME", OsString::new());
    assert_eq!(machine.found().1, "system");
}

#[test]
fn an_environment_without_cuda_is_passed_over() {
    let machine = Machine::new(LINUX).var("CONDA_PREFIX", "conda").var("VIRTUAL_ENV", "venv");
    assert_eq!(machine.cuda_h("usr/local/cuda/include", 12040).found().1, "system");
}

#[test]
fn the_kernels_cuda_h_does_not_count() {
    let machine = Machine::new(LINUX).file("usr/include/cuda.h", "#define CUDA_HARDWARE 1\nint via_cuda;\n");
    assert!(machine.refused().contains("as the CUDA driver's header does"));
    let machine = machine.cuda_h("clone/.cuda/headers/13.5/include", 13050);
    assert_eq!(machine.found().1, "cargo xtask setup");
    let machine = machine.var("CUDA_SYS_INCLUDE_DIR", "usr/include");
    assert!(machine.refused().contains("as the CUDA driver's header does"));
}

#[test]
fn a_relative_path_is_refused_since_nobody_knows_where_from() {
    let mut machine = Machine::new(LINUX).cuda_h("usr/local/cuda/include", 12040);
    machine.variables.insert("CUDA_HOME", "toolkit".into());
    assert!(machine.refused().contains("toolkit/include: a relative path"), "{}", machine.refused());
}

#[test]
fn a_definition_may_be_indented_and_in_parentheses() {
    let machine =
        Machine::new(LINUX).file("usr/include/cuda.h", "#if 1\r\n#  define CUDA_VERSION (12040)\r\n#endif\r\n");
    assert_eq!(machine.find().unwrap().version, Version(12040));
}

#[test]
fn a_header_before_the_attributes_is_too_old() {
    let machine = Machine::new(LINUX).cuda_h("home/include", 11070).var("CUDA_HOME", "home");
    assert!(machine.refused().contains("CUDA 11.7, older than 11.8"), "{}", machine.refused());
}

#[test]
fn a_folder_by_the_name_of_cuda_h_is_not_read() {
    let machine = Machine::new(LINUX).file("home/include/cuda.h/file", "").var("CUDA_HOME", "home");
    assert!(machine.refused().contains("cannot be read"), "{}", machine.refused());
    assert_eq!(find::read_version(&machine.path("none")), Err(Rejected::NoFile));
}

#[test]
fn the_error_lists_every_place_and_every_way_out() {
    let text = Machine::new(SERVER).refused();
    for part in ["usr/local/cuda/targets/sbsa-linux/include", "opt/cuda/include", "usr/include", "no cuda.h"] {
        assert!(text.contains(Path::new(part).to_str().unwrap()), "{part} is missing in: {text}");
    }
    for remedy in ["CUDA_HOME", "pip install nvidia-cuda-runtime", "CUDA_SYS_INCLUDE_DIR", "cargo xtask setup"] {
        assert!(text.contains(remedy), "{remedy} is missing in: {text}");
    }
}
