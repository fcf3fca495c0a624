//! The suites under valgrind's memcheck. What bounds a run is left out: trials of load, whose loops take minutes there
//! and show nothing new; and children run as they are.

use std::process::{Command, Stdio};

use anyhow::Result;

use super::runs::{self, ON_DEVICES};
use super::tally::Tally;

/// Any error of memory fails a suite, and any block that nothing points to any more.
const RUNNER: &str = "target.'cfg(all())'.runner = [
    'valgrind', '--quiet', '--error-exitcode=99',
    '--leak-check=full', '--show-leak-kinds=definite', '--errors-for-leak-kinds=definite',
]";

/// Why there is no run.
pub(super) const NOT_ASKED_FOR: &str = "memcheck (`cargo xtask test --valgrind` runs it)";
pub(super) const NOT_INSTALLED: &str = "memcheck (valgrind is not installed)";

pub(super) fn is_installed() -> bool {
    let version = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// The suites on the simulated driver: a real one's own errors are nobody's here.
pub(super) fn memcheck() -> Result<Tally> {
    let mut cargo = crate::cargo();
    cargo.args(["--config", RUNNER, "test"]).args(ON_DEVICES).args(["--no-fail-fast", "--", "--skip", "load:"]);
    runs::tally("memcheck", cargo.env("CUDA_TESTS_SIMULATED", "13.0"))
}
