//! `cuda.h` to Rust: bindgen's output, with what bindgen leaves out put in.
//!
//! One output serves every feature: the header is read in its per-thread-default-stream mode, whose names say what
//! the names of the other mode are.

use std::cell::RefCell;
use std::fmt;
use std::path::Path;
use std::rc::Rc;

use bindgen::callbacks::{ParseCallbacks, Token};
use quote::ToTokens;

use crate::{comments, entry_points, enums, macros};

/// The header could not be turned into bindings.
#[derive(Debug)]
pub enum Error {
    Header(bindgen::BindgenError),
    /// bindgen's output does not parse.
    Output(syn::Error),
}

/// The bindings of the `cuda.h` in `include`, as Rust source. libclang is loaded on this thread.
pub fn generate(include: &Path, clang_args: &[String], with_comments: bool) -> Result<String, Error> {
    let macros = Rc::new(RefCell::new(macros::Macros::default()));
    let generated = builder(include, clang_args, with_comments)
        .parse_callbacks(Box::new(Callbacks(Rc::clone(&macros))))
        .clang_arg("-DCUDA_API_PER_THREAD_DEFAULT_STREAM")
        .bitfield_enum(".*([fF]lags).*")
        .derive_default(true)
        .generate()
        .map_err(Error::Header)?;

    let file = syn::parse_file(&generated.to_string()).map_err(Error::Output)?;
    let macros = macros.take();
    let (functions, mut items) = entry_points::split(file.items, &macros);
    macros.restore_unsigned(&mut items);
    let enumerators = enums::name_in_debug(&mut items);
    let constants = macros.constants(&items, &enumerators);
    let items = items.iter().map(ToTokens::to_token_stream).chain(constants);
    let lines: Vec<String> = items.map(|item| item.to_string()).chain(functions).collect();
    Ok(lines.join("\n"))
}

/// What every reader of a `cuda.h` needs: its own items alone, enums as newtypes.
pub fn builder(include: &Path, clang_args: &[String], with_comments: bool) -> bindgen::Builder {
    // Left out, bindgen would ask the compiler at hand, and the output would vary.
    let rust = bindgen::RustTarget::stable(85, 0).unwrap_or_default();
    bindgen::Builder::default()
        .header(include.join("cuda.h").to_string_lossy())
        .clang_args(clang_args)
        .allowlist_file(r".*[/\\]cuda\.h")
        .default_enum_style(bindgen::EnumVariation::NewType { is_bitfield: false, is_global: false })
        .prepend_enum_name(false)
        .generate_comments(with_comments)
        .use_core()
        .ctypes_prefix("::core::ffi")
        .rust_target(rust)
        .rust_edition(bindgen::RustEdition::Edition2024)
        .formatter(bindgen::Formatter::None)
}

#[derive(Debug)]
struct Callbacks(Rc<RefCell<macros::Macros>>);

impl ParseCallbacks for Callbacks {
    fn modify_macro(&self, name: &str, tokens: &mut Vec<Token>) {
        let body = tokens.iter().skip(1).map(|token| String::from_utf8_lossy(&token.raw).into_owned());
        self.0.borrow_mut().add(name, body.collect());
    }

    fn process_comment(&self, comment: &str) -> Option<String> {
        Some(comments::markdown(comment))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(bindgen::BindgenError::ClangDiagnostic(text)) => {
                // clang repeats itself on a broken header; the first errors tell.
                let first: Vec<_> = text.lines().filter(|line| line.contains("error:")).take(3).collect();
                let first = first.join("; ");
                if first.contains("file not found") {
                    write!(
                        f,
                        "clang lacks a header that cuda.h includes: {first}. Install a C compiler for the target (cc, or \
                         the one that CC_<target> names), or say where its headers are, such as \
                         BINDGEN_EXTRA_CLANG_ARGS=--sysroot=/path"
                    )
                } else if first.contains("cuda.h:") {
                    write!(f, "clang cannot read it, so it is damaged or not a whole cuda.h: {first}")
                } else {
                    write!(f, "clang cannot be run on it (BINDGEN_EXTRA_CLANG_ARGS, if set, is given to it): {first}")
                }
            }
            Self::Header(error) => write!(f, "{error}"),
            Self::Output(error) => write!(f, "bindgen's output does not parse ({error}); please report this header"),
        }
    }
}
