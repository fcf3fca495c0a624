//! The command line.

use std::path::PathBuf;

use clap::Parser;

use crate::find::Version;
use crate::format::Format;

/// Each launch attribute in the header's prose, in its alias macros, in the types of cuda-hostfn and in a real driver, side
/// by side, and where they contradict each other.
///
/// Without arguments the headers that the build of cuda-sys finds are read, else the newest that `cargo xtask setup`
/// provisioned; several give the history of each attribute. The driver of this machine is asked, and where there is none
/// the records in docs/observations are taken.
///
/// Exit status: 0 if every finding is in docs/known-findings.toml, 1 if there is a new one or if a type offers what
/// every driver refuses, 2 if the audit could not run.
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

    /// What a driver answered elsewhere, saved with --record; repeatable, a column for each machine
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub observed: Vec<PathBuf>,

    /// Save what the driver of this machine answers
    #[arg(long, value_name = "FILE", conflicts_with = "reference")]
    pub record: Option<PathBuf>,

    /// Write the page of the documentation, from the newest provisioned header and the records in docs/observations
    /// [default: docs/attributes.md]
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        conflicts_with_all = ["headers", "cuda", "all_cuda", "observed", "format", "output"]
    )]
    pub reference: Option<Option<PathBuf>>,

    /// Also what is known: every finding with its reason, and every value that a driver answers oddly. Other formats than
    /// the table always have it
    #[arg(long)]
    pub all: bool,

    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,

    /// Write the report to a file, whole or not at all
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// The findings that are understood [default: docs/known-findings.toml]
    #[arg(long, value_name = "FILE")]
    pub known: Option<PathBuf>,

    /// The program that asks the driver; stage one builds it where there is a driver
    #[arg(long, value_name = "PROGRAM", hide = true)]
    pub probe: Option<PathBuf>,
}
