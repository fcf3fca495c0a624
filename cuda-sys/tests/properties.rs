//! The build script's parts, on arbitrary input.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use proptest::array::uniform10;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use tempfile::TempDir;

#[path = "../build/comments.rs"]
mod comments;
#[path = "../build/find.rs"]
#[expect(dead_code, reason = "the build script tells cargo which variables are read")]
mod find;

use find::{Rejected, Surroundings, Version};

/// A failing input is printed, and belongs into a test of its own rather than into a file.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// The table's rows as its documentation has them: the variable if there is one, where headers may lie, and whether
/// being wrong ends the search.
struct Row {
    source: &'static str,
    variable: Option<&'static str>,
    includes: &'static [&'static str],
    is_binding: bool,
}

const TOOLKIT: &[&str] = &["targets/x86_64-linux/include", "include"];
const CONDA: &[&str] =
    &["targets/x86_64-linux/include", "Library/include", "lib/python3.12/site-packages/nvidia/cu13/include"];
const WHEELS: &[&str] = &[
    "lib/python3.12/site-packages/nvidia/cu13/include",
    "lib/python3.9/site-packages/nvidia/cuda_runtime/include",
    "Lib/site-packages/nvidia/cu13/include",
];

const fn toolkit(variable: &'static str) -> Row {
    Row { source: variable, variable: Some(variable), includes: TOOLKIT, is_binding: true }
}

