//! `attribute-probe`: asks a driver which launch attributes it takes where, and prints what it answered as JSON. It
//! judges nothing; `cargo xtask audit` does.

#[path = "../observations.rs"]
mod observations;
#[path = "../probe/mod.rs"]
mod probe;

use std::process::ExitCode;

fn main() -> ExitCode {
    probe::main()
}
