//! Closures that are replaced, in graphs and in executable graphs: the old one is dropped once, and not while a launch may
//! still call it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_hostfn::sys::CUresult;
use cuda_hostfn::{Graph, HostNode, host};
use libtest_mimic::Failed;
use tests::{Drops, Gate, Machine, Row, check, equal, soon, touch};

pub const TRIALS: &[Row] = &[
    ("replaced: in a graph; what was made before keeps the old closure", in_graph),
    ("replaced: in a graph that was never run", at_once),
    ("replaced: in an executable graph, while launches are pending", in_flight),
    ("replaced: in an executable graph, again and again", again),
    ("replaced: in an executable graph that goes while it runs", executable_first),
    ("replaced: in one executable graph of two", one_of_two),
    ("replaced: a node of another graph is refused, and the closure comes back", another_graph),
];

/// Calls and drops of the closures of a trial, each with its number.
#[derive(Default)]
struct Tally {
    calls: [Arc<AtomicU32>; 3],
    drops: [Drops; 3],
}

impl Tally {
    fn closure(&self, number: usize) -> impl FnMut() + Send + 'static {
        let (calls, value) = (self.calls[number].clone(), self.drops[number].value());
        move || {
            touch(&value);
            calls.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn calls(&self) -> [u32; 3] {
        [0, 1, 2].map(|number| self.calls[number].load(Ordering::Relaxed))
    }

    fn drops(&self) -> [usize; 3] {
        [0, 1, 2].map(|number| self.drops[number].count())
    }

    fn check(&self, when: &str, calls: [u32; 3], drops: [usize; 3]) -> Result<(), Failed> {
        soon(when, || self.drops() == drops)?;
        equal(when, &self.calls(), &calls)?;
        host::reclaim()?;
        equal(when, &self.drops(), &drops)?;
        check(self.drops.iter().all(Drops::all_here), || "dropped on another thread".to_owned())
    }
}

fn graph<'g>(machine: &Machine, graph: &'g Graph, tally: &Tally) -> Result<HostNode<'g>, Failed> {
    let _ = machine;
    Ok(graph.add_host_node(&[], tally.closure(0))?)
}

fn in_graph(machine: &Machine) -> Result<(), Failed> {
    let (stream, tally) = (machine.stream()?, Tally::default());
    let original = Graph::new(&machine.context)?;
    let node = graph(machine, &original, &tally)?;
    let first = original.instantiate(Default::default())?;
    let clone = original.try_clone()?;
    node.replace(tally.closure(1))?;
    let second = original.instantiate(Default::default())?;
    first.launch(&stream)?;
    second.launch(&stream)?;
    clone.instantiate(Default::default())?.launch(&stream)?;
    stream.synchronize()?;
    tally.check("both in use", [2, 1, 0], [0, 0, 0])?;
    drop(first);
    tally.check("the clone has it", [2, 1, 0], [0, 0, 0])?;
    drop(clone);
    tally.check("nothing has it", [2, 1, 0], [1, 0, 0])?;
    node.replace(tally.closure(2))?;
    tally.check("an executable graph has it", [2, 1, 0], [1, 0, 0])?;
    drop(second);
    tally.check("nothing has it", [2, 1, 0], [1, 1, 0])?;
    drop(original);
    tally.check("all gone", [2, 1, 0], [1, 1, 1])
}

fn at_once(machine: &Machine) -> Result<(), Failed> {
    let tally = Tally::default();
    let original = Graph::new(&machine.context)?;
    let node = graph(machine, &original, &tally)?;
    node.replace(tally.closure(1))?;
    tally.check("replaced", [0; 3], [1, 0, 0])?;
    node.replace(tally.closure(2))?;
    tally.check("replaced", [0; 3], [1, 1, 0])?;
    drop(original);
    tally.check("gone", [0; 3], [1; 3])
}

fn in_flight(machine: &Machine) -> Result<(), Failed> {
    let (stream, tally) = (machine.stream()?, Tally::default());
    let original = Graph::new(&machine.context)?;
    let node = graph(machine, &original, &tally)?;
    let mut executable = original.instantiate(Default::default())?;
    let mut gate = Gate::close(&stream)?;
    executable.launch(&stream)?;
    executable.replace_host_node(node, tally.closure(1))?;
    executable.launch(&stream)?;
    executable.launch(&stream)?;
    executable.replace_host_node(node, tally.closure(2))?;
    executable.launch(&stream)?;
    tally.check("pending", [0; 3], [0; 3])?;
    gate.open();
    stream.synchronize()?;
    // The first came with the graph, which still has it.
    tally.check("done", [1, 2, 1], [0, 1, 0])?;
    drop(original);
    tally.check("the executable graph is left", [1, 2, 1], [0, 1, 0])?;
    executable.launch(&stream)?;
    stream.synchronize()?;
    drop(executable);
    tally.check("gone", [1, 2, 2], [1; 3])
}

