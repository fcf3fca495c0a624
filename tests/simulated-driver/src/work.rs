//! What a device does: pieces of work, alone in a stream or as the nodes of a graph.

use std::sync::Arc;
use std::time::Instant;

use crate::abi::{CallbackFn, Handle, HostFn, UserData};
use crate::event::Record;
use crate::exec::Program;
use crate::kernels::{Launch, Running};
use crate::memory::{Copy, Fill};
use crate::memory_operations::Batch;

/// One piece of work.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    Nothing,
    Kernel(Launch),
    Host {
        function: HostFn,
        data: UserData,
    },
    /// `cuStreamAddCallback`: is called after a fault, too.
    Callback {
        function: CallbackFn,
        stream: Handle,
        data: UserData,
    },
    Copy(Copy),
    Fill(Fill),
    Operations(Batch),
    Record(Arc<Record>),
    Wait(Arc<Record>),
    /// An event of a graph, looked up when the graph runs.
    RecordEvent(Handle),
    WaitEvent(Handle),
}

/// Where a piece of work stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Phase {
    Waiting,
    /// A kernel or a batch of operations that takes its time.
    Running(Running),
    /// Given to the thread for host functions.
    AtHost,
    Done,
}

/// What was put into a stream by one call.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) sequence: u64,
    /// Set when it comes to the front of its stream, if it is to start late.
    pub(crate) not_before: Option<Instant>,
    pub(crate) work: Work,
}

#[derive(Debug)]
pub(crate) enum Work {
    Task(Task, Phase),
    Graph(Run),
}

/// A launch of an executable graph.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) exec: Handle,
    pub(crate) program: Arc<Program>,
    pub(crate) phases: Vec<Phase>,
    /// Keeps the user objects of the graph.
    pub(crate) lease: Handle,
}

/// A piece of work's place: a stream's first item, or a node of the graph that is it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) sequence: u64,
    pub(crate) node: usize,
    pub(crate) stream: Handle,
}

impl Item {
    pub(crate) fn new(sequence: u64, work: Work) -> Self {
        Self { sequence, not_before: None, work }
    }

    /// The task at a place, and where it stands.
    pub(crate) fn task_mut(&mut self, node: usize) -> Option<(&Task, &mut Phase)> {
        match &mut self.work {
            Work::Task(task, phase) => Some((task, phase)),
            Work::Graph(run) => Some((&run.program.nodes.get(node)?.task, run.phases.get_mut(node)?)),
        }
    }

    /// The nodes whose dependencies are done and that are not at the host or done themselves.
    pub(crate) fn open_nodes(&self) -> Vec<usize> {
        let is_open = |phase: &Phase| matches!(phase, Phase::Waiting | Phase::Running(_));
        match &self.work {
            Work::Task(_, phase) => {
                if is_open(phase) {
                    vec![0]
                } else {
                    Vec::new()
                }
            }
            Work::Graph(run) => (0..run.phases.len())
                .filter(|&node| is_open(&run.phases[node]))
                .filter(|&node| run.program.nodes[node].after.iter().all(|&other| run.phases[other].is_done()))
                .collect(),
        }
    }

    /// Whether it waits for memory to change, now or before it is done.
    pub(crate) fn waits_for_memory(&self) -> bool {
        match &self.work {
            Work::Task(Task::Operations(batch), _) => batch.waits(),
            _ => false,
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        match &self.work {
            Work::Task(_, phase) => phase.is_done(),
            Work::Graph(run) => run.phases.iter().all(|phase| phase.is_done()),
        }
    }
}

impl Phase {
    pub(crate) fn is_done(self) -> bool {
        matches!(self, Self::Done)
    }
}
