//! What the suites share: the driver, one test at a time, and a check that a test leaves nothing behind.

#![allow(dead_code, reason = "each suite uses a part")]

use std::ptr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use cuda_sys::{CUcontext, CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUresult, CUstream, CUstreamCaptureStatus};
use simulated_driver_client::{Client, KERNELS, Kind, Version};

/// Calls the driver and gives the code.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: the arguments are what the function's documentation asks for; where a test breaks a rule, the
        // simulated driver checks it.
        unsafe { cuda_sys::$function($($argument),*) }
    }};
}

/// Calls the driver, which has to succeed.
macro_rules! ok {
    ($function:ident($($argument:expr),* $(,)?)) => {
        assert_eq!(
            $crate::common::call!($function($($argument),*)),
            cuda_sys::CUresult::CUDA_SUCCESS,
            stringify!($function)
        )
    };
}

/// Calls a function that makes a handle, and gives the handle.
macro_rules! made {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        let mut handle = std::ptr::null_mut();
        $crate::common::ok!($function(&raw mut handle $(, $argument)*));
        handle
    }};
}

#[allow(unused_imports, reason = "each suite uses a part")]
pub(crate) use {call, made, ok};

pub(crate) const LONG: Duration = Duration::from_secs(20);

/// The driver, with the primary context current and the test's to itself.
pub(crate) struct Driver {
    pub(crate) client: Client,
    pub(crate) context: CUcontext,
    before: Vec<u64>,
    _alone: MutexGuard<'static, ()>,
}

pub(crate) fn load(version: Version) -> Client {
    simulated_driver_client::load(version).expect("the library is built beside its tests")
}

/// The driver of the default version.
pub(crate) fn driver() -> Driver {
    static ALONE: Mutex<()> = Mutex::new(());
    static CLIENT: OnceLock<Client> = OnceLock::new();
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let client = *CLIENT.get_or_init(|| load(Version::default()));
    ok!(cuInit(0));
    client.calm();
    let before = counts(&client);
    let context = made!(cuDevicePrimaryCtxRetain(0));
    ok!(cuCtxSetCurrent(context));
    Driver { client, context, before, _alone: alone }
}

fn counts(client: &Client) -> Vec<u64> {
    Kind::ALL.into_iter().map(|kind| client.alive(kind)).collect()
}

impl Driver {
    pub(crate) fn settle(&self) {
        assert!(self.client.settle(LONG), "the driver comes to rest");
    }

    pub(crate) fn kernel(&self, name: &std::ffi::CStr) -> CUfunction {
        let image = std::ffi::CString::new(KERNELS).unwrap();
        let module = made!(cuModuleLoadData(image.as_ptr().cast()));
        made!(cuModuleGetFunction(module, name.as_ptr()))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.client.calm();
        self.settle();
        // The last reference takes with it what belongs to the context; graphs and user objects stay.
        ok!(cuCtxSetCurrent(ptr::null_mut()));
        ok!(cuDevicePrimaryCtxRelease(0));
        assert_eq!(counts(&self.client), self.before, "nothing is left of {:?}", Kind::ALL);
    }
}

/// A stream that does not wait for the legacy one.
pub(crate) fn stream() -> CUstream {
    made!(cuStreamCreate(1))
}

/// Pinned memory of one word, set to 0.
pub(crate) fn word() -> *mut u32 {
    let mut memory = ptr::null_mut();
    ok!(cuMemHostAlloc(&raw mut memory, 4, 0));
    memory.cast()
}

pub(crate) fn read(word: *mut u32) -> u32 {
    // SAFETY: pinned memory that is not freed before the end of the test.
    unsafe { std::sync::atomic::AtomicU32::from_ptr(word) }.load(std::sync::atomic::Ordering::Acquire)
}

pub(crate) fn write(word: *mut u32, value: u32) {
    // SAFETY: as above.
    unsafe { std::sync::atomic::AtomicU32::from_ptr(word) }.store(value, std::sync::atomic::Ordering::Release);
}

/// Launches one thread of a kernel.
pub(crate) fn launch(stream: CUstream, kernel: CUfunction, parameters: &mut [*mut std::ffi::c_void]) -> CUresult {
    call!(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters.as_mut_ptr(), ptr::null_mut()))
}

/// Launches `store_u32`.
pub(crate) fn store(stream: CUstream, kernel: CUfunction, word: *mut u32, value: u32) {
    let (mut address, mut value) = (word.expose_provenance() as u64, value);
    let code = launch(stream, kernel, &mut [(&raw mut address).cast(), (&raw mut value).cast()]);
    assert_eq!(code, CUresult::CUDA_SUCCESS);
}

pub(crate) fn end_capture(stream: CUstream) -> CUgraph {
    let mut graph = ptr::null_mut();
    ok!(cuStreamEndCapture(stream, &raw mut graph));
    graph
}

pub(crate) fn begin_capture(stream: CUstream) {
    ok!(cuStreamBeginCapture(stream, cuda_sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
}

pub(crate) fn instantiate(graph: CUgraph) -> CUgraphExec {
    made!(cuGraphInstantiateWithFlags(graph, 0))
}

pub(crate) fn nodes(graph: CUgraph) -> Vec<CUgraphNode> {
    let mut count = 0;
    ok!(cuGraphGetNodes(graph, ptr::null_mut(), &raw mut count));
    let mut nodes = vec![ptr::null_mut(); count];
    ok!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &raw mut count));
    nodes
}

/// A capture as `cuStreamGetCaptureInfo_v2` tells it, which the newest headers do not declare.
pub(crate) struct CaptureInfo {
    pub(crate) status: CUstreamCaptureStatus,
    pub(crate) id: u64,
    pub(crate) graph: CUgraph,
    pub(crate) after: Vec<CUgraphNode>,
}

pub(crate) fn capture_info(stream: CUstream) -> CaptureInfo {
    type GetCaptureInfo = unsafe extern "C" fn(
        CUstream,
        *mut CUstreamCaptureStatus,
        *mut u64,
        *mut CUgraph,
        *mut *const CUgraphNode,
        *mut usize,
    ) -> CUresult;
    let address = cuda_sys::driver::symbol(c"cuStreamGetCaptureInfo_v2").expect("a name of every version");
    // SAFETY: the function of that name has this type.
    let get = unsafe { std::mem::transmute::<*mut std::ffi::c_void, GetCaptureInfo>(address.as_ptr()) };
    let (mut status, mut id, mut graph) = (CUstreamCaptureStatus(99), 0, ptr::null_mut());
    let (mut after, mut count) = (ptr::null(), 0);
    // SAFETY: all pointers are valid for writes.
    let code = unsafe { get(stream, &raw mut status, &raw mut id, &raw mut graph, &raw mut after, &raw mut count) };
    assert_eq!(code, CUresult::CUDA_SUCCESS);
    let after = if count == 0 {
        Vec::new()
    } else {
        // SAFETY: an array of the driver's, of that length.
        unsafe { std::slice::from_raw_parts(after, count) }.to_vec()
    };
    CaptureInfo { status, id, graph, after }
}
