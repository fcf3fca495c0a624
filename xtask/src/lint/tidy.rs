//! The invariants of `ARCHITECTURE.md` that are absences: words that stand in one place and nowhere else.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// `word` stands only in files of `folder` that begin with one of `allowed`.
struct Rule {
    folder: &'static str,
    word: &'static str,
    allowed: &'static [&'static str],
}

const RULES: [Rule; 5] = [
    // Only one file touches the union of attribute values.
    Rule { folder: "cuda-hostfn/src", word: "CUlaunchAttributeValue", allowed: &["attribute/lower.rs"] },
    // Only one place makes a `Result` of a code.
    Rule { folder: "cuda-hostfn/src", word: "CUDA_SUCCESS", allowed: &["error"] },
    // Only one file opens libraries.
    Rule { folder: "cuda-sys/src", word: "dlopen", allowed: &["driver/unix.rs"] },
    // Only closures meet the boundary to C, and only in one folder.
    Rule { folder: "cuda-hostfn/src", word: "catch_unwind", allowed: &["host/"] },
    // The raw crate knows nothing of what an attribute means.
    Rule { folder: "cuda-sys/src", word: "CU_LAUNCH_ATTRIBUTE_", allowed: &[] },
];

/// Tells every broken rule; whether there was none.
pub(super) fn is_tidy(workspace: &Path) -> Result<bool> {
    let mut tidy = true;
    for rule in RULES {
        let folder = workspace.join(rule.folder);
        for file in sources(&folder)? {
            let name = file.strip_prefix(&folder)?.to_string_lossy().replace('\\', "/");
            let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            if text.contains(rule.word) && !rule.allowed.iter().any(|allowed| name.starts_with(allowed)) {
                eprintln!(
                    "{}: {} belongs in {:?} alone (xtask/src/lint/tidy.rs)",
                    file.display(),
                    rule.word,
                    rule.allowed
                );
                tidy = false;
            }
        }
    }
    Ok(tidy)
}

/// Every Rust file in a folder, with the folders in it.
pub(super) fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_in_the_wrong_place_is_told() {
        let folder = std::env::temp_dir().join(format!("tidy-{}", std::process::id()));
        for rule in &RULES {
            fs::create_dir_all(folder.join(rule.folder).join("attribute")).unwrap();
        }
        let lower = folder.join("cuda-hostfn/src/attribute/lower.rs");
        fs::write(&lower, "CUlaunchAttributeValue").unwrap();
        let allowed = is_tidy(&folder).unwrap();
        fs::rename(&lower, folder.join("cuda-hostfn/src/attribute/raw.rs")).unwrap();
        let elsewhere = is_tidy(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert!(allowed && !elsewhere);
    }
}
