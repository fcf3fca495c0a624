//! The driver's functions as they are, for suites that ask the driver itself. A trial breaks no rule of theirs, and
//! whatever is not as it expects panics.

#![allow(dead_code, reason = "each suite uses a part")]

use std::cell::OnceCell;
use std::ffi::{CStr, CString, c_void};
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cuda_sys::{
    CUcontext, CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUmodule, CUresult, CUstream, CUstreamCaptureMode,
    CUstreamCaptureStatus,
};
use libtest_mimic::Trial;
use simulated_driver_client::{Client, KERNELS, Kind};

use tests::trial_with;

/// Calls the driver and gives the code.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: the arguments are what the function's documentation asks for; where a trial of the simulated driver
        // breaks a rule, that driver checks it.
        unsafe { cuda_sys::$function($($argument),*) }
    }};
}

/// Calls the driver, which has to succeed.
macro_rules! ok {
    ($function:ident($($argument:expr),* $(,)?)) => {
        assert_eq!($crate::raw::call!($function($($argument),*)), cuda_sys::CUresult::CUDA_SUCCESS, stringify!($function))
    };
}

/// Calls a function that makes a handle, and gives the handle.
macro_rules! made {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        let mut handle = std::ptr::null_mut();
        $crate::raw::ok!($function(&raw mut handle $(, $argument)*));
        handle
    }};
}

/// Declares functions of a file as its trials.
macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        pub(crate) const TRIALS: $crate::raw::Rows = &[$((stringify!($name), $name)),*];
    };
}

#[allow(unused_imports, reason = "as above")]
pub(crate) use {call, made, ok, trials};

/// Trials, by the names of their functions.
pub(crate) type Rows = &'static [(&'static str, fn(&Driver))];

/// Trials that each have the driver to themselves.
pub(crate) fn trials_of(area: &str, rows: Rows, needed: &Result<(), String>) -> Vec<Trial> {
    let trial = |&(name, run): &(&str, fn(&Driver))| {
        let name = format!("{area}: {}", name.replace('_', " "));
        trial_with(&name, needed.clone(), move |()| {
            let driver = Driver::open();
            let result = panic::catch_unwind(AssertUnwindSafe(|| run(&driver)));
            driver.close(result.is_ok());
            result.map_err(|payload| panic::resume_unwind(payload))
        })
    };
    rows.iter().map(trial).collect()
}

/// Longer than anything here takes.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// A driver with the primary context of its first device current: one trial's.
#[derive(Debug)]
pub(crate) struct Driver {
    /// That context.
    pub(crate) context: CUcontext,
    /// Controls the driver, if it is the simulated one.
    pub(crate) client: Option<Client>,
    module: OnceCell<CUmodule>,
    before: Vec<u64>,
}

impl Driver {
    /// Of the driver that is loaded.
    pub(crate) fn open() -> Self {
        let client = Client::of_loaded_driver();
        ok!(cuInit(0));
        let before = counts(client);
        let context = made!(cuDevicePrimaryCtxRetain(0));
        ok!(cuCtxSetCurrent(context));
        Self { context, client, module: OnceCell::new(), before }
    }

    /// Gives the context back. A trial that passed has left nothing.
    fn close(self, passed: bool) {
        self.client.iter().for_each(Client::calm);
        self.settle();
        // The last reference takes with it what belongs to the context; graphs and user objects stay.
        ok!(cuCtxSetCurrent(ptr::null_mut()));
        ok!(cuDevicePrimaryCtxRelease(0));
        if !passed {
            return;
        }
        assert_eq!(counts(self.client), self.before, "nothing is left of {:?}", Kind::ALL);
    }

    /// Waits until work is done and destructors have run. A real driver does not say when those have; it gets some time.
    pub(crate) fn settle(&self) {
        match self.client {
            Some(client) => assert!(client.settle(LONG), "the driver comes to rest"),
            None => {
                call!(cuCtxSynchronize());
                thread::sleep(Duration::from_millis(100));
            }
        }
    }

    /// One of the kernels in `kernels.ptx`.
    pub(crate) fn kernel(&self, name: &CStr) -> CUfunction {
        let module = *self.module.get_or_init(|| {
            let image = CString::new(KERNELS).expect("text");
            made!(cuModuleLoadData(image.as_ptr().cast()))
        });
        made!(cuModuleGetFunction(module, name.as_ptr()))
    }
}

/// What is alive, where the driver tells.
fn counts(client: Option<Client>) -> Vec<u64> {
    client.map_or_else(Vec::new, |client| Kind::ALL.into_iter().map(|kind| client.alive(kind)).collect())
}

/// Waits until the condition holds.
pub(crate) fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + LONG;
    while !condition() {
        assert!(Instant::now() < deadline, "not within {LONG:?}: {what}");
        thread::yield_now();
    }
}

/// Counts its calls.
pub(crate) unsafe extern "C" fn count(counter: *mut c_void) {
    // SAFETY: what `pointer` gives of a counter that is still there.
    unsafe { AtomicU32::from_ptr(counter.cast()) }.fetch_add(1, Ordering::SeqCst);
}

/// What [`count`] takes.
pub(crate) fn pointer(counter: &AtomicU32) -> *mut c_void {
    counter.as_ptr().cast()
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
    unsafe { AtomicU32::from_ptr(word) }.load(Ordering::Acquire)
}

pub(crate) fn write(word: *mut u32, value: u32) {
    // SAFETY: as above.
    unsafe { AtomicU32::from_ptr(word) }.store(value, Ordering::Release);
}

/// Launches one thread of a kernel.
pub(crate) fn launch(stream: CUstream, kernel: CUfunction, parameters: &mut [*mut c_void]) -> CUresult {
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
    ok!(cuStreamBeginCapture(stream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
}

pub(crate) fn instantiate(graph: CUgraph) -> CUgraphExec {
    made!(cuGraphInstantiateWithFlags(graph, 0))
}

pub(crate) fn nodes(graph: CUgraph) -> Vec<CUgraphNode> {
    let mut count = 0;
    ok!(cuGraphGetNodes(graph, ptr::null_mut(), &raw mut count));
    if count == 0 {
        return Vec::new();
    }
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
    let get = unsafe { std::mem::transmute::<*mut c_void, GetCaptureInfo>(address.as_ptr()) };
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
