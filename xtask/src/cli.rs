//! The command line. Few arguments, so a small parser: this program's cold build is everybody's first impression.

use std::ffi::OsString;

use anyhow::{Result, anyhow};
use lexopt::prelude::*;

use crate::setup;

pub(crate) const HELP: &str = "\
cargo xtask: the tasks of this workspace

Usage: cargo xtask <TASK> [OPTIONS]

Tasks:
  audit     Hold the header's prose, its alias macros and the typed layer side by side, id by id
  test      Run the whole suite: all that this machine can run, and say what it could not
  setup     Provision what the machine lacks for building and testing, into .cuda/
  doctor    Tell what was found, what each command would use, and what is missing; for bug reports
  lint      Check format, clippy, documentation, and that generated files are current
  bench     Measure what can be measured without a GPU
  bundle    Collect what is to run on a GPU in one folder, for a machine without Rust
  bindings  Regenerate the bindings that cuda-sys carries; with --check, only compare

`cargo xtask <TASK> --help` tells more. No task needs a toolkit, libclang or a GPU in order to start.
Exit status: 0 success, 1 the task found something, 2 it could not run.
";

const SETUP_HELP: &str = "\
cargo xtask setup: provision what the machine lacks for building and testing, into .cuda/

Usage: cargo xtask setup [OPTIONS]

Without options: the newest CUDA headers if none are installed, and libclang if none can be loaded.
Versions and checksums are pinned in xtask/pins.toml. If all is in place, nothing is fetched.

Options:
      --cuda X.Y   Headers of this CUDA version, whatever is installed; can be repeated
      --all-cuda   Headers of every supported CUDA version
      --drivers    User-space libraries of old drivers, for the tests (from Debian's archive; not installed)
      --check      Change nothing: read what is in place, compare every checksum, and exit with 1 if
                   something is missing or damaged
  -h, --help       Print this

Headers and libclang come through `python3 -m pip`, drivers through a private `apt-get`. Offline, place the archives
into .cuda/downloads/.
";

const TEST_HELP: &str = "\
cargo xtask test: run the whole suite, all that this machine can run, and say what it could not

Usage: cargo xtask test [--all-cuda] [--valgrind]

Provisions the headers of six CUDA versions, libclang, and the user-space libraries of three old drivers (about 45 MB, not
installed), and builds and tests with each header. Suites for a device run on the machine's GPU,
or on a simulated driver, and in the disorder of three seeds on that one.
For less: `cargo test -p cuda-sys`, `cargo test -p cuda-hostfn`, `cargo test -p tests --test device`.

Options:
      --all-cuda   With every supported header
      --valgrind   The suites on devices once more, under valgrind's memcheck, on the simulated driver
  -h, --help       Print this
";

const LINT_HELP: &str = "\
cargo xtask lint: check format, clippy, documentation, the invariants of ARCHITECTURE.md, that generated bindings are current,
and that the libraries compile on other targets, where `rustup target add` installed them

Usage: cargo xtask lint
";

const BENCH_HELP: &str = "\
cargo xtask bench: the hot paths beside straight C and cudarc, instructions a call, cold builds

Usage: cargo xtask bench [--bless]

Times are those of the machine's driver, or of the simulated one; quote ratios within one run. Instructions (valgrind's
callgrind) are held against docs/benchmarks/instructions.json, and more than 3 % of growth is a failure. What needs a GPU
is measured by the bundle: `cargo xtask bundle --help`.

Options:
      --bless      Take the instructions counted now as this toolchain's baseline
  -h, --help       Print this
";

const BUNDLE_HELP: &str = "\
cargo xtask bundle: collect suites, examples, benchmarks and attribute-probe in bundle/, for a machine with a GPU

Usage: cargo xtask bundle

Copy the folder there; neither Rust nor a toolkit is needed. `run.sh RESULTS` runs everything under time limits, writes
`log`, `summary` and `observations.json` into the folder RESULTS, and exits with 1 if anything failed or did not run.
";

const DOCTOR_HELP: &str = "\
cargo xtask doctor: tell what was found (headers, libclang, programs, driver, devices), what each command would use, and
what is missing and how to get it

Usage: cargo xtask doctor

Needs nothing, fetches nothing, changes nothing. The driver is loaded as cuda-sys loads it, and asked in a process of its
own. Paste the output into a bug report: your home directory is written as ~, and of the environment only variables
that matter here are shown. Exit status: 0 if everything can be built, 1 if something is missing.
";

