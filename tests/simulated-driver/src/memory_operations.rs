//! Stream memory operations: writes to memory in the order of a stream, and waits for what others write there.

use std::sync::Arc;
use std::time::Instant;

use cuda_sys::CUresult;

use crate::abi::{Handle, Result};
use crate::context;
use crate::faults::Faults;
use crate::kernels::{Progress, Running};
use crate::memory::Memory;
use crate::state::{State, find};
use crate::stream::{self, Enqueued};
use crate::work::Task;

/// The most operations of a batch.
const MOST: usize = 255;

/// What one call puts into a stream, done in order.
#[derive(Clone, Debug)]
pub(crate) struct Batch(Arc<[Operation]>);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Write {
        address: u64,
        value: Word,
    },
    Wait {
        address: u64,
        value: Word,
        condition: Condition,
    },
    /// Orders writes, which here are seen in order anyway.
    Barrier,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Narrow(u32),
    Wide(u64),
}

/// `CU_STREAM_WAIT_VALUE_…`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Cyclic: at most half of all values ahead.
    AtLeast,
    Equal,
    And,
    Nor,
}

impl Operation {
    fn check(self, memory: &Memory, faults: &Faults) -> Result {
        let (Self::Write { address, value } | Self::Wait { address, value, .. }) = self else { return Ok(()) };
        if faults.is_without_wide_operations && matches!(value, Word::Wide(_)) {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        let is_aligned = address.is_multiple_of(value.size() as u64);
        if is_aligned && memory.is_known(address, value.size()) {
            Ok(())
        } else {
            Err(CUresult::CUDA_ERROR_INVALID_VALUE)
        }
    }
}

impl Word {
    fn size(self) -> usize {
        match self {
            Self::Narrow(_) => 4,
            Self::Wide(_) => 8,
        }
    }
}

impl Condition {
    fn holds(self, memory: &Memory, address: u64, value: Word) -> Result<bool> {
        Ok(match value {
            Word::Narrow(value) => self.holds_of(memory.read_u32(address)?.into(), value.into(), 32),
            Word::Wide(value) => self.holds_of(memory.read_u64(address)?, value, 64),
        })
    }

    fn holds_of(self, found: u64, value: u64, bits: u32) -> bool {
        let all = u64::MAX >> (64 - bits);
        match self {
            Self::AtLeast => found.wrapping_sub(value) & all <= all >> 1,
            Self::Equal => found == value,
            Self::And => found & value != 0,
            Self::Nor => !(found | value) & all != 0,
        }
    }
}

impl Batch {
    pub(crate) fn waits(&self) -> bool {
        self.0.iter().any(|operation| matches!(operation, Operation::Wait { .. }))
    }

    /// Whether the next operation can be done now; one that faults can.
    pub(crate) fn is_ready(&self, next: usize, memory: &Memory) -> bool {
        match self.0.get(next) {
            Some(&Operation::Wait { address, value, condition }) => {
                condition.holds(memory, address, value).unwrap_or(true)
            }
            _ => true,
        }
    }

    /// Does the next operation, unless it still has to wait.
    pub(crate) fn step(&self, next: usize, memory: &Memory) -> Progress {
        let done = match self.0.get(next) {
            None | Some(Operation::Barrier) => Ok(true),
            Some(&Operation::Write { address, value: Word::Narrow(value) }) => {
                memory.write_u32(address, value).map(|()| true)
            }
            Some(&Operation::Write { address, value: Word::Wide(value) }) => {
                memory.write_u64(address, value).map(|()| true)
            }
            Some(&Operation::Wait { address, value, condition }) => condition.holds(memory, address, value),
        };
        match done {
            Err(code) => Progress::Fault(code),
            Ok(true) if next + 1 >= self.0.len() => Progress::Done,
            Ok(is_done) => {
                let next = next + usize::from(is_done);
                Progress::Running(Running::AtOperation { next, since: Instant::now() })
            }
        }
    }
}

/// Puts operations into a stream, or a node into the graph that it captures: all of them, or none if one is refused.
pub(crate) fn enqueue(state: &mut State, stream: Handle, operations: &[Operation]) -> Result {
    let context = find(&state.streams, stream)?.context;
    context::check(state, context)?;
    if operations.len() > MOST {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    operations.iter().try_for_each(|operation| operation.check(&state.memory, &state.faults))?;
    stream::enqueue(state, stream, Task::Operations(Batch(operations.into()))).map(|Enqueued| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions() {
        use Condition::{And, AtLeast, Equal, Nor};
        let low = u64::from(u32::MAX);
        for (condition, found, value, bits, holds) in [
            (AtLeast, 5, 5, 32, true),
            (AtLeast, 4, 5, 32, false),
            (AtLeast, 1, low - 1, 32, true),
            (AtLeast, 1, low - 1, 64, false),
            (AtLeast, low - 1, 1, 32, false),
            (AtLeast, 1 << 31, 0, 32, false),
            (AtLeast, 1 << 31, 0, 64, true),
            (AtLeast, 1 << 63, 0, 64, false),
            (AtLeast, 1, u64::MAX, 64, true),
            (Equal, 5, 5, 64, true),
            (Equal, 5, 6, 64, false),
            (And, 6, 2, 32, true),
            (And, 4, 2, 32, false),
            (Nor, low, 0, 32, false),
            (Nor, low, 0, 64, true),
            (Nor, 0xf0, low ^ 0xf, 32, true),
            (Nor, 0x0f, low ^ 0xf, 32, false),
        ] {
            assert_eq!(condition.holds_of(found, value, bits), holds, "{condition:?} {found:#x} {value:#x} {bits}");
        }
    }
}
