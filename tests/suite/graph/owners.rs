//! Who keeps a closure: graphs, clones, parents, executable graphs, and launches that are pending; in whatever order they
//! go, it is dropped once, and not before the last.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_hostfn::{CaptureMode, Graph, GraphExec, Stream, host};
use libtest_mimic::Failed;
use tests::{Drops, Gate, Machine, Row, check, equal, soon, touch};

pub const TRIALS: &[Row] = &[
    ("owners: the graph goes first", graph_first),
    ("owners: the executable graph goes while it runs", in_flight),
    ("owners: everything goes while it runs, in every order", every_order),
    ("owners: a clone is replayed after the original is gone", clone_last),
    ("owners: a parent is replayed after the child is gone", parent_last),
    ("owners: the stream goes first", stream_first),
    ("owners: a graph that never ran", never_ran),
    ("owners: handles that a host function drops", dropped_inside),
    ("owners: closures whose destructors call CUDA", calling_cuda),
    ("owners: a handle that is given out and taken back", given_out),
];

/// A closure, its calls and its end.
#[derive(Default)]
struct Closure {
    calls: Arc<AtomicU32>,
    drops: Drops,
}

impl Closure {
    fn graph(&self, machine: &Machine) -> Result<Graph, Failed> {
        let graph = Graph::new(&machine.context)?;
        let (calls, value) = (self.calls.clone(), self.drops.value());
        graph.add_host_node(&[], move || {
            touch(&value);
            calls.fetch_add(1, Ordering::Relaxed);
        })?;
        Ok(graph)
    }

    fn is_alive(&self) -> Result<(), Failed> {
        host::reclaim()?;
        equal("dropped early", &self.drops.count(), &0)
    }

    fn is_over(&self, calls: u32) -> Result<(), Failed> {
        soon("dropped", || self.drops.count() > 0)?;
        equal("dropped", &self.drops.count(), &1)?;
        equal("calls", &self.calls.load(Ordering::Relaxed), &calls)?;
        check(self.drops.all_here(), || "dropped on another thread".to_owned())
    }
}

fn executable(graph: &Graph) -> Result<GraphExec, Failed> {
    Ok(graph.instantiate(Default::default())?)
}

fn launch(executable: &GraphExec, stream: &Stream, times: u32) -> Result<(), Failed> {
    Ok((0..times).try_for_each(|_| executable.launch(stream))?)
}

fn graph_first(machine: &Machine) -> Result<(), Failed> {
    let (stream, closure) = (machine.stream()?, Closure::default());
    let graph = closure.graph(machine)?;
    let executable = executable(&graph)?;
    drop(graph);
    closure.is_alive()?;
    launch(&executable, &stream, 3)?;
    stream.synchronize()?;
    closure.is_alive()?;
    drop(executable);
    closure.is_over(3)
}

fn in_flight(machine: &Machine) -> Result<(), Failed> {
    let (stream, closure) = (machine.stream()?, Closure::default());
    for _ in 0..10 {
        let closure = Closure { calls: closure.calls.clone(), ..Closure::default() };
        closure.calls.store(0, Ordering::Relaxed);
        let executable = executable(&closure.graph(machine)?)?;
        let mut gate = Gate::close(&stream)?;
        launch(&executable, &stream, 5)?;
        drop(executable);
        closure.is_alive()?;
        gate.open();
        closure.is_over(5)?;
    }
    Ok(stream.synchronize()?)
}

fn every_order(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    for order in 0..24 {
        let closure = Closure::default();
        let graph = closure.graph(machine)?;
        let clone = graph.try_clone()?;
        let (first, second) = (executable(&graph)?, executable(&clone)?);
        let mut gate = Gate::close(&stream)?;
        launch(&first, &stream, 1)?;
        launch(&second, &stream, 1)?;
        let mut owners: Vec<Box<dyn std::any::Any>> =
            vec![Box::new(graph), Box::new(clone), Box::new(first), Box::new(second)];
        let mut rest = order;
        for left in (1..=4).rev() {
            drop(owners.swap_remove(rest % left));
            rest /= left;
            closure.is_alive()?;
        }
        gate.open();
        closure.is_over(2).map_err(|failed| format!("order {order}: {}", failed.message().unwrap_or_default()))?;
    }
    Ok(stream.synchronize()?)
}