const BINDINGS_HELP: &str = "\
cargo xtask bindings: regenerate the bindings that cuda-sys carries, from the newest pinned headers

Usage: cargo xtask bindings [--check]

Options:
      --check      Change nothing, and exit with 1 if they are not current
  -h, --help       Print this
";

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Help(&'static str),
    Setup(setup::Options),
    /// The arguments belong to the second stage.
    Audit(Vec<OsString>),
    Test(Vec<OsString>),
    Lint(Vec<OsString>),
    Bench(Vec<OsString>),
    Bindings(Vec<OsString>),
    Doctor(Vec<OsString>),
    Bundle(Vec<OsString>),
}

/// Reads the arguments after the program's name.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Task> {
    let mut parser = lexopt::Parser::from_args(arguments);
    let task = match parser.next()? {
        None | Some(Short('h') | Long("help")) => return Ok(Task::Help(HELP)),
        Some(Value(task)) => task,
        Some(other) => return Err(other.unexpected().into()),
    };
    match task.to_str() {
        Some("setup") => parse_setup(parser),
        Some("audit") => Ok(Task::Audit(rest(parser)?)),
        Some("test") => with_help(parser, TEST_HELP, Task::Test),
        Some("lint") => with_help(parser, LINT_HELP, Task::Lint),
        Some("bench") => with_help(parser, BENCH_HELP, Task::Bench),
        Some("bundle") => with_help(parser, BUNDLE_HELP, Task::Bundle),
        Some("doctor") => with_help(parser, DOCTOR_HELP, Task::Doctor),
        Some("bindings") => with_help(parser, BINDINGS_HELP, Task::Bindings),
        Some("help") => Ok(Task::Help(HELP)),
        _ => Err(anyhow!("there is no task `{}`", task.display())),
    }
}

fn parse_setup(mut parser: lexopt::Parser) -> Result<Task> {
    let mut options = setup::Options::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("cuda") => options.cuda.push(setup::parse_version(&parser.value()?.string()?)?),
            Long("all-cuda") => options.all_cuda = true,
            Long("drivers") => options.drivers = true,
            Long("check") => options.check = true,
            Short('h') | Long("help") => return Ok(Task::Help(SETUP_HELP)),
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(Task::Setup(options))
}

fn with_help(parser: lexopt::Parser, help: &'static str, task: fn(Vec<OsString>) -> Task) -> Result<Task> {
    let arguments = rest(parser)?;
    Ok(if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        Task::Help(help)
    } else {
        task(arguments)
    })
}

fn rest(mut parser: lexopt::Parser) -> Result<Vec<OsString>> {
    Ok(parser.raw_args()?.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::Version;

    fn parsed(line: &str) -> Result<Task> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn setup_options_are_read() {
        let options =
            setup::Options { cuda: vec![Version(12000), Version(13050)], all_cuda: true, drivers: true, check: false };
        assert_eq!(parsed("setup --cuda 12.0 --cuda=13.5 --all-cuda --drivers").unwrap(), Task::Setup(options));
        assert_eq!(parsed("setup").unwrap(), Task::Setup(setup::Options::default()));
    }

    #[test]
    fn arguments_of_the_audit_pass_through_unread() {
        let arguments = ["--help", "--cuda", "x", "--", "-v"].map(OsString::from).into();
        assert_eq!(parsed("audit --help --cuda x -- -v").unwrap(), Task::Audit(arguments));
    }

    #[test]
    fn help_is_found_everywhere() {
        for line in ["", "-h", "--help", "help"] {
            assert_eq!(parsed(line).unwrap(), Task::Help(HELP), "{line}");
        }
        assert_eq!(parsed("setup --cuda 12.0 --help").unwrap(), Task::Help(SETUP_HELP));
        for task in ["test", "lint", "bench", "bundle", "bindings", "doctor"] {
            assert!(matches!(parsed(&format!("{task} --help")).unwrap(), Task::Help(text) if text.contains(task)));
        }
    }

    #[test]
    fn mistakes_are_named() {
        let error = |line| parsed(line).unwrap_err().to_string();
        assert!(error("setpu").contains("`setpu`"));
        assert!(error("--fast").contains("--fast"));
        assert!(error("setup --cuda 12").contains("`12` is no CUDA version"));
        assert!(error("setup --cuda").contains("--cuda"));
        assert!(error("setup 12.0").contains("12.0"));
    }
}
