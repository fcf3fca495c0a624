//! Names and descriptions of the codes that this driver gives.

use std::ffi::CStr;

use cuda_sys::CUresult;

macro_rules! codes {
    ($($name:ident $number:literal $text:literal;)*) => {
        const CODES: &[(&CStr, u32, &CStr)] = &[$((name(concat!(stringify!($name), "\0")), $number, name(concat!($text, "\0")))),*];
    };
}

const fn name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a name without NUL"),
    }
}

codes! {
    CUDA_SUCCESS 0 "no error";
    CUDA_ERROR_INVALID_VALUE 1 "invalid argument";
    CUDA_ERROR_OUT_OF_MEMORY 2 "out of memory";
    CUDA_ERROR_NOT_INITIALIZED 3 "initialization error";
    CUDA_ERROR_DEINITIALIZED 4 "driver shutting down";
    CUDA_ERROR_STUB_LIBRARY 34 "stub library";
    CUDA_ERROR_NO_DEVICE 100 "no device";
    CUDA_ERROR_INVALID_DEVICE 101 "invalid device ordinal";
    CUDA_ERROR_INVALID_IMAGE 200 "device kernel image is invalid";
    CUDA_ERROR_INVALID_CONTEXT 201 "invalid device context";
    CUDA_ERROR_NO_BINARY_FOR_GPU 209 "no kernel image is available";
    CUDA_ERROR_INVALID_PTX 218 "a PTX compilation failed";
    CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND 302 "shared object symbol not found";
    CUDA_ERROR_SHARED_OBJECT_INIT_FAILED 303 "shared object initialization failed";
    CUDA_ERROR_INVALID_HANDLE 400 "invalid resource handle";
    CUDA_ERROR_ILLEGAL_STATE 401 "the operation cannot be done in the present state";
    CUDA_ERROR_LOSSY_QUERY 402 "the answer would leave edge data out";
    CUDA_ERROR_NOT_FOUND 500 "named symbol not found";
    CUDA_ERROR_NOT_READY 600 "device not ready";
    CUDA_ERROR_ILLEGAL_ADDRESS 700 "an illegal memory access";
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES 701 "too many resources requested for launch";
    CUDA_ERROR_LAUNCH_TIMEOUT 702 "the launch timed out";
    CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE 708 "the primary context is active";
    CUDA_ERROR_CONTEXT_IS_DESTROYED 709 "context is destroyed";
    CUDA_ERROR_LAUNCH_FAILED 719 "unspecified launch failure";
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE 720 "too many blocks in a cooperative launch";
    CUDA_ERROR_NOT_PERMITTED 800 "operation not permitted";
    CUDA_ERROR_NOT_SUPPORTED 801 "operation not supported";
    CUDA_ERROR_SYSTEM_NOT_READY 802 "system not yet initialized";
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED 900 "not permitted while the stream is capturing";
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED 901 "failed because of an earlier error in the capture";
    CUDA_ERROR_STREAM_CAPTURE_MERGE 902 "would merge two independent captures";
    CUDA_ERROR_STREAM_CAPTURE_UNMATCHED 903 "the capture was not begun in this stream";
    CUDA_ERROR_STREAM_CAPTURE_UNJOINED 904 "captured work was not joined to the first stream";
    CUDA_ERROR_STREAM_CAPTURE_ISOLATION 905 "a dependency would leave the capture";
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT 906 "would depend on a capturing stream through the legacy stream";
    CUDA_ERROR_CAPTURED_EVENT 907 "not permitted on an event last recorded in a capture";
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD 908 "the capture was begun by another thread";
    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE 910 "the executable graph cannot be updated so";
    CUDA_ERROR_INVALID_CLUSTER_SIZE 912 "invalid cluster size";
    CUDA_ERROR_UNKNOWN 999 "unknown error";
}

/// The name of a code, and its description.
pub(crate) fn of(code: CUresult) -> Option<(&'static CStr, &'static CStr)> {
    CODES.iter().find(|(_, number, _)| *number == code.0).map(|(name, _, text)| (*name, *text))
}

/// The code of a name.
pub(crate) fn code(name: &str) -> Option<CUresult> {
    CODES.iter().find(|(known, _, _)| known.to_bytes() == name.as_bytes()).map(|(_, number, _)| CUresult(*number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_header() {
        for (name, number, _) in CODES {
            // A header older than the code prints its number.
            let printed = format!("{:?}", CUresult(*number));
            let name = name.to_str().unwrap();
            assert!(printed.contains(name) || printed.contains(&number.to_string()), "{name} is {printed}");
        }
    }
}
