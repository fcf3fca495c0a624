//! The table of attributes beside the header that the crate was built with.

use std::fmt::Write;

use cuda_hostfn::CudaVersion;
use cuda_hostfn::attribute::CATALOGUE;
use cuda_hostfn::sys::{CUDA_VERSION, CUlaunchAttributeID};

/// More than CUDA will assign for a long time.
const NUMBERS: std::ops::Range<u32> = 0..1024;

/// `Debug` of C's enums prints the header's name of a number that it assigns.
fn name(id: u32) -> Option<String> {
    Some(format!("{:?}", CUlaunchAttributeID(id as _))).filter(|name| name.starts_with("CU_LAUNCH_ATTRIBUTE_"))
}

#[test]
fn every_number_of_the_header_is_a_row_of_the_table() {
    let header = CudaVersion::from_number(CUDA_VERSION);
    let mut missing = String::new();
    for (id, name) in NUMBERS.filter_map(|id| Some((id, name(id)?))) {
        match CATALOGUE.iter().find(|entry| entry.id == id) {
            Some(entry) => assert_eq!(entry.name, name, "number {id}"),
            None => writeln!(missing, "  {name} ({id})").unwrap(),
        }
    }
    assert!(
        missing.is_empty(),
        "the header of CUDA {header} has attributes that cuda-hostfn does not know:\n{missing}Each is one row in \
         cuda-hostfn/src/attribute/table.rs and one type in cuda-hostfn/src/attribute/values/: see \"An attribute\" in \
         CONTRIBUTING.md. `cargo xtask audit` shows what the header says of it, and what drivers answer."
    );
}

#[test]
fn every_row_that_the_header_should_have_is_there() {
    let header = CudaVersion::from_number(CUDA_VERSION);
    for entry in CATALOGUE {
        assert_eq!(name(entry.id).is_some(), entry.since <= header, "{} in the header of CUDA {header}", entry.name);
    }
}
