//! What the guide says of the code: pages that are compiled, links that lead somewhere, messages that exist.

use std::fs;
use std::path::{Path, PathBuf};

use cuda_hostfn::attribute::CATALOGUE;
use tests::workspace;

/// By name, with their text.
fn pages() -> Vec<(PathBuf, String)> {
    let guide = workspace().join("docs/guide");
    let files = fs::read_dir(&guide).expect("the guide").map(|entry| entry.expect("a page").path());
    let root = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"].map(|name| workspace().join(name));
    files.chain(root).map(|file| (file.clone(), read(&file))).collect()
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

#[test]
fn every_page_is_compiled_and_in_the_list() {
    let (compiled, list) =
        (read(&workspace().join("tests/src/guide.rs")), read(&workspace().join("docs/guide/README.md")));
    for entry in fs::read_dir(workspace().join("docs/guide")).expect("the guide") {
        let name = entry.expect("a page").file_name().into_string().expect("UTF-8");
        assert!(compiled.contains(&format!("docs/guide/{name}\"")), "tests/src/guide.rs leaves out {name}");
        assert!(name == "README.md" || list.contains(&format!("({name})")), "the guide's list leaves out {name}");
    }
}

#[test]
fn links_lead_somewhere() {
    let mut followed = 0;
    for (page, text) in pages() {
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        for link in links.filter(|link| !link.is_empty() && !link.contains("://")) {
            let target = page.parent().expect("a folder").join(link);
            assert!(target.exists(), "{}: {link} leads nowhere", page.display());
            followed += 1;
        }
    }
    assert!(followed > 30, "only {followed} links were found");
}

/// A title of the page of troubles that quotes a message quotes it as some source has it. What others say (`…, from …`)
/// and the driver's codes are theirs.
#[test]
fn messages_are_those_of_the_code() {
    let mut sources = Vec::new();
    for folder in ["cuda-sys/build", "cuda-sys/src", "cuda-hostfn/src", "xtask/src"] {
        collect(&workspace().join(folder), &mut sources);
    }
    let page = read(&workspace().join("docs/guide/troubleshooting.md"));
    let titles = page.lines().filter_map(|line| line.strip_prefix("### `")?.rsplit_once('`'));
    let ours = titles.filter(|(message, rest)| !rest.contains("from") && !message.starts_with("CUDA_ERROR_"));
    let mut checked = 0;
    for (message, _) in ours {
        // A field's name in front is not in one string with its rule.
        let message = message.trim_start_matches("Priority: ").trim_start_matches("arguments: ");
        assert!(sources.iter().any(|source| in_order(source, message)), "no source says `{message}`");
        checked += 1;
    }
    assert!(checked > 20, "only {checked} messages were found");
}

/// Whether the parts between `…` come one after another, with no more between them than a string has.
fn in_order(source: &str, message: &str) -> bool {
    let mut parts = message.split('…').map(str::trim).filter(|part| !part.is_empty());
    let first = parts.next().expect("a message has words");
    let rest = Vec::from_iter(parts);
    source.match_indices(first).any(|(at, _)| {
        let mut after = &source[at + first.len()..];
        rest.iter().all(|part| match after.find(part) {
            Some(next) if next < 40 => {
                after = &after[next + part.len()..];
                true
            }
            _ => false,
        })
    })
}

/// The sources below a folder, with strings that go on in the next line joined.
fn collect(folder: &Path, sources: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = read(&path);
            let mut parts = text.split("\\\n");
            let first = parts.next().unwrap_or_default().to_owned();
            sources.push(parts.fold(first, |joined, part| joined + part.trim_start()));
        }
    }
}

/// The first program of the README is an example, so that it is run.
#[test]
fn the_readmes_program_is_an_example() {
    let example = read(&workspace().join("cuda-hostfn/examples/first.rs"));
    let program = example.split_once("\n\n").map_or(&*example, |(_title, program)| program);
    let readme = read(&workspace().join("README.md"));
    assert!(readme.contains(&format!("```rust,no_run\n{program}```")), "README.md shows another program than first.rs");
}

#[test]
fn the_readmes_matrix_is_the_catalogue() {
    let mut matrix =
        String::from("| id | attribute | stream | launch | node | since CUDA |\n|---|---|---|---|---|---|\n");
    for entry in CATALOGUE {
        let mark = |set, get| match (set, get) {
            (true, true) => "set, read",
            (true, false) => "set",
            (false, _) => "–",
        };
        let streams = mark(entry.set.streams, entry.get.streams);
        let (launches, nodes) = (mark(entry.set.launches, false), mark(entry.set.nodes, entry.get.nodes));
        matrix +=
            &format!("| {} | `{}` | {streams} | {launches} | {nodes} | {} |\n", entry.id, entry.type_name, entry.since);
    }
    assert!(read(&workspace().join("README.md")).contains(&matrix), "README.md's table is to be:\n{matrix}");
}
