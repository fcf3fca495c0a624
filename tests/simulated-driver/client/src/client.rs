//! The simulated driver's controls, as methods.

use std::ffi::{CString, c_char, c_int};
use std::time::Duration;

use cuda_sys::{CUresult, driver};
use serde::Serialize;

use crate::protocol::{Command, Counter, Kind, When};

/// Controls the simulated driver that this process has loaded.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    command: unsafe extern "C" fn(*const c_char) -> c_int,
    counter: unsafe extern "C" fn(*const c_char) -> i64,
}

impl Client {
    /// The client of the driver that is loaded, if that is the simulated one: a suite that runs on any driver asks so.
    #[must_use]
    pub fn of_loaded_driver() -> Option<Self> {
        let command = driver::symbol(c"simulated_driver_command")?;
        let counter = driver::symbol(c"simulated_driver_counter")?;
        // SAFETY: only the simulated driver exports the name, with this type.
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
        self.command(&Command::Fail { function: function.to_owned(), nth, code: code.0, when });
    }

    /// Makes the `nth` host function from now on run another number of times than once.
    pub fn run_host_function(&self, nth: u64, times: u32) {
        self.command(&Command::RunHostFunction { nth, times });
    }

    /// Lets streams take turns at random, and a piece of work start up to `delay` late. Within a stream nothing changes
    /// places. A failing test prints its seed.
    pub fn schedule(&self, seed: u64, delay: Duration) {
        self.command(&Command::Schedule { seed, delay });
    }

    /// The primary context is lost, as after a kernel that traps: nothing is called any more, which enqueueing does not
    /// notice.
    pub fn fault(&self, code: CUresult) {
        self.command(&Command::Fault { code: code.0 });
    }

    /// A fault is noticed, if not by a call that waits or asks, when more than so much was enqueued after it.
    pub fn notice_fault_after(&self, enqueued: u64) {
        self.command(&Command::NoticeFaultAfter { enqueued });
    }

    /// A fault that happens from now on looks, for so long, like work that takes its time. A real driver was seen to take
    /// some hundred milliseconds.
    pub fn delay_notice_of_fault(&self, delay: Duration) {
        self.command(&Command::DelayNoticeOfFault { delay });
    }

    /// From now on, putting a kernel, a graph or a host function into any stream waits while a host function runs. Real
    /// drivers do so at times; who holds a lock then that the host function needs, is stuck.
    pub fn let_enqueueing_wait(&self) {
        self.command(&Command::LetEnqueueingWait);
    }

    /// Streams share so many connections to the device, in the order in which they were made, as a real driver's do
    /// (`CUDA_DEVICE_MAX_CONNECTIONS`, 8 unless that says otherwise). What waits at a memory operation holds up what was put
    /// later into other streams of its connection.
    pub fn share_connections(&self, count: u64) {
        self.command(&Command::ShareConnections { count });
    }

    /// The device is one without stream memory operations on 64 bits, and says so.
    pub fn refuse_64_bit_operations(&self) {
        self.command(&Command::RefuseWideOperations);
    }

    /// Takes back all that was asked for. A fault that happened stays.
    pub fn calm(&self) {
        self.command(&Command::Calm);
    }

    /// Waits until all work is done and all destructors have run; `false` if that takes longer.
    #[must_use]
    pub fn settle(&self, longest: Duration) -> bool {
        self.try_command(&Command::Settle { longest })
    }

    /// How many of them there are.
    #[must_use]
    pub fn alive(&self, kind: Kind) -> u64 {
        self.counter(&Counter::Alive(kind))
    }

    /// How often an exported function was called. Names are as for [`fail`](Self::fail).
    ///
    /// # Panics
    ///
    /// If no simulated version has a function of that name.
    #[must_use]
    pub fn calls(&self, function: &str) -> u64 {
        self.counter(&Counter::Calls { function: function.to_owned() })
    }

    /// How many host functions and stream callbacks were called.
    #[must_use]
    pub fn host_functions_run(&self) -> u64 {
        self.counter(&Counter::HostFunctionsRun)
    }

    /// How many host functions were launched with the spin-wait mode of `cuLaunchHostFunc_v2`.
    #[must_use]
    pub fn spin_wait_host_functions(&self) -> u64 {
        self.counter(&Counter::SpinWaitHostFunctions)
    }

    /// How many destructors of user objects were called.
    #[must_use]
    pub fn destructors_run(&self) -> u64 {
        self.counter(&Counter::DestructorsRun)
    }

    /// How much is in streams and not done.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.counter(&Counter::Pending)
    }

    fn command(&self, command: &Command) {
        assert!(self.try_command(command), "the simulated driver understands {command:?}");
    }

    fn try_command(&self, command: &Command) -> bool {
        let text = c_string(command);
        // SAFETY: a C string.
        unsafe { (self.command)(text.as_ptr()) == 0 }
    }

    fn counter(&self, counter: &Counter) -> u64 {
        let text = c_string(counter);
        // SAFETY: a C string.
        let value = unsafe { (self.counter)(text.as_ptr()) };
        u64::try_from(value).unwrap_or_else(|_| panic!("the simulated driver counts {counter:?}"))
    }
}

fn c_string(message: &impl Serialize) -> CString {
    let text = serde_json::to_vec(message).expect("enums of numbers and names");
    CString::new(text).expect("JSON escapes NUL")
}