fn again(machine: &Machine) -> Result<(), Failed> {
    const ROUNDS: usize = 300;
    let (stream, drops, calls) = (machine.stream()?, Drops::default(), Arc::new(AtomicU32::new(0)));
    let original = Graph::new(&machine.context)?;
    let node = original.add_host_node(&[], || ())?;
    let other = original.add_host_node(&[*node], || ())?;
    let mut executable = original.instantiate(Default::default())?;
    for round in 0..ROUNDS {
        for node in [node, other] {
            let (value, calls) = (drops.value(), calls.clone());
            let closure = move || {
                touch(&value);
                calls.fetch_add(1, Ordering::Relaxed);
            };
            executable.replace_host_node(node, closure)?;
        }
        // Some are replaced before they are ever launched, some are launched several times.
        for _ in 0..round % 3 {
            executable.launch(&stream)?;
        }
    }
    stream.synchronize()?;
    soon("all but the last are dropped", || drops.count() == 2 * ROUNDS - 2)?;
    equal("calls", &calls.load(Ordering::Relaxed), &u32::try_from(2 * ROUNDS)?)?;
    drop(executable);
    soon("the last are dropped", || drops.count() == 2 * ROUNDS)?;
    check(drops.all_here(), || "dropped on another thread".to_owned())
}

fn executable_first(machine: &Machine) -> Result<(), Failed> {
    let (stream, tally) = (machine.stream()?, Tally::default());
    let original = Graph::new(&machine.context)?;
    let node = graph(machine, &original, &tally)?;
    let mut executable = original.instantiate(Default::default())?;
    executable.replace_host_node(node, tally.closure(1))?;
    let mut gate = Gate::close(&stream)?;
    executable.launch(&stream)?;
    executable.replace_host_node(node, tally.closure(2))?;
    executable.launch(&stream)?;
    drop((executable, original));
    tally.check("pending", [0; 3], [0; 3])?;
    gate.open();
    stream.synchronize()?;
    tally.check("gone", [0, 1, 1], [1; 3])
}

fn one_of_two(machine: &Machine) -> Result<(), Failed> {
    let (stream, tally) = (machine.stream()?, Tally::default());
    let original = Graph::new(&machine.context)?;
    let node = graph(machine, &original, &tally)?;
    let (mut first, mut second) =
        (original.instantiate(Default::default())?, original.instantiate(Default::default())?);
    first.replace_host_node(node, tally.closure(1))?;
    first.launch(&stream)?;
    second.launch(&stream)?;
    second.replace_host_node(node, tally.closure(2))?;
    second.launch(&stream)?;
    stream.synchronize()?;
    tally.check("each has its own", [1, 1, 1], [0; 3])?;
    drop(first);
    tally.check("the first is gone", [1, 1, 1], [0, 1, 0])?;
    drop((second, original));
    tally.check("all gone", [1, 1, 1], [1; 3])
}

/// The graph that captured the launch runs what the executable graph ran then, whatever becomes of that.
fn another_graph(machine: &Machine) -> Result<(), Failed> {
    let (stream, tally) = (machine.stream()?, Tally::default());
    let (original, foreign) = (Graph::new(&machine.context)?, Graph::new(&machine.context)?);
    let node = graph(machine, &original, &tally)?;
    let foreign = foreign.add_host_node(&[], || ())?;
    let mut executable = original.instantiate(Default::default())?;
    let refused = executable.replace_host_node(foreign, tally.closure(1)).unwrap_err();
    equal("code", &refused.error().code(), &Some(CUresult::CUDA_ERROR_INVALID_VALUE))?;
    executable.launch(&stream)?;
    stream.synchronize()?;
    tally.check("refused", [1, 0, 0], [0; 3])?;
    executable.replace_host_node(node, refused.into_inner())?;
    executable.launch(&stream)?;
    stream.synchronize()?;
    tally.check("replaced", [1, 1, 0], [0; 3])?;
    drop((executable, original));
    tally.check("gone", [1, 1, 0], [1, 1, 0])
}
