//! The one place where memory operations go to the driver.

use std::ffi::c_uint;
use std::ptr::NonNull;

use super::options::Method;
use super::strand::{GONE_ON, MAIL, offsets};
use super::strands::Place;
use crate::error::call;
use crate::host::record::Header;
use crate::sys::{CUdevice_attribute, CUresult, CUstream, CUstreamBatchMemOpParams};
use crate::{Context, Error, Result};

/// `CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS`: by number, since headers before 12.0 mean another by that name.
const CAN_USE_64_BITS: CUdevice_attribute = CUdevice_attribute(122);

/// How many bits the device writes at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Bits32,
    Bits64,
}

/// By CUDA's numbers, `CU_STREAM_MEM_OP_…`.
const WAIT_32: u64 = 1;
const WRITE_32: u64 = 2;
const WAIT_64: u64 = 4;
const WRITE_64: u64 = 5;

/// `CU_STREAM_WAIT_VALUE_EQ`.
const EQUAL: u64 = 1;

impl Width {
    /// The device's, if the driver has the calls.
    pub(super) fn of(context: &Context) -> Result<Self> {
        for (function, name) in
            [("cuStreamBatchMemOp_v2", c"cuStreamBatchMemOp_v2"), ("cuStreamGetId", c"cuStreamGetId")]
        {
            if crate::sys::driver::symbol(name).is_none() {
                crate::error::check(function, CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND)?;
            }
        }
        Ok(if context.device().property(CAN_USE_64_BITS)? == 0 { Self::Bits32 } else { Self::Bits64 })
    }

    pub(super) fn method(self) -> Method {
        match self {
            Self::Bits32 => Method::StreamMemoryOperations32,
            Self::Bits64 => Method::StreamMemoryOperations,
        }
    }

    /// Puts a call into a stream: rings the bell of a strand, and waits for the answer.
    ///
    /// # Safety
    ///
    /// The stream lives. A strand, whose memory the device knows, is there until the stream has read the answer, or the
    /// context is lost. Whoever takes the bell may call the record.
    pub(super) unsafe fn put(
        self,
        stream: CUstream,
        strand: Place,
        record: NonNull<Header>,
        number: u64,
    ) -> Result<()> {
        let Place { device, is_shared } = strand;
        let (bell, mail, answer) = (device + offsets::BELL, device + offsets::MAIL, device + offsets::ANSWER);
        let record = record.expose_provenance().get() as u64;
        // The last operation is for strands that are given on.
        let left_out = usize::from(!is_shared);
        let low = |value: u64| value & u64::from(u32::MAX);
        match self {
            // SAFETY: the caller's promise.
            Self::Bits64 => unsafe {
                put(
                    stream,
                    [
                        operation(WRITE_64, bell, record, 0),
                        operation(WAIT_64, answer, number, EQUAL),
                        operation(WRITE_64, bell, GONE_ON, 0),
                    ],
                    left_out,
                )
            },
            // The upper half of the bell is always 0, and that of the answer is not looked at.
            // SAFETY: as above.
            Self::Bits32 => unsafe {
                put(
                    stream,
                    [
                        operation(WRITE_32, mail, low(record), 0),
                        operation(WRITE_32, mail + 4, record >> 32, 0),
                        operation(WRITE_32, bell, MAIL, 0),
                        operation(WAIT_32, answer, low(number), EQUAL),
                        operation(WRITE_32, bell, GONE_ON, 0),
                    ],
                    left_out,
                )
            },
        }
    }
}

/// As the driver takes it: the kind, the address, the value, the flags.
fn operation(kind: u64, address: u64, value: u64, flags: u64) -> CUstreamBatchMemOpParams {
    CUstreamBatchMemOpParams { pad: [kind, address, value, flags, 0, 0] }
}

const _: () = assert!(cfg!(target_endian = "little"), "kind and flags are the lower halves");

/// # Safety
///
/// The stream lives, and the operations may be done.
unsafe fn put<const N: usize>(
    stream: CUstream,
    mut operations: [CUstreamBatchMemOpParams; N],
    left_out: usize,
) -> Result<()> {
    #[expect(clippy::cast_possible_truncation, reason = "at most five")]
    let number = (N - left_out) as c_uint;
    // SAFETY: the caller's promise; the pointer is valid for that many.
    unsafe { call!(entry::cuStreamBatchMemOp_v2(stream, number, operations.as_mut_ptr(), 0)) }
}

/// Whether an error says that the driver or the device does not have the operations.
pub(super) fn are_missing(error: &Error) -> bool {
    matches!(error, Error::MissingFunction(_)) || error.code() == Some(CUresult::CUDA_ERROR_NOT_SUPPORTED)
}
