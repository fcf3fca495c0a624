//! Feature `link`: tells rustc to link libcuda, and where it may be.

use std::env;
use std::path::{Path, PathBuf};

/// The folder that holds libcuda, or the toolkit's stub of it. Set but wrong is an error.
pub const LIBRARY_DIR: &str = "CUDA_SYS_LIBRARY_DIR";

/// Seen from the folder that holds `include`: a toolkit's stub first, since a build machine may have no driver.
const BESIDE_HEADERS: [&str; 5] = ["lib64/stubs", "lib/stubs", "lib/x64", "lib64", "lib"];

/// Where drivers put libcuda that linkers do not look by themselves.
const SYSTEM: [&str; 2] = ["/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"];

/// Prints the directives; `include` is the folder of the headers, if any were used.
pub fn emit(include: Option<&Path>) -> Result<(), String> {
    let folders = match env::var_os(LIBRARY_DIR).filter(|value| !value.is_empty()).map(PathBuf::from) {
        Some(folder) if holds_libcuda(&folder) => vec![folder],
        Some(folder) => {
            return Err(format!(
                "{LIBRARY_DIR}={} has no libcuda.so or cuda.lib: correct the variable, or unset it to have the folders \
                 beside the headers and the linker's own searched",
                folder.display()
            ));
        }
        None => {
            let beside = include.and_then(Path::parent).map(|root| BESIDE_HEADERS.map(|folder| root.join(folder)));
            let all = beside.into_iter().flatten().chain(SYSTEM.map(PathBuf::from));
            all.filter(|folder| holds_libcuda(folder)).collect()
        }
    };
    for folder in folders {
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
    println!("cargo::rustc-link-lib=dylib=cuda");
    Ok(())
}

fn holds_libcuda(folder: &Path) -> bool {
    ["libcuda.so", "cuda.lib"].iter().any(|name| folder.join(name).is_file())
}
