//! Executable graphs that take over another graph.

use cuda_hostfn::graph::UpdateRefusal;
use cuda_hostfn::sys::CUresult;
use cuda_hostfn::{Error, Graph, GraphExec, Stream, host};
use libtest_mimic::Failed;
use tests::{Drops, Gate, Machine, Row, check, equal, soon, touch};

pub const TRIALS: &[Row] = &[
    ("updates: the closures are swapped, and the old ones dropped once and not early", swapped),
    ("updates: again and again", again),
    ("updates: what was replaced in the executable graph is given up", replaced),
    ("updates: a refusal says why and where, and changes nothing", refused),
];

/// A graph of closures in a row, which send a word and are counted when they are dropped.
fn row(machine: &Machine, length: usize, drops: &Drops, said: &Said, word: &'static str) -> Result<Graph, Failed> {
    let graph = Graph::new(&machine.context)?;
    let mut last = Vec::new();
    for _ in 0..length {
        let (value, said) = (drops.value(), said.0.clone());
        let say = move || {
            touch(&value);
            said.send(word).unwrap();
        };
        last = vec![graph.add_host_node(&last, say)?.into()];
    }
    drop(last);
    Ok(graph)
}

struct Said(std::sync::mpsc::Sender<&'static str>, std::sync::mpsc::Receiver<&'static str>);

impl Said {
    fn new() -> Self {
        let (sender, receiver) = std::sync::mpsc::channel();
        Self(sender, receiver)
    }

    fn is(&self, expected: &[&str]) -> Result<(), Failed> {
        equal("said", &self.1.try_iter().collect::<Vec<_>>(), &expected.to_vec())
    }
}

fn launch(executable: &GraphExec, stream: &Stream) -> Result<(), Failed> {
    executable.launch(stream)?;
    Ok(stream.synchronize()?)
}

fn swapped(machine: &Machine) -> Result<(), Failed> {
    let (stream, said, old, new) = (machine.stream()?, Said::new(), Drops::default(), Drops::default());
    let mut executable = row(machine, 2, &old, &said, "old")?.instantiate(Default::default())?;
    let graph = row(machine, 2, &new, &said, "new")?;
    let mut gate = Gate::close(&stream)?;
    executable.launch(&stream)?;
    executable.update(&graph)?;
    drop(graph);
    executable.launch(&stream)?;
    host::reclaim()?;
    equal("while a launch is pending", &(old.count(), new.count()), &(0, 0))?;
    gate.open();
    stream.synchronize()?;
    said.is(&["old", "old", "new", "new"])?;
    soon("the old ones are dropped", || old.count() == 2)?;
    launch(&executable, &stream)?;
    said.is(&["new", "new"])?;
    equal("new", &new.count(), &0)?;
    drop(executable);
    soon("the new ones are dropped", || new.count() == 2)?;
    equal("old", &old.count(), &2)?;
    check(old.all_here() && new.all_here(), || "dropped on another thread".to_owned())
}

fn again(machine: &Machine) -> Result<(), Failed> {
    const ROUNDS: usize = 200;
    let (stream, said, drops) = (machine.stream()?, Said::new(), Drops::default());
    let mut executable = row(machine, 1, &drops, &said, "first")?.instantiate(Default::default())?;
    for _ in 0..ROUNDS {
        executable.launch(&stream)?;
        executable.update(&row(machine, 1, &drops, &said, "later")?)?;
    }
    stream.synchronize()?;
    soon("all but the last are dropped", || drops.count() == ROUNDS)?;
    equal("said", &said.1.try_iter().count(), &ROUNDS)?;
    drop(executable);
    soon("the last is dropped", || drops.count() == ROUNDS + 1)
}

fn replaced(machine: &Machine) -> Result<(), Failed> {
    let (stream, said, drops) = (machine.stream()?, Said::new(), Drops::default());
    let graph = row(machine, 1, &Drops::default(), &said, "old")?;
    let node = graph.nodes()?[0].as_host_node()?.ok_or("no host node")?;
    let mut executable = graph.instantiate(Default::default())?;
    let (value, say) = (drops.value(), said.0.clone());
    executable.replace_host_node(node, move || {
        touch(&value);
        say.send("replaced").unwrap();
    })?;
    let mut gate = Gate::close(&stream)?;
    executable.launch(&stream)?;
    executable.update(&graph)?;
    executable.launch(&stream)?;
    host::reclaim()?;
    equal("while a launch is pending", &drops.count(), &0)?;
    gate.open();
    stream.synchronize()?;
    said.is(&["replaced", "old"])?;
    soon("dropped", || drops.count() == 1)?;
    // And it can be done again.
    let say = said.0.clone();
    executable.replace_host_node(node, move || say.send("replaced again").unwrap())?;
    launch(&executable, &stream)?;
    said.is(&["replaced again"])
}

fn refused(machine: &Machine) -> Result<(), Failed> {
    let (stream, said, old, new) = (machine.stream()?, Said::new(), Drops::default(), Drops::default());
    let mut executable = row(machine, 2, &old, &said, "old")?.instantiate(Default::default())?;

    let longer = row(machine, 3, &new, &said, "new")?;
    let error = executable.update(&longer).unwrap_err();
    equal("longer", &error.refusal(), &Some(UpdateRefusal::TopologyChanged))?;
    check(matches!(Error::from(error), Error::UpdateRefused(_)), || "another error".to_owned())?;

    let other = Graph::new(&machine.context)?;
    let first = other.add_host_node(&[], || ())?;
    let empty = other.add_empty_node(&[*first])?;
    let error = executable.update(&other).unwrap_err();
    equal("another kind", &error.refusal(), &Some(UpdateRefusal::NodeTypeChanged))?;
    equal("the node", &error.node(), &Some(empty))?;
    equal("code", &error.error().code(), &Some(CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE))?;

    drop(longer);
    soon("what was refused is dropped", || new.count() == 3)?;
    launch(&executable, &stream)?;
    said.is(&["old", "old"])?;
    equal("old", &old.count(), &0)?;
    drop(executable);
    soon("dropped", || old.count() == 2)
}
