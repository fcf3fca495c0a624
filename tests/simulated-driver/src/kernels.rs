//! Kernels: what a launch of one does. The client has them as PTX that does the same on a device; a kernel of another
//! name does nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cuda_sys::CUresult;

use crate::abi::Handle;
use crate::launch::Shape;
use crate::memory::{Access, Memory};

/// A kernel with all that it is launched with.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) function: Handle,
    pub(crate) context: Handle,
    pub(crate) name: Arc<str>,
    pub(crate) shape: Shape,
    pub(crate) parameters: Vec<Box<[u8]>>,
}

/// A kernel that takes its time, or a batch of memory operations.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Running {
    Until(Instant),
    UntilEqual { address: u64, value: u32 },
    AtOperation { next: usize, since: Instant },
}

/// What a step of the device's work came to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Progress {
    Done,
    Running(Running),
    /// The thread for host functions has it.
    AtHost,
    /// The context is lost.
    Fault(CUresult),
}

impl Launch {
    pub(crate) fn start(&self, memory: &Memory) -> Progress {
        let threads = self.shape.threads();
        match (&*self.name, self.parameters.as_slice()) {
            ("store_u32", [address, value]) => memory.write_u32(number(address), word(value)).into(),
            ("store_u64", [address, value]) => memory.write_u64(number(address), number(value)).into(),
            // Each thread of a launch adds one.
            ("increment_u32", [address]) => {
                memory.add_u32(number(address), u32::try_from(threads).unwrap_or(u32::MAX)).into()
            }
            ("increment_u64", [address]) => memory.add_u64(number(address), threads).into(),
            ("wait_until_equal_u32", [address, value]) => {
                let (address, value) = (number(address), word(value));
                match memory.read_u32(address) {
                    Ok(_) => Progress::Running(Running::UntilEqual { address, value }),
                    Err(code) => Progress::Fault(code),
                }
            }
            ("spin_microseconds", [microseconds]) => {
                Progress::Running(Running::Until(Instant::now() + Duration::from_micros(number(microseconds))))
            }
            ("fill", [address, length, value]) => {
                fill(memory, number(address), word(length), word(value), threads).into()
            }
            ("trap", []) => Progress::Fault(CUresult::CUDA_ERROR_LAUNCH_FAILED),
            _ => Progress::Done,
        }
    }
}

/// One thread for each word.
fn fill(memory: &Memory, address: u64, length: u32, value: u32, threads: u64) -> Access {
    (0..u64::from(length).min(threads)).try_for_each(|index| memory.write_u32(address + index * 4, value))
}

fn number(parameter: &[u8]) -> u64 {
    parameter.first_chunk().copied().map_or_else(|| word(parameter).into(), u64::from_le_bytes)
}

fn word(parameter: &[u8]) -> u32 {
    parameter.first_chunk().copied().map_or(0, u32::from_le_bytes)
}
