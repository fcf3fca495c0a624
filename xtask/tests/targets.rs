//! The bindings as other targets get them: clang's layout for each, beside this machine's. Where no compiler for a target
//! is at hand, this is what can be known of it. Programs are not run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../cuda-sys/build/bindings.rs"]
mod bindings;
#[path = "../../cuda-sys/build/clang.rs"]
mod clang;
#[path = "../../cuda-sys/build/comments.rs"]
mod comments;
#[path = "../../cuda-sys/build/entry_points.rs"]
mod entry_points;
#[path = "../../cuda-sys/build/enums.rs"]
mod enums;
#[path = "../../cuda-sys/build/libclang.rs"]
mod libclang;
#[path = "../../cuda-sys/build/macros.rs"]
mod macros;

const HOST: &str = "x86_64-unknown-linux-gnu";
const OTHERS: [&str; 3] = ["aarch64-unknown-linux-gnu", "x86_64-pc-windows-msvc", "x86_64-pc-windows-gnu"];

/// The oldest and the newest, which differ in what they include and declare.
const HEADERS: [&str; 2] = ["11.8", "13.5"];

#[test]
fn every_target_has_this_machines_layouts() {
    let provisioned = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").join(".cuda");
    // SAFETY: the only test of this program; no other thread of it reads the environment.
    unsafe { libclang::load(&provisioned.join("libclang")) }.expect("libclang");
    for header in HEADERS {
        let include = provisioned.join("headers").join(header).join("include");
        assert!(
            include.join("cuda.h").is_file(),
            "not run: no headers of {header}; `cargo xtask setup --cuda {header}`"
        );
        let host = layouts(&include, HOST);
        assert!(host.len() > 400, "only {} facts of {header}", host.len());
        for target in OTHERS {
            let other = layouts(&include, target);
            let differing: Vec<_> = host.iter().filter(|(what, value)| other.get(*what) != Some(value)).collect();
            assert!(differing.is_empty(), "CUDA {header} on {target}: {differing:?}");
            assert_eq!(host.len(), other.len(), "CUDA {header} on {target} has others too");
        }
    }
}

/// `Size of X`, `Alignment of X`, `Offset of field: X::f`, as clang says them for a target.
fn layouts(include: &Path, target: &str) -> BTreeMap<String, usize> {
    let freestanding = c_headers();
    let mut arguments = vec!["-target".to_owned(), target.to_owned(), "-ffreestanding".to_owned()];
    arguments.extend(["-nostdlibinc".to_owned(), "-isystem".to_owned(), freestanding.display().to_string()]);
    arguments.extend(clang::builtin_headers(HOST));
    let text = bindings::generate(include, &arguments, false).unwrap_or_else(|error| panic!("{target}: {error}"));
    let facts = text.split("[\"").skip(1).filter_map(|fact| {
        let (what, rest) = fact.split_once("\"]")?;
        let value = rest.split_once(" - ")?.1.split("usize").next()?;
        Some((what.to_owned(), value.trim().parse().ok()?))
    });
    facts.collect()
}

/// What `cuda.h` includes of a C library, as far as it needs it: a target's own is not at hand.
fn c_headers() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("freestanding");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("stdlib.h"), "#include <stddef.h>\n").expect("a header");
    folder
}
