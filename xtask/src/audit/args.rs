//! The command line.

use std::path::PathBuf;

use clap::Parser;

use crate::find::Version;
use crate::format::Format;

/// What CUDA's headers say about each launch attribute: where it may be used, since when, and where the header
/// contradicts itself.
///
/// Without arguments the headers that the build of cuda-sys finds are read, else the newest that `cargo xtask setup`
/// provisioned. Several headers give the history of each attribute.
///
/// Exit status: 0 if every finding is in docs/known-findings.toml, 1 if there is a new one, 2 if the audit could not run.
#[derive(Debug, Parser)]
#[command(name = "audit", bin_name = "cargo xtask audit", version)]
pub struct Args {
    /// A folder that holds cuda.h; repeatable
    #[arg(long, value_name = "DIR")]
    pub headers: Vec<PathBuf>,

    /// A CUDA version that `cargo xtask setup` provisioned, such as 13.0; repeatable
    #[arg(long, value_name = "X.Y")]
    pub cuda: Vec<Version>,

    /// Every version that is provisioned
    #[arg(long)]
    pub all_cuda: bool,

    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,

    /// Write the report to a file, whole or not at all
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// The findings that are understood [default: docs/known-findings.toml]
    #[arg(long, value_name = "FILE")]
    pub known: Option<PathBuf>,
}
