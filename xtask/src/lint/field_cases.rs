//! `docs/field-cases.md` names tests: each of them exists, and each case has one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::tidy::sources;

const PAGE: &str = "docs/field-cases.md";
const CASES: u32 = 25;

/// Tells every test that is named and does not exist, and every case without one; whether there was none.
pub(super) fn are_shown(workspace: &Path) -> Result<bool> {
    let page = fs::read_to_string(workspace.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    let mut code = String::new();
    for folder in ["cuda-hostfn", "cuda-sys", "tests"] {
        for file in sources(&workspace.join(folder))? {
            code.push_str(&fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?);
        }
    }
    let exists = |name: &str| {
        code.contains(&format!("\"{name}\"")) || code.contains(&format!("fn {name}(")) || workspace.join(name).is_file()
    };
    let wrong = wrong(&page, exists);
    for text in &wrong {
        eprintln!("{PAGE}: {text}");
    }
    Ok(wrong.is_empty())
}

fn wrong(page: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let rows: BTreeMap<u32, &str> = page.lines().filter_map(row).collect();
    let mut wrong = Vec::new();
    for case in 1..=CASES {
        let names: Vec<&str> = rows.get(&case).map_or("", |cell| cell).split('`').skip(1).step_by(2).collect();
        if names.is_empty() {
            wrong.push(format!("case {case} names no test"));
        }
        let missing = names.into_iter().filter(|name| !exists(name));
        wrong.extend(missing.map(|name| format!("case {case}: there is no test `{name}`")));
    }
    wrong
}

/// A case's number and the cell that names its tests.
fn row(line: &str) -> Option<(u32, &str)> {
    let mut cells = line.strip_prefix('|')?.strip_suffix('|')?.split('|');
    let number = cells.next()?.trim().parse().ok()?;
    Some((number, cells.next_back()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_are_gone_are_told() {
        let rows: String = (1..=CASES).map(|case| format!("| {case} | `a` | b | `there {case}` |\n")).collect();
        let exists = |name: &str| name.starts_with("there");
        assert_eq!(wrong(&rows, exists), Vec::<String>::new());
        let renamed = rows.replace("`there 7`", "`there 7`, `gone`").replace("`there 9`", "nothing");
        assert_eq!(wrong(&renamed, exists), ["case 7: there is no test `gone`", "case 9 names no test"]);
    }
}
