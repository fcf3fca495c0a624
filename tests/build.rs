//! What the layout oracle asks: one list of questions, in Rust for rustc and in C for the host's compiler.

use std::path::{Path, PathBuf};
use std::{env, fs};

#[path = "oracle/bindings.rs"]
mod bindings;
#[path = "oracle/facts.rs"]
mod facts;
#[path = "oracle/languages.rs"]
mod languages;

fn main() {
    for file in ["build.rs", "oracle"] {
        println!("cargo::rerun-if-changed={file}");
    }
    let file = variable("DEP_CUDA_HOSTFN_SYS_BINDINGS");
    println!("cargo::rerun-if-changed={file}");
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let items = syn::parse_file(&text).unwrap_or_else(|error| panic!("{file}: {error}")).items;
    let questions = facts::of(&bindings::Bindings::new(&items));

    let out = PathBuf::from(variable("OUT_DIR"));
    write(&out.join("facts.rs"), &languages::rust(&questions));
    write(&out.join("facts.c"), &languages::c(&questions));
    println!("cargo::rustc-env=CUDA_TESTS_TARGET={}", variable("TARGET"));
    // Not there in the prebuilt mode, which has no cuda.h to ask a compiler about.
    if let Ok(include) = env::var("DEP_CUDA_HOSTFN_SYS_INCLUDE") {
        println!("cargo::rustc-env=CUDA_TESTS_INCLUDE={include}");
    }
}

fn write(file: &Path, text: &str) {
    fs::write(file, text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is set by cargo, or by cuda-sys's build script"))
}
