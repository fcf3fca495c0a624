//! The process that talks to the driver. It ends when the driver ends it, and another takes over the questions that
//! are left.

use std::io::{self, Write};

use super::cuda::{self, Attribute, Context, Device, Failed, Module, SIZE};
use super::device::{self, Kernels};
use super::message::{Facts, Message, Refusal};
use super::plan;
use super::samples::UNASSIGNED;
use super::surfaces::Asker;
use crate::observations::Controls;

/// Answers the questions of these numbers.
///
/// # Errors
///
/// Nobody listens any more.
pub(super) fn run(ordinal: u32, questions: &[usize]) -> io::Result<()> {
    match work(ordinal, questions) {
        Ok(()) => tell(&Message::Done),
        Err(Stop::CannotRun(refusal)) => tell(&Message::CannotRun(refusal)),
        Err(Stop::Broken(why)) => tell(&Message::Broken(why)),
        Err(Stop::Unheard(error)) => Err(error),
    }
}

enum Stop {
    CannotRun(Refusal),
    Broken(String),
    Unheard(io::Error),
}

impl From<Failed> for Stop {
    fn from(failed: Failed) -> Self {
        Self::CannotRun(Refusal::failed(failed.to_string()))
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Unheard(error)
    }
}

fn work(ordinal: u32, questions: &[usize]) -> Result<(), Stop> {
    let refused = |why| Stop::CannotRun(Refusal::failed(why));
    cuda_sys::driver::load().map_err(|error| refused(error.to_string()))?;
    if cuda_sys::driver::symbol(c"cuLaunchKernelEx").is_none() {
        return Err(refused("the driver is older than CUDA 11.8, where launches got attributes: update it".to_owned()));
    }
    cuda::initialise().map_err(|failed| refused(format!("{failed}{}", cuda::hint(failed.status))))?;
    let devices = cuda::device_count()?;
    tell(&Message::Devices(devices))?;
    if devices == 0 {
        return Err(refused("there is no device: cuDeviceGetCount gives 0".to_owned()));
    }
    if ordinal >= devices {
        return Err(refused(format!("there is no device {ordinal}: this machine has 0 to {}", devices - 1)));
    }
    let device = Device::get(ordinal)?;
    let name = device.name()?;
    let compute_capability = device::compute_capability(device)?;
    if compute_capability < device::OLDEST {
        let (major, minor) = compute_capability;
        let (oldest_major, oldest_minor) = device::OLDEST;
        let why = format!(
            "{name} has compute capability {major}.{minor}, and attributes are asked of {oldest_major}.{oldest_minor} \
             and newer"
        );
        return Err(Stop::CannotRun(Refusal { why, too_old: true }));
    }
    let context = Context::primary(device)?;
    let module = Module::load(&context)?;
    let kernels = Kernels::of(&module)?;
    let limits = device::limits(device, &context, &kernels)?;
    let facts =
        Facts { name, compute_capability, driver: cuda::driver_version()?, limits, lacks: device::lacks(device) };
    tell(&Message::Device(facts))?;

    // More than the largest window, so that a larger one is refused for its size alone.
    let memory = context.allocate(usize::try_from(limits.access_window).unwrap_or(0) + (1 << 20));
    let asker = Asker { context: &context, kernels, limits, memory };
    ask(&asker, questions)
}

fn ask(asker: &Asker<'_>, questions: &[usize]) -> Result<(), Stop> {
    let unassigned = Attribute { id: UNASSIGNED, value: [0; SIZE] };
    let control = |attributes| asker.control(attributes).map_or_else(|failed| failed.to_string(), |s| s.to_string());
    tell(&Message::Controls(Controls { no_attributes: control(&[]), unassigned_id: control(&[unassigned]) }))?;
    for (number, question) in plan::questions().iter().enumerate().filter(|(number, _)| questions.contains(number)) {
        tell(&Message::Asking(number))?;
        tell(&Message::Answered(asker.ask(question)))?;
        asker.context.synchronise().map_err(|failed| Stop::Broken(failed.status.to_string()))?;
    }
    Ok(())
}

fn tell(message: &Message) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}
