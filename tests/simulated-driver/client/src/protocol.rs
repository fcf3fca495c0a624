//! What suites say to the driver, and what they ask it. It travels as JSON, since the two sides are built apart.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What the driver is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the methods of `Client` say what their arguments mean")]
pub enum Command {
    Fail { function: String, nth: u64, code: u32, when: When },
    RunHostFunction { nth: u64, times: u32 },
    Schedule { seed: u64, delay: Duration },
    Fault { code: u32 },
    NoticeFaultAfter { enqueued: u64 },
    DelayNoticeOfFault { delay: Duration },
    LetEnqueueingWait,
    ShareConnections { count: u64 },
    RefuseWideOperations,
    Calm,
    Settle { longest: Duration },
}

/// What the driver counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "as above")]
pub enum Counter {
    Alive(Kind),
    Calls { function: String },
    HostFunctionsRun,
    SpinWaitHostFunctions,
    DestructorsRun,
    Pending,
}

/// Whether a call that is made to fail does its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum When {
    /// It does not.
    Before,
    /// It does, and then reports the failure all the same.
    After,
}

/// What can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
}
