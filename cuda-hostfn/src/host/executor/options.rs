//! How an executor is to be, and which way it took.

use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;

use super::HostExecutor;
use crate::{Context, Error, Result};

/// How a [`HostExecutor`] is to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ExecutorOptions {
    workers: Option<usize>,
    waiting: Waiting,
}

/// What workers do while something is in flight and no closure's turn has come: while a long kernel runs before it, say.
///
/// Of the workers, no more than there are streams with closures in flight wait in this way. The others sleep until they
/// are needed, and so do all when nothing is in flight; both after some 100 µs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Waiting {
    /// They look all the time. A closure starts as soon as can be, at the price of a processor for each stream with
    /// closures in flight (at most one for each worker).
    Spin,
    /// They look all the time for `spin`, and then sleep, at first for some microseconds and then ever longer, up to
    /// `longest_sleep`, between looks. A closure whose turn comes after longer than `spin` starts up to that much later (and what
    /// the operating system adds, about 50 µs on Linux).
    BackOff {
        /// How long a worker looks without sleeping.
        spin: Duration,
        /// The longest sleep between two looks.
        longest_sleep: Duration,
    },
}

impl Waiting {
    /// How long a worker looks without sleeping before it sleeps, and for how long at most; `None`: it does not.
    pub(super) fn limits(self) -> (Duration, Option<Duration>) {
        match self {
            Self::Spin => (Duration::from_micros(100), None),
            Self::BackOff { spin, longest_sleep } => (spin, Some(longest_sleep)),
        }
    }
}

impl Default for Waiting {
    /// Back-off: 200 µs, then sleeps of up to 200 µs. On an H200's host, while a long kernel runs, that is a thirtieth of a
    /// processor; a closure behind a kernel of 10 ms starts some 130 µs after it, where the driver takes 165.
    fn default() -> Self {
        let pause = Duration::from_micros(200);
        Self::BackOff { spin: pause, longest_sleep: pause }
    }
}

/// How an executor calls closures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Its own threads, through stream memory operations on 64 bits.
    StreamMemoryOperations,
    /// Its own threads, through stream memory operations on 32 bits, on devices that have no others.
    StreamMemoryOperations32,
    /// The driver's thread (`cuLaunchHostFunc`): closures are [host functions](crate::host) and may not call CUDA.
    HostFunctions,
}

impl ExecutorOptions {
    /// As many workers as the machine has processors, but two at least and eight at most; [`Waiting::default`].
    pub fn new() -> Self {
        Self::default()
    }

    /// How many threads call closures. So many closures, of as many streams, can run at once.
    pub const fn workers(mut self, number: usize) -> Self {
        self.workers = Some(number);
        self
    }

    /// What the threads do while a closure's turn has not come.
    pub const fn waiting(mut self, waiting: Waiting) -> Self {
        self.waiting = waiting;
        self
    }

    pub(super) fn start(self, context: &Context) -> Result<HostExecutor> {
        let Self { workers, waiting } = self;
        let default = || thread::available_parallelism().map_or(2, NonZeroUsize::get).clamp(2, 8);
        let workers = workers.unwrap_or_else(default);
        if workers == 0 {
            return Err(Error::invalid("ExecutorOptions.workers", "0: nobody would call the closures"));
        }
        HostExecutor::start(context, workers, waiting)
    }
}
