//! libclang: loaded here and not by bindgen, which panics when there is none.

use std::fmt;
use std::path::{Path, PathBuf};

/// clang-sys's variable: a libclang, or the folder of one. Set but wrong is an error.
pub const LIBCLANG_PATH: &str = "LIBCLANG_PATH";

/// No libclang; its text says what was tried and what to do.
#[derive(Debug)]
pub struct NoLibclang(String);

/// Loads a libclang for this thread: an installed one, else the one that `cargo xtask setup` put into the folder
/// `provisioned`.
///
/// # Safety
///
/// No other thread may read or write the environment meanwhile: `LIBCLANG_PATH` is set if `provisioned` is needed.
pub unsafe fn load(provisioned: &Path) -> Result<PathBuf, NoLibclang> {
    let installed = clang_sys::load();
    if let Err(why) = installed {
        if std::env::var_os(LIBCLANG_PATH).is_some() || !provisioned.is_dir() {
            return Err(NoLibclang(why));
        }
        // SAFETY: the caller keeps other threads away from the environment.
        unsafe { std::env::set_var(LIBCLANG_PATH, provisioned) };
        clang_sys::load().map_err(NoLibclang)?;
    }
    clang_sys::get_library().map(|library| library.path().to_owned()).ok_or_else(|| NoLibclang(String::new()))
}

/// The arguments that give libclang a `stddef.h`: none when it has its own, else the C compiler's folder of builtin
/// headers. A libclang without the clang around it, such as pip's, has none.
pub fn builtin_headers(target: &str) -> Vec<String> {
    // A question that clang answers without a diagnostic, which it would print.
    let question = "#if __has_include(<stddef.h>)\nint has_builtin_headers;\n#endif\n";
    let asked = bindgen::Builder::default().header_contents("builtin.h", question).clang_args(["-target", target]);
    let has_own = asked.generate().is_ok_and(|answer| answer.to_string().contains("has_builtin_headers"));
    if has_own {
        return Vec::new();
    }
    compiler_headers(target).map_or_else(Vec::new, |folder| vec!["-isystem".to_owned(), folder])
}

fn compiler_headers(target: &str) -> Option<String> {
    let compiler =
        cc::Build::new().target(target).host(target).opt_level(0).cargo_metadata(false).try_get_compiler().ok()?;
    let asked = compiler.to_command().arg("-print-file-name=include").output().ok()?;
    let dir = String::from_utf8(asked.stdout).ok()?.trim().to_owned();
    Path::new(&dir).join("stddef.h").is_file().then_some(dir)
}

impl fmt::Display for NoLibclang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "libclang, which reads cuda.h, could not be loaded: {}", self.0)?;
        writeln!(f, "Any one of these mends it:")?;
        writeln!(
            f,
            "  - install it (Debian and Ubuntu: `apt-get install libclang-dev`, Fedora: `dnf install clang-devel`);"
        )?;
        writeln!(f, "  - `pip install libclang`, and set {LIBCLANG_PATH} to its folder `clang/native`;")?;
        write!(f, "  - in a clone of this workspace, run `cargo xtask setup`.")
    }
}
