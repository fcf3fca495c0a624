//! `docs/attributes.md` is generated, and current.

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::{audit, command, provisioned};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("docs")
}

#[test]
fn the_page_is_what_the_audit_generates() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("attributes.md");
    provisioned("13.5");
    let output = command([format!("--reference={}", file.display())]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let page = docs().join("attributes.md");
    let current = fs::read_to_string(&page).unwrap_or_default() == fs::read_to_string(&file).unwrap();
    assert!(current, "{} is stale: run `cargo xtask audit --reference`", page.display());
}

#[test]
fn the_page_depends_on_nothing_else() {
    for other in [["--output", "x"], ["--format", "json"], ["--cuda", "13.5"], ["--observed", "x"]] {
        let run = audit(["--reference"].into_iter().chain(other));
        assert!(run.error().contains("cannot be used with"), "{run:#?}");
    }
}

/// Every sentence of the header is NVIDIA's.
#[test]
fn the_page_quotes_no_header() {
    let page = fs::read_to_string(docs().join("attributes.md")).unwrap();
    let header = fs::read_to_string(provisioned("13.5").join("cuda.h")).unwrap();
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    const RUN: usize = 8;
    let header = words(&header);
    let known: std::collections::HashSet<&[String]> = header.windows(RUN).collect();
    let page = words(&page);
    let quoted: Vec<_> = page.windows(RUN).filter(|run| known.contains(run)).collect();
    assert!(quoted.is_empty(), "{quoted:?}");
}
