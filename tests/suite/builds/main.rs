//! The crates as others build them: outside of the workspace, without headers, linked, from archives; and builds that must
//! fail with a clear text.

mod archives;
mod crates;
mod linked;
mod refused;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use tests::{DRIVERS, check, stub, trial_with};

use crates::{answer, cargo, of_the_page, of_the_page_with};

type OnDriver = fn(&Path) -> Result<(), Failed>;

const ON_DRIVER: [(&str, OnDriver); 7] = [
    ("the guide's dependent reads the metadata and calls driver 535", |library| {
        let dependent = of_the_page()?;
        answers(cargo("run", dependent).env("CUDA_SYS_DRIVER", library), |source| source != "prebuilt")
    }),
    ("the stated mode needs neither headers nor libclang, and says so", |library| {
        let dependent = of_the_page()?;
        let mut run = cargo("run", dependent);
        run.env("CUDA_SYS_BINDINGS", "prebuilt").env("LIBCLANG_PATH", "/nonexistent").env("CUDA_HOME", "/nonexistent");
        answers(run.env("CUDA_SYS_DRIVER", library), |source| source == "prebuilt")
    }),
    ("without the feature `generate`, no bindgen is built", |library| {
        let dependent = of_the_page_with(", default-features = false")?;
        answers(cargo("run", &dependent).env("CUDA_SYS_DRIVER", library), |source| source == "prebuilt")?;
        let tree = answer(&mut cargo("tree", dependent))?;
        check(!tree.contains("bindgen"), || tree)
    }),
    ("linked in place of loaded: the same API, the same answers", linked::the_same_answers),
    ("one crate asks for `link` and another does not", linked::one_asks_and_another_does_not),
    ("the packed archives build, and the program runs", archives::build_and_run),
    (
        "the packed archives without headers: documented, checked, run",
        archives::documented_checked_and_run_without_headers,
    ),
];

fn main() -> ExitCode {
    let library = DRIVERS[1].library().ok_or("run `cargo xtask setup --drivers`");
    let on_driver =
        |(name, run): (&str, OnDriver)| trial_with(name, library.clone(), move |library: PathBuf| run(&library));
    let mut trials: Vec<Trial> = ON_DRIVER.into_iter().map(on_driver).collect();
    trials.push(trial_with("linked with the toolkit's stub, which is told as such", stub(), |stub| {
        linked::the_stub_is_told_as_such(&stub)
    }));
    trials.push(Trial::test("two versions of cuda-sys cannot meet in a program", archives::two_versions_cannot_meet));
    trials.extend(refused::trials());
    // They share a target folder, which cargo locks.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The dependent tells the metadata that its build script read, and what the driver answered.
fn answers(run: &mut Command, source: impl Fn(&str) -> bool) -> Result<(), Failed> {
    let told = answer(run)?;
    let facts = told.lines().next().and_then(|line| {
        let (headers, driver) = line.strip_prefix("built with ")?.split_once(", running on ")?;
        let (version, source) = headers.split_once(" from ")?;
        Some((version.parse::<u32>().ok()?, source, driver))
    });
    check(matches!(facts, Some((version, from, "12020")) if version >= 11080 && source(from)), || told.clone())?;
    // The header has them, this driver does not.
    check(told.contains("green contexts: false"), || told)
}
