//! Instructions of this program's own, driver and libc not counted: the same on every machine, unlike times.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Failure, SERVE};

/// Paths that do not wait; which function is counted while it runs; and how many calls make a round.
const PATHS: [(&str, &str, u32); 11] = [
    ("launch, no attribute", TIMED, 64),
    ("launch, 1 attribute", TIMED, 64),
    ("launch, 3 attributes", TIMED, 64),
    ("set_attribute", TIMED, 64),
    ("attribute", TIMED, 64),
    ("host_launch", TIMED, 64),
    ("host_launch", TRAMPOLINE, 64),
    ("replayed host node", TRAMPOLINE, 100),
    ("event record", TIMED, 64),
    ("stream query", TIMED, 64),
    ("cuDriverGetVersion", TIMED, 64),
];

const TIMED: &str = "*ours::timed*";
const TRAMPOLINE: &str = "*host::trampoline::*";
const ROUNDS: u32 = 20;

/// Growth that is told, in percent.
const TOLERATED: f64 = 3.0;

/// Instructions by path, of each toolchain.
type Baseline = BTreeMap<String, BTreeMap<String, f64>>;

/// Counts, and holds the numbers against those of the file; `bless` writes them there.
pub fn count(file: &Path, bless: bool, library: Option<&Path>) -> Result<(), Failure> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("instructions: did not run: valgrind is not installed");
        return Ok(());
    }
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut baseline: Baseline = serde_json::from_str(&text)?;
    let toolchain = toolchain()?;
    let before = baseline.remove(&toolchain);
    let mut counted = BTreeMap::new();
    let mut grown = Vec::new();
    println!("{:40} {:>14} {:>10}", format!("instructions a call, {toolchain}"), "now", "baseline");
    for (path, function, calls) in PATHS {
        let name = if function == TRAMPOLINE { format!("{path}, on the driver's thread") } else { path.to_owned() };
        let now = (callgrind(path, function, calls, library)? * 10.0).round() / 10.0;
        let then = before.as_ref().and_then(|before| before.get(&name));
        println!("{name:40} {now:>14.1} {:>10}", then.map_or_else(|| "-".to_owned(), |then| format!("{then:.1}")));
        if let Some(then) = then.filter(|then| now > **then * (1.0 + TOLERATED / 100.0)) {
            grown.push(format!("{name}: {now:.1} instructions, {then:.1} before"));
        }
        counted.insert(name, now);
    }
    if bless {
        baseline.insert(toolchain, counted);
        fs::write(file, serde_json::to_string_pretty(&baseline)? + "\n")?;
        return Ok(());
    }
    if before.is_none() {
        println!("did not compare: {} has no numbers of {toolchain}; `--bless` adds them", file.display());
    }
    if grown.is_empty() { Ok(()) } else { Err(grown.join("\n").into()) }
}

/// The compiler decides.
fn toolchain() -> Result<String, Failure> {
    let output = Command::new("rustc").arg("-vV").output()?;
    let text = String::from_utf8(output.stdout)?;
    let of = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim).unwrap_or_default();
    Ok(format!("rustc {} {}", of("release:"), of("host:")))
}

/// This program's instructions while `function` runs.
fn callgrind(path: &str, function: &str, calls: u32, library: Option<&Path>) -> Result<f64, Failure> {
    let program = std::env::current_exe()?;
    let folder = tempfile::tempdir()?;
    let output = folder.path().join("callgrind");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--quiet"]).arg(format!("--toggle-collect={function}"));
    valgrind.arg(format!("--callgrind-out-file={}", output.display())).arg(&program).arg(SERVE);
    if let Some(library) = library {
        valgrind.env(cuda_hostfn::sys::driver::OVERRIDE, library);
    }
    let mut valgrind = valgrind.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let mut ask = valgrind.stdin.take().ok_or("piped")?;
    ask.write_all(format!("{calls} {path}\n").repeat(ROUNDS as usize).as_bytes())?;
    drop(ask);
    if !valgrind.wait()?.success() {
        return Err(format!("{path}: valgrind failed").into());
    }
    let profile = fs::read_to_string(output)?;
    Ok(own(&profile, &program)? as f64 / f64::from(calls * ROUNDS))
}

/// Of callgrind's profile, the cost of what is in `program` itself.
fn own(profile: &str, program: &Path) -> Result<u64, Failure> {
    let mut names = BTreeMap::new();
    let (mut is_own, mut is_call, mut sum) = (false, false, 0);
    for line in profile.lines() {
        if let Some(object) = line.strip_prefix("ob=") {
            // "(1) /the/name" at first, "(1)" later.
            let (number, name) = object.split_once(' ').unwrap_or((object, ""));
            let name = names.entry(number.to_owned()).or_insert_with(|| name.to_owned());
            is_own = Path::new(name) == program;
        } else if let Some(object) = line.strip_prefix("cob=") {
            let (number, name) = object.split_once(' ').unwrap_or((object, ""));
            names.entry(number.to_owned()).or_insert_with(|| name.to_owned());
        } else if line.starts_with("calls=") {
            // The next line has what the callee cost.
            is_call = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            if is_own && !is_call {
                sum += line.split(' ').nth(1).ok_or("a line without cost")?.parse::<u64>()?;
            }
            is_call = false;
        }
    }
    Ok(sum)
}
