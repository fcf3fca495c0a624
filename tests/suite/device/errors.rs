//! What errors tell of the driver's answers.

use cuda_hostfn::attribute::RawAttribute;
use cuda_hostfn::sys::CUresult;
use cuda_hostfn::{CudaVersion, Error, SyncMode};
use libtest_mimic::Failed;
use tests::{Machine, check, equal};

use crate::Run;

pub const TRIALS: &[(&str, Run)] = &[
    ("errors: a refused call says which, about which attribute, and why", refused_call),
    ("errors: a function that the driver lacks is named, and what would have it", missing_function),
];

fn refused_call(machine: &Machine) -> Result<(), Failed> {
    // Zero is no synchronization policy.
    // SAFETY: the driver may be given any number.
    let policy = unsafe { RawAttribute::from_bytes(3, &[0; 4]) }.ok_or("four bytes are a value")?;
    let Err(Error::Driver(error)) = machine.stream()?.set_attribute(policy) else { return Err("it was taken".into()) };
    equal("code", &error.code(), &CUresult::CUDA_ERROR_INVALID_VALUE)?;
    equal("function", &error.function(), &"cuStreamSetAttribute")?;
    equal("attribute", &error.attribute(), &Some("CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY"))?;
    equal("name", &error.name(), &Some("CUDA_ERROR_INVALID_VALUE"))?;
    equal("text", &error.text(), &Some("invalid argument"))?;
    equal("log", &error.log(), &None)?;
    let text =
        "cuStreamSetAttribute (CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY): CUDA_ERROR_INVALID_VALUE: invalid argument";
    equal("all of it", &error.to_string().as_str(), &text)
}

fn missing_function(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let result = stream.in_sync_mode(SyncMode::SpinWait);
    let since = CudaVersion::new(13, 2);
    if machine.knows(since) {
        return result.map(drop).map_err(Failed::from);
    }
    let Err(Error::MissingFunction(error)) = result.map(drop) else { return Err("it is there".into()) };
    equal("function", &error.function(), &"cuLaunchHostFunc_v2")?;
    equal("since", &error.since(), &Some(since))?;
    let text = error.to_string();
    for part in [
        "which came with CUDA 13.2",
        &format!("it supports CUDA {}", machine.driver),
        "libcuda.so",
        "newer NVIDIA driver",
    ] {
        check(text.contains(part), || format!("no {part:?} in {text:?}"))?;
    }
    Ok(())
}
