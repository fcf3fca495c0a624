//! How a suite loads and controls the simulated driver.
//!
//! ```no_run
//! use simulated_driver::{Version, client};
//!
//! let driver = client::load(Version::V13_0)?;
//! driver.fail("cuStreamCreate", 2, cuda_sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY, client::When::Before);
//! // … the second call of cuStreamCreate from here on fails …
//! assert_eq!(driver.alive(client::Kind::UserObjects), 0);
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::PathBuf;
use std::time::Duration;

use cuda_sys::{CUresult, driver};

use crate::Version;
pub use crate::faults::When;
pub use crate::library::Error as LibraryError;

/// The library that simulates a driver of a version.
///
/// # Errors
///
/// [`LibraryError`] says where it was looked for, and how to build it.
pub fn library(version: Version) -> Result<PathBuf, LibraryError> {
    crate::library::of(version)
}

/// Loads the simulated driver of a version, as this process's driver. Before the first call into CUDA.
///
/// # Errors
///
/// What [`library`] and cuda-sys's loader have to say, such as that another driver is loaded already.
pub fn load(version: Version) -> Result<Client, Box<dyn std::error::Error + Send + Sync>> {
    driver::load_from(library(version)?)?;
    Client::of_loaded_driver().ok_or_else(|| "the driver that is loaded is not the simulated one".into())
}

/// Controls the simulated driver that this process has loaded.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    command: unsafe extern "C" fn(*const c_char) -> c_int,
    counter: unsafe extern "C" fn(*const c_char) -> i64,
}

/// What can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "CUDA's objects, by their names")]
pub enum Kind {
    Contexts,
    PrimaryReferences,
    Streams,
    Events,
    Modules,
    Graphs,
    ExecutableGraphs,
    Captures,
    UserObjects,
    DeviceAllocations,
    HostAllocations,
    HostRegistrations,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Contexts,
        Self::PrimaryReferences,
        Self::Streams,
        Self::Events,
        Self::Modules,
        Self::Graphs,
        Self::ExecutableGraphs,
        Self::Captures,
        Self::UserObjects,
        Self::DeviceAllocations,
        Self::HostAllocations,
        Self::HostRegistrations,
    ];

    const fn counter(self) -> &'static str {
        match self {
            Self::Contexts => "contexts",
            Self::PrimaryReferences => "primary-references",
            Self::Streams => "streams",
            Self::Events => "events",
            Self::Modules => "modules",
            Self::Graphs => "graphs",
            Self::ExecutableGraphs => "executable-graphs",
            Self::Captures => "captures",
            Self::UserObjects => "user-objects",
            Self::DeviceAllocations => "device-allocations",
            Self::HostAllocations => "host-allocations",
            Self::HostRegistrations => "host-registrations",
        }
    }
}

impl Client {
    /// The client of the driver that is loaded, if that is the simulated one: a suite that runs on any driver asks so.
    #[must_use]
    pub fn of_loaded_driver() -> Option<Self> {
        let command = driver::symbol(c"simulated_driver_command")?;
        let counter = driver::symbol(c"simulated_driver_counter")?;
        // SAFETY: only the library of this crate exports the name, with this type.
        let command =
            unsafe { std::mem::transmute::<*mut _, unsafe extern "C" fn(*const c_char) -> c_int>(command.as_ptr()) };
        // SAFETY: as above.
        let counter =
            unsafe { std::mem::transmute::<*mut _, unsafe extern "C" fn(*const c_char) -> i64>(counter.as_ptr()) };
        Some(Self { command, counter })
    }

    /// Makes the `nth` call from now on of an exported function fail. Versions count: `cuMemAlloc_v2`, not `cuMemAlloc`;
    /// suffixes such as `_ptsz` do not.
    ///
    /// # Panics
    ///
    /// If no simulated version has a function of that name.
    pub fn fail(&self, function: &str, nth: u64, code: CUresult, when: When) {
        let when = match when {
            When::Before => "before",
            When::After => "after",
        };
        self.command(&format!("fail {function} {nth} {} {when}", code.0));
    }

    /// Makes the `nth` host function from now on run another number of times than once.
    pub fn run_host_function(&self, nth: u64, times: u32) {
        self.command(&format!("host-function {nth} runs {times}"));
    }

    /// Lets streams take turns at random, and a piece of work start up to `delay` late. Within a stream nothing changes
    /// places. A failing test prints its seed.
    pub fn schedule(&self, seed: u64, delay: Duration) {
        self.command(&format!("schedule {seed} {}", delay.as_micros()));
    }

    /// The primary context is lost, as after a kernel that traps: nothing is called any more, which enqueueing does not
    /// notice.
    pub fn fault(&self, code: CUresult) {
        self.command(&format!("fault {}", code.0));
    }

    /// A fault is noticed, if not by a call that waits or asks, when more than so much was enqueued after it.
    pub fn notice_fault_after(&self, enqueued: u64) {
        self.command(&format!("notice-fault-after {enqueued}"));
    }

    /// A fault that happens from now on looks, for so long, like work that takes its time. A real driver was seen to take
    /// some hundred milliseconds.
    pub fn delay_notice_of_fault(&self, delay: Duration) {
        self.command(&format!("notice-fault-delay {}", delay.as_millis()));
    }

    /// From now on, putting a kernel, a graph or a host function into any stream waits while a host function runs. Real
    /// drivers do so at times; who holds a lock then that the host function needs, is stuck.
    pub fn let_enqueueing_wait(&self) {
        self.command("enqueue-waits");
    }

    /// Takes back all that was asked for. A fault that happened stays.
    pub fn calm(&self) {
        self.command("calm");
    }

    /// Waits until all work is done and all destructors have run; `false` if that takes longer.
    #[must_use]
    pub fn settle(&self, longest: Duration) -> bool {
        self.try_command(&format!("settle {}", longest.as_millis()))
    }

    /// How many of them there are.
    #[must_use]
    pub fn alive(&self, kind: Kind) -> u64 {
        self.counter(kind.counter())
    }

    /// How often an exported function was called. Names are as for [`fail`](Self::fail).
    ///
    /// # Panics
    ///
    /// If no simulated version has a function of that name.
    #[must_use]
    pub fn calls(&self, function: &str) -> u64 {
        self.counter(&format!("calls.{function}"))
    }

    /// How many host functions and stream callbacks were called.
    #[must_use]
    pub fn host_functions_run(&self) -> u64 {
        self.counter("host-functions-run")
    }

    /// How many host functions were launched with the spin-wait mode of `cuLaunchHostFunc_v2`.
    #[must_use]
    pub fn spin_wait_host_functions(&self) -> u64 {
        self.counter("spin-wait-host-functions")
    }

    /// How many destructors of user objects were called.
    #[must_use]
    pub fn destructors_run(&self) -> u64 {
        self.counter("destructors-run")
    }

    /// How much is in streams and not done.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.counter("pending")
    }

    fn command(&self, text: &str) {
        assert!(self.try_command(text), "the simulated driver understands {text:?}");
    }

    fn try_command(&self, text: &str) -> bool {
        let text = c_string(text);
        // SAFETY: a C string.
        unsafe { (self.command)(text.as_ptr()) == 0 }
    }

    fn counter(&self, name: &str) -> u64 {
        let name = c_string(name);
        // SAFETY: a C string.
        let value = unsafe { (self.counter)(CStr::as_ptr(&name)) };
        u64::try_from(value).unwrap_or_else(|_| panic!("the simulated driver counts {name:?}"))
    }
}

fn c_string(text: &str) -> CString {
    CString::new(text).expect("names and numbers have no NUL")
}