const fn environment(variable: &'static str, includes: &'static [&'static str]) -> Row {
    Row { source: variable, variable: Some(variable), includes, is_binding: false }
}

const fn place(source: &'static str, includes: &'static [&'static str]) -> Row {
    Row { source, variable: None, includes, is_binding: false }
}

const ROWS: [Row; 10] = [
    Row { includes: &[""], ..toolkit("CUDA_SYS_INCLUDE_DIR") },
    toolkit("CUDA_HOME"),
    toolkit("CUDA_PATH"),
    toolkit("CUDA_ROOT"),
    toolkit("CUDA_TOOLKIT_ROOT_DIR"),
    environment("CONDA_PREFIX", CONDA),
    environment("VIRTUAL_ENV", WHEELS),
    Row { source: "nvcc on PATH", ..environment("PATH", TOOLKIT) },
    place("system", &["usr/local/cuda/include", "usr/local/cuda-12.4/include", "opt/cuda/include", "usr/include"]),
    place("cargo xtask setup", &["headers/13.5/include", "headers/11.8/include"]),
];

/// What a row finds.
#[derive(Clone, Debug, PartialEq)]
enum State {
    /// Its variable is not set, or nothing is there.
    Absent,
    /// The variable names a folder without a header.
    Empty,
    /// A header that does not count.
    Unusable(Vec<u8>),
    Usable(u32),
}

fn state() -> impl Strategy<Value = State> {
    prop_oneof![
        4 => Just(State::Absent),
        1 => Just(State::Empty),
        1 => without_version().prop_map(State::Unusable),
        1 => prop_oneof![0..11080_u32, Just(11079)].prop_map(|version| State::Unusable(header(version))),
        1 => prop_oneof![Just(11080), 11080..20000_u32].prop_map(State::Usable),
    ]
}

fn header(version: u32) -> Vec<u8> {
    format!("#define CUDA_VERSION {version}\n").into_bytes()
}

/// Bytes that define no version.
fn without_version() -> impl Strategy<Value = Vec<u8>> {
    const WORDS: &[&str] =
        &["#define", "#define ", "CUDA_VERSIONS", " ", "\n", "\r", "\t", "12040", "-1", "/*", "\u{feff}", "é"];
    let word = prop_oneof![select(WORDS).prop_map(|word| word.as_bytes().to_vec()), any::<Vec<u8>>()];
    vec(word, 0..20).prop_map(|words| words.concat())
}

/// Puts a row's state into the file system, and gives its variable's value.
fn lay_out(root: &Path, row: &Row, state: &State, place: Index) -> Option<OsString> {
    if *state == State::Absent {
        return None;
    }
    let folder = match row.source {
        "system" => root.to_owned(),
        "cargo xtask setup" => root.join("provisioned"),
        source => root.join("rows").join(source),
    };
    let include = folder.join(place.get(row.includes));
    fs::create_dir_all(&include).unwrap();
    match state {
        State::Unusable(text) => fs::write(include.join("cuda.h"), text).unwrap(),
        State::Usable(version) => fs::write(include.join("cuda.h"), header(*version)).unwrap(),
        State::Absent | State::Empty => {}
    }
    if row.variable == Some("PATH") {
        fs::create_dir_all(folder.join("bin")).unwrap();
        fs::write(folder.join("bin/nvcc"), "").unwrap();
        return Some(folder.join("bin").into());
    }
    Some(folder.into())
}

proptest! {
    // Each case builds a tree of files.
    #![proptest_config(config(64))]

    /// The first row that is usable wins, and one that binds and is wrong ends the search.
    #[test]
    fn the_order_of_the_table_holds(states in uniform10(state()), places in uniform10(any::<Index>())) {
        let root = TempDir::new().unwrap();
        let laid_out = ROWS.iter().zip(&states).zip(places);
        let values = Vec::from_iter(laid_out.map(|((row, state), place)| lay_out(root.path(), row, state, place)));
        let value_of = |name: &str| {
            let row = ROWS.iter().position(|row| row.variable == Some(name))?;
            values[row].clone()
        };
        let found = find::find(&Surroundings {
            var: &value_of,
            target: "x86_64-unknown-linux-gnu",
            root: root.path(),
            provisioned: &root.path().join("provisioned"),
        });

        let decisive = ROWS.iter().zip(&states).find(|(row, state)| match state {
            State::Usable(_) => true,
            State::Absent => false,
            State::Empty | State::Unusable(_) => row.is_binding,
        });
        match (decisive, found) {
            (Some((row, State::Usable(version))), Ok(headers)) => {
                prop_assert_eq!((headers.source, headers.version), (row.source, Version(*version)));
                prop_assert_eq!(find::read_version(&headers.include), Ok(Version(*version)));
            }
            (Some((row, State::Empty | State::Unusable(_))), Err(error)) => {
                prop_assert_eq!(error.variable, Some(row.source));
                prop_assert!(error.to_string().starts_with(&format!("{} is set, but", row.source)), "{}", error);
            }
            (None, Err(error)) => prop_assert_eq!(error.variable, None),
            (_, found) => prop_assert!(false, "{:?}", found),
        }
    }

    /// Whatever stands before it, the definition at the start of a line is read.
    #[test]
    fn the_version_is_read_from_any_bytes(before in without_version(), version: u32, after: Vec<u8>) {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("cuda.h"), &before).unwrap();
        prop_assert_eq!(find::read_version(folder.path()), Err(Rejected::NoVersion));
        let text = [&before, &b"\n"[..], &header(version), &after].concat();
        fs::write(folder.path().join("cuda.h"), text).unwrap();
        prop_assert_eq!(find::read_version(folder.path()), Ok(Version(version)));
    }

}

proptest! {
    #![proptest_config(config(256))]

    /// Every fence is closed, and no text is taken for a link or for HTML.
    #[test]
    fn any_comment_is_harmless_markdown(comment in comment()) {
        let text = comments::markdown(&comment);
        let mut is_code = false;
        for line in text.lines() {
            if let Some(language) = line.strip_prefix("```") {
                prop_assert!(language.is_empty() || (!is_code && language == "c"), "{}", text);
                is_code = !is_code;
            } else if !is_code {
                prop_assert!(!has_markup(line), "{:?} in:\n{}", line, text);
            }
        }
        prop_assert!(!is_code, "a fence is open:\n{}", text);
    }
}

/// Text, with many of the words that the converter and Markdown know.
fn comment() -> impl Strategy<Value = String> {
    const WORDS: &str =
        "\\code \\endcode \\param \\param[in] \\brief \\p \\ref \\note \\sa :: ::cuInit < > [ ]( ` ``` \\\\ * _ name";
    let word = select(Vec::from_iter(WORDS.split(' '))).prop_map(str::to_owned);
    let word = prop_oneof![4 => word, 1 => select(&[" ", "\n"][..]).prop_map(str::to_owned), 1 => any::<String>()];
    vec(word, 0..40).prop_map(|words| words.concat())
}

/// Whether a line has a `[` or `<` that is neither escaped nor in a code span.
fn has_markup(line: &str) -> bool {
    let mut rest = line;
    while let Some(at) = rest.find(['\\', '`', '[', '<']) {
        rest = &rest[at..];
        if let Some(escape) = rest.strip_prefix('\\') {
            rest = escape.strip_prefix(|c: char| c.is_ascii_punctuation()).unwrap_or(escape);
        } else if rest.starts_with('`') {
            let text = rest.trim_start_matches('`');
            let fence = &rest[..rest.len() - text.len()];
            rest = text.split_once(fence).map_or(text, |(_, after)| after);
        } else {
            return true;
        }
    }
    false
}
