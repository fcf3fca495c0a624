//! Why the audit could not run. Each text says what to do.

use std::io;
use std::path::{Path, PathBuf};

use crate::find::{OLDEST, Rejected, Version};
use crate::machine::Source;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    NoHeaders(#[from] Discovery),

    #[error("`{}` is not usable: {why}. {}", .include.display(), advice(.include, .why))]
    Headers { include: PathBuf, why: Rejected },

    #[error(
        "CUDA {0} has no CUlaunchAttributeID; it appears in {OLDEST}. Give the headers of CUDA {OLDEST} or newer, \
         or run `cargo xtask setup` for the newest."
    )]
    NoAttributes(Version),

    #[error("the headers of CUDA {0} are not provisioned. Run `cargo xtask setup --cuda {0}`, or give --headers DIR.")]
    NotProvisioned(Version),

    #[error("no headers are provisioned in `{}`. Run `cargo xtask setup --cuda X.Y` for each version, or give --headers DIR.", .0.display())]
    NothingProvisioned(PathBuf),

    #[error("`{}` and `{}` are both CUDA {version}, and the report has one column for a version. Give one of them.", .first.display(), .second.display())]
    SameVersion { version: Version, first: PathBuf, second: PathBuf },

    #[error("{0}")]
    Libclang(crate::libclang::NoLibclang),

    #[error(
        "`{}` cannot be read as C, so it is damaged or not a whole cuda.h ({what}). Take it anew from its package, \
         or run `cargo xtask setup` and leave --headers out.", .header.display()
    )]
    Unparsable { header: PathBuf, what: String },

    #[error("`{}` is not the cuda.h that we know: {what}. Please report this header.", .header.display())]
    Unexpected { header: PathBuf, what: String },

    #[error("the known findings in `{}` are not usable: {what}", .file.display())]
    Known { file: PathBuf, what: String },

    #[error("{from} is not usable: {what}")]
    Record { from: Source, what: String },

    #[error(
        "{first} and {second} are records of the same machine ({machine}), and the report has one column for it. \
         Leave one of them out."
    )]
    SameMachine { machine: String, first: Source, second: Source },

    #[error("there is nothing to record in `{}`: {why}", .file.display())]
    NothingToRecord { file: PathBuf, why: String },

    #[error("the driver could not be asked: `{}` failed ({what})", .probe.display())]
    Probe { probe: PathBuf, what: String },

    #[error("the report cannot be written to `{}`: {why}. Give --output a file in an existing folder that you may write.", .file.display())]
    Output { file: PathBuf, why: io::Error },

    #[error("the report cannot be written: {0}")]
    Stdout(io::Error),
}

/// Discovery's own account of where it looked.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Discovery(pub crate::find::NotFound);

fn advice(include: &Path, why: &Rejected) -> &'static str {
    match why {
        Rejected::NoFile if include.is_file() => "That is a file; give the folder it is in.",
        Rejected::NoFile if !include.exists() => "There is no such folder; give one that holds cuda.h.",
        Rejected::NoFile => {
            "Give the folder that holds cuda.h: a toolkit's `include`, or `nvidia/cu13/include` of a pip environment."
        }
        Rejected::NoVersion => {
            "The Linux kernel's linux/cuda.h has nothing to do with CUDA; give the `include` folder of a CUDA toolkit."
        }
        Rejected::Unreadable(_) => "Check what it is and who may read it, or give another folder with --headers.",
        Rejected::TooOld(_) => "Give newer headers.",
        Rejected::Relative => "Give the whole path.",
    }
}
