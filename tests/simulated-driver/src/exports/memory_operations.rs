//! Stream memory operations. The names without a suffix are the first version of them, which a driver refuses unless its
//! kernel module was told to have them: the device attributes of that version are 0.

use std::ffi::c_uint;

use cuda_sys::{CUresult, CUstream, CUstreamBatchMemOpParams};

use super::exports;
use crate::abi::Result;
use crate::argument::Argument;
use crate::memory_operations::{self, Condition, Operation, Word};
use crate::state::{hold_back, lock};
use crate::stream::resolve;

exports! {
    [0 Query ptsz] fn cuStreamWriteValue32(_s: CUstream, _address: CUdeviceptr, _value: cuuint32_t, _flags: c_uint) {
        Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
    }

    [0 Query ptsz] fn cuStreamWriteValue64(_s: CUstream, _address: CUdeviceptr, _value: cuuint64_t, _flags: c_uint) {
        Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
    }

    [0 Query ptsz] fn cuStreamWaitValue32(_s: CUstream, _address: CUdeviceptr, _value: cuuint32_t, _flags: c_uint) {
        Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
    }

    [0 Query ptsz] fn cuStreamWaitValue64(_s: CUstream, _address: CUdeviceptr, _value: cuuint64_t, _flags: c_uint) {
        Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
    }

    [0 Query ptsz] fn cuStreamBatchMemOp(
        _s: CUstream, _count: c_uint, _parameters: *mut CUstreamBatchMemOpParams, _flags: c_uint
    ) {
        Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
    }

    [11070 Query ptsz] fn cuStreamWriteValue32_v2(
        stream: CUstream, address: CUdeviceptr, value: cuuint32_t, flags: c_uint
    ) {
        enqueue(stream, &[write(*address, Word::Narrow(*value), *flags)?])
    }

    [11070 Query ptsz] fn cuStreamWriteValue64_v2(
        stream: CUstream, address: CUdeviceptr, value: cuuint64_t, flags: c_uint
    ) {
        enqueue(stream, &[write(*address, Word::Wide(*value), *flags)?])
    }

    [11070 Query ptsz] fn cuStreamWaitValue32_v2(
        stream: CUstream, address: CUdeviceptr, value: cuuint32_t, flags: c_uint
    ) {
        enqueue(stream, &[wait(*address, Word::Narrow(*value), *flags)?])
    }

    [11070 Query ptsz] fn cuStreamWaitValue64_v2(
        stream: CUstream, address: CUdeviceptr, value: cuuint64_t, flags: c_uint
    ) {
        enqueue(stream, &[wait(*address, Word::Wide(*value), *flags)?])
    }

    [11070 Query ptsz] fn cuStreamBatchMemOp_v2(
        stream: CUstream, count: c_uint, parameters: *mut CUstreamBatchMemOpParams, flags: c_uint
    ) {
        if *flags != 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let parameters = parameters.as_const();
        if *count > 0 {
            parameters.required()?;
        }
        let operations: Vec<Operation> =
            (0..*count as usize).map(|index| operation(parameters.element(index))).collect::<Result<_>>()?;
        enqueue(stream, &operations)
    }
}

fn enqueue(stream: Argument<CUstream>, operations: &[Operation]) -> Result {
    let mut state = lock();
    hold_back(&mut state);
    let stream = resolve(&mut state, stream.handle())?;
    memory_operations::enqueue(&mut state, stream, operations)
}

fn write(address: u64, value: Word, flags: u32) -> Result<Operation> {
    if flags == 0 { Ok(Operation::Write { address, value }) } else { Err(CUresult::CUDA_ERROR_INVALID_VALUE) }
}

fn wait(address: u64, value: Word, flags: u32) -> Result<Operation> {
    const FLUSH: u32 = 1 << 30;
    let condition = match flags & !FLUSH {
        0 => Condition::AtLeast,
        1 => Condition::Equal,
        2 => Condition::And,
        3 => Condition::Nor,
        _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    };
    if flags & FLUSH != 0 {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    Ok(Operation::Wait { address, value, condition })
}

/// Reads one element of a batch: what it does is its first word, and where the rest is depends on that.
fn operation(given: Argument<*const CUstreamBatchMemOpParams>) -> Result<Operation> {
    const BARRIER_FLAGS_AT: usize = 4;
    const ADDRESS_AT: usize = 8;
    const VALUE_AT: usize = 16;
    const FLAGS_AT: usize = 24;
    let address = || given.part::<u64>(ADDRESS_AT).read();
    let narrow = || given.part::<u32>(VALUE_AT).read().map(Word::Narrow);
    let wide = || given.part::<u64>(VALUE_AT).read().map(Word::Wide);
    let flags = || given.part::<u32>(FLAGS_AT).read();
    match given.part::<u32>(0).read()? {
        1 => wait(address()?, narrow()?, flags()?),
        2 => write(address()?, narrow()?, flags()?),
        4 => wait(address()?, wide()?, flags()?),
        5 => write(address()?, wide()?, flags()?),
        6 if given.part::<u32>(BARRIER_FLAGS_AT).read()? <= 1 => Ok(Operation::Barrier),
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
}