fn clone_last(machine: &Machine) -> Result<(), Failed> {
    let (stream, closure) = (machine.stream()?, Closure::default());
    let graph = closure.graph(machine)?;
    let clone = graph.try_clone()?;
    drop(graph);
    closure.is_alive()?;
    let executable = executable(&clone)?;
    drop(clone);
    launch(&executable, &stream, 2)?;
    stream.synchronize()?;
    closure.is_alive()?;
    drop(executable);
    closure.is_over(2)
}

fn parent_last(machine: &Machine) -> Result<(), Failed> {
    let (stream, closure) = (machine.stream()?, Closure::default());
    let (parent, child) = (Graph::new(&machine.context)?, closure.graph(machine)?);
    let first = parent.add_child_graph_node(&[], &child)?;
    parent.add_child_graph_node(&[*first], &child)?;
    drop(child);
    closure.is_alive()?;
    let executable = executable(&parent)?;
    drop(parent);
    launch(&executable, &stream, 2)?;
    stream.synchronize()?;
    closure.is_alive()?;
    drop(executable);
    closure.is_over(4)
}

fn stream_first(machine: &Machine) -> Result<(), Failed> {
    let (stream, closure) = (machine.stream()?, Closure::default());
    let executable = executable(&closure.graph(machine)?)?;
    let mut gate = Gate::close(&stream)?;
    launch(&executable, &stream, 2)?;
    drop((stream, executable));
    closure.is_alive()?;
    gate.open();
    closure.is_over(2)
}

fn never_ran(machine: &Machine) -> Result<(), Failed> {
    let closure = Closure::default();
    let graph = closure.graph(machine)?;
    let executable = executable(&graph)?;
    drop(executable);
    closure.is_alive()?;
    drop(graph);
    closure.is_over(0)
}

fn dropped_inside(machine: &Machine) -> Result<(), Failed> {
    let (stream, closure) = (machine.stream()?, Closure::default());
    let graph = closure.graph(machine)?;
    let executable = executable(&graph)?;
    let mut handles = Some((graph, executable));
    stream.host_launch(move || touch(handles.take()))?;
    stream.synchronize()?;
    closure.is_over(0)
}

fn calling_cuda(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    for _ in 0..20 {
        // Their destructors check that CUDA lets them.
        let (first, second) = (machine.pinned(16)?, machine.pinned(16)?);
        let graph = stream.capture(CaptureMode::ThreadLocal, |stream| {
            stream.host_launch(move || touch(&first))?;
            Ok(())
        })?;
        let node = graph.nodes()?[0].as_host_node()?.ok_or("no host node")?;
        let mut executable = executable(&graph)?;
        launch(&executable, &stream, 1)?;
        executable.replace_host_node(node, move || touch(&second))?;
        launch(&executable, &stream, 1)?;
    }
    stream.synchronize()?;
    host::reclaim()?;
    Ok(())
}

fn given_out(machine: &Machine) -> Result<(), Failed> {
    let (stream, closure) = (machine.stream()?, Closure::default());
    let graph = closure.graph(machine)?;
    let executable = executable(&graph)?;
    let (raw_graph, raw_executable) = (graph.into_raw(), executable.into_raw());
    closure.is_alive()?;
    // SAFETY: just given out, and nobody else's.
    let graph = unsafe { Graph::from_raw(&machine.context, raw_graph) };
    // SAFETY: as above.
    let mut executable = unsafe { GraphExec::from_raw(&machine.context, raw_executable) };
    launch(&executable, &stream, 1)?;
    // It no longer says whether it keeps closures, until it is updated.
    let node = graph.nodes()?[0].as_host_node()?.ok_or("no host node")?;
    let refused = executable.replace_host_node(node, || ()).unwrap_err();
    check(matches!(refused.error(), cuda_hostfn::Error::Invalid(_)), || format!("{refused}"))?;
    executable.update(&graph)?;
    executable.replace_host_node(node, refused.into_inner())?;
    launch(&executable, &stream, 1)?;
    stream.synchronize()?;
    drop((graph, executable));
    closure.is_over(1)
}
