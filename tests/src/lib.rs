//! What the suites share: the machine that they run on, its drivers, and trials that say that they did not run.

mod check;
pub mod children;
mod disorder;
pub mod faults;
#[cfg(doctest)]
mod guide;
mod libraries;
mod machine;
mod memory;
mod suite;
mod watch;

use std::path::Path;

pub use check::{check, equal, trial_on, trial_with};
pub use libraries::{DRIVERS, Driver, STUB, stub};
pub use machine::{Machine, SIMULATED};
pub use memory::{Pinned, Words};
pub use suite::{Row, SimulatedRow, simulated_trials, suite};
pub use watch::{Drops, Gate, Value, soon, touch};

/// The root of the workspace.
#[must_use]
pub fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
