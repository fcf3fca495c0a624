//! What a libclang may lack: the headers that come with a compiler, such as `stddef.h`.

use std::env;
use std::path::Path;

/// The arguments that give libclang a `stddef.h`: none when it has its own, else the C compiler's folder of builtin
/// headers. A libclang without the clang around it, such as pip's, has none.
pub fn builtin_headers(target: &str) -> Vec<String> {
    // A question that clang answers without a diagnostic, which it would print.
    let question = "#if __has_include(<stddef.h>)\nint has_builtin_headers;\n#endif\n";
    let asked = bindgen::Builder::default()
        .header_contents("builtin.h", question)
        .clang_args(["-target", target])
        .formatter(bindgen::Formatter::None);
    let has_own = asked.generate().is_ok_and(|answer| answer.to_string().contains("has_builtin_headers"));
    if has_own {
        return Vec::new();
    }
    compiler_headers(target).map_or_else(Vec::new, |folder| vec!["-isystem".to_owned(), folder])
}

fn compiler_headers(target: &str) -> Option<String> {
    // Outside of a build script nobody says what the host is; nothing is built for another machine there.
    let host = env::var("HOST").unwrap_or_else(|_| target.to_owned());
    let compiler =
        cc::Build::new().target(target).host(&host).opt_level(0).cargo_metadata(false).try_get_compiler().ok()?;
    let asked = compiler.to_command().arg("-print-file-name=include").output().ok()?;
    let dir = String::from_utf8(asked.stdout).ok()?.trim().to_owned();
    Path::new(&dir).join("stddef.h").is_file().then_some(dir)
}
