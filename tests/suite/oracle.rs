//! The layout oracle: what rustc makes of the bindings, against what the host's C compiler makes of the same `cuda.h`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use tests::{check, trial_with};

#[allow(
    unused_imports,
    clippy::pedantic,
    clippy::unnecessary_cast,
    reason = "generated: one cast too many costs nothing where the types vary with the header"
)]
mod facts {
    use std::mem::offset_of;

    use cuda_sys::*;

    include!(concat!(env!("OUT_DIR"), "/facts.rs"));
}

/// By what each number is.
type Numbers = BTreeMap<String, i64>;

/// What the names of facts begin with.
const KINDS: [&str; 6] = ["size of", "alignment of", "offset of", "member size of", "sign of", "value of"];

fn main() -> ExitCode {
    let trials = vec![
        trial_with("the C compiler agrees with the bindings", include(), agrees),
        trial_with("packed structures are noticed", include(), |include| {
            notices(include, "-fpack-struct=1", &["size of", "alignment of", "offset of"])
        }),
        trial_with("enums of another size are noticed", include(), |include| {
            notices(include, "-fshort-enums", &["size of", "alignment of", "offset of", "member size of"])
        }),
        Trial::test("a wrong number is noticed", || {
            KINDS.iter().try_for_each(|kind| {
                let mut wrong = rust();
                let (what, number) = of_kind(&mut wrong, kind).ok_or(format!("no {kind} is compared"))?;
                *number += 1;
                let expected = format!("{what}: {} in Rust, {number} in C", *number - 1);
                let found = differences(&rust(), &wrong);
                check(found == [expected], || format!("found {found:?}"))
            })
        }),
        Trial::test("a missing answer is noticed", || {
            let mut fewer = rust();
            let (what, number) = fewer.pop_first().ok_or("nothing is compared")?;
            let (by_c, by_rust) = (differences(&rust(), &fewer), differences(&fewer, &rust()));
            check(by_c == [format!("{what}: {number} in Rust, no answer in C")], || format!("found {by_c:?}"))?;
            check(by_rust == [format!("{what}: no answer in Rust, {number} in C")], || format!("found {by_rust:?}"))
        }),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The headers that cuda-sys was built from.
fn include() -> Result<&'static Path, &'static str> {
    option_env!("CUDA_TESTS_INCLUDE")
        .map(Path::new)
        .ok_or("cuda-sys was built from prebuilt bindings, without a cuda.h")
}

fn agrees(include: &Path) -> Result<(), Failed> {
    let (rust, c) = (rust(), c(include, None)?);
    let counts = KINDS.map(|kind| (kind, rust.keys().filter(|what| is_kind(what, kind)).count()));
    println!(
        "compared: structures and unions {}, {}",
        facts::RECORDS,
        counts.map(|(kind, count)| format!("{kind} {count}")).join(", ")
    );
    facts::UNCOMPARED.iter().for_each(|(why, what)| println!("not compared, since {why}: {what}"));
    check(facts::RECORDS > 0, || "no structure was compared".to_owned())?;
    counts.iter().try_for_each(|(kind, count)| check(*count > 0, || format!("no {kind} was compared")))?;
    let differences = differences(&rust, &c);
    check(differences.is_empty(), || format!("{} differences:\n{}", differences.len(), differences.join("\n")))
}

/// The flag changes the C compiler's layouts, so that each of these kinds has a difference.
fn notices(include: &Path, flag: &str, kinds: &[&str]) -> Result<(), Failed> {
    let differences = differences(&rust(), &c(include, Some(flag))?);
    kinds.iter().try_for_each(|kind| {
        check(differences.iter().any(|what| is_kind(what, kind)), || format!("no {kind} differs under {flag}"))
    })
}

/// What differs, a line each.
fn differences(rust: &Numbers, c: &Numbers) -> Vec<String> {
    let answer = |numbers: &Numbers, what| numbers.get(what).map_or("no answer".to_owned(), i64::to_string);
    let mut all: Vec<&String> = rust.keys().chain(c.keys().filter(|what| !rust.contains_key(*what))).collect();
    all.retain(|what| rust.get(*what) != c.get(*what));
    all.into_iter().map(|what| format!("{what}: {} in Rust, {} in C", answer(rust, what), answer(c, what))).collect()
}

fn is_kind(what: &str, kind: &str) -> bool {
    what.strip_prefix(kind).is_some_and(|name| name.starts_with(' '))
}

fn of_kind<'a>(numbers: &'a mut Numbers, kind: &str) -> Option<(&'a String, &'a mut i64)> {
    numbers.iter_mut().find(|(what, _)| is_kind(what, kind))
}

fn rust() -> Numbers {
    let address = |address: *const ()| i64::try_from(address.addr()).expect("a small number cast to a handle");
    let addresses = facts::ADDRESSES.iter().map(|&(what, number)| (what, address(number)));
    facts::NUMBERS.iter().copied().chain(addresses).map(|(what, number)| (what.to_owned(), number)).collect()
}

/// Compiles the C program, and runs it.
fn c(include: &Path, flag: Option<&str>) -> Result<Numbers, Failed> {
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("facts");
    let target = env!("CUDA_TESTS_TARGET");
    let mut build = cc::Build::new();
    build.target(target).host(target).opt_level(0).warnings(false).cargo_metadata(false).include(include);
    let mut compiler = build.try_get_compiler()?.to_command();
    compiler.args(flag).arg("-o").arg(&program).arg(concat!(env!("OUT_DIR"), "/facts.c"));
    output(&mut compiler)?;
    output(&mut Command::new(program))?
        .lines()
        .map(|line| {
            let (number, what) = line.split_once(' ').ok_or_else(|| format!("the program printed {line:?}"))?;
            Ok((what.to_owned(), number.parse()?))
        })
        .collect()
}

fn output(command: &mut Command) -> Result<String, Failed> {
    // Without the environment, which cc's commands carry in whole.
    let name = command.get_program().to_owned();
    let output = command.output().map_err(|error| format!("{}: {error}", name.display()))?;
    check(output.status.success(), || {
        format!("{}: {}\n{}", name.display(), output.status, String::from_utf8_lossy(&output.stderr))
    })?;
    Ok(String::from_utf8(output.stdout)?)
}
