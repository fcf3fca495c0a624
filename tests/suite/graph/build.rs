//! Graphs that are built by hand: nodes, their places, copies of graphs.

use std::sync::Arc;
use std::sync::mpsc::channel;

use cuda_hostfn::graph::ChildGraphNode;
use cuda_hostfn::sys::{CUgraphDebugDot_flags, CUgraphNodeType, CUresult, driver};
use cuda_hostfn::{CaptureMode, CudaVersion, Error, Graph, InstantiateOptions, LaunchConfig, Node, Priority, SyncMode};
use libtest_mimic::Failed;
use parking_lot::Mutex;
use simulated_driver_client::Client;
use tests::{Drops, Machine, Row, check, equal, soon, touch};

pub const TRIALS: &[Row] = &[
    ("build: host nodes run in the order of their edges", order),
    ("build: nodes tell their kind and their place", places),
    ("build: a node of another graph is refused, and the closure comes back", another_graph),
    ("build: a C function", raw),
    ("build: a clone finds its nodes, and has its own", clones),
    ("build: a child graph is a copy, which can be changed", children),
    ("build: captured nodes are found", captured),
    ("build: spin-wait where the driver has it", spin_wait),
    ("build: a kernel node, or since when drivers have them", kernel_node),
    ("build: priorities of nodes are kept", priorities),
    ("build: the flags of executable graphs", flags),
    ("build: a picture", picture),
];

type Said = Arc<Mutex<Vec<&'static str>>>;

/// A closure that says something.
fn says(said: &Said, word: &'static str) -> impl FnMut() + Send + 'static {
    let said = said.clone();
    move || said.lock().push(word)
}

fn run(machine: &Machine, graph: &Graph) -> Result<(), Failed> {
    let stream = machine.stream()?;
    graph.instantiate(Default::default())?.launch(&stream)?;
    Ok(stream.synchronize()?)
}

fn order(machine: &Machine) -> Result<(), Failed> {
    let said = Said::default();
    let graph = Graph::new(&machine.context)?;
    let last = graph.add_host_node(&[], says(&said, "last"))?;
    let first = graph.add_host_node(&[], says(&said, "first"))?;
    let empty = graph.add_empty_node(&[first.into()])?;
    let middle = graph.add_host_node(&[empty], says(&said, "middle"))?;
    graph.add_dependencies(&[(*middle, *last)])?;
    run(machine, &graph)?;
    equal("order", &*said.lock(), &vec!["first", "middle", "last"])?;
    // The other way round.
    // SAFETY: there are no kernels.
    unsafe { graph.remove_dependencies(&[(*middle, *last), (*first, empty)]) }?;
    graph.add_dependencies(&[(*last, empty), (*middle, *first)])?;
    said.lock().clear();
    run(machine, &graph)?;
    equal("order", &*said.lock(), &vec!["last", "middle", "first"])?;
    equal("roots", &graph.root_nodes()?, &vec![*last])?;
    let twice = graph.add_dependencies(&[(*last, empty)]);
    equal("twice", &twice.err().and_then(|error| error.code()), &Some(CUresult::CUDA_ERROR_INVALID_VALUE))
}

fn sorted(mut nodes: Vec<Node<'_>>) -> Vec<Node<'_>> {
    nodes.sort_unstable_by_key(|node| node.as_raw());
    nodes
}

fn places(machine: &Machine) -> Result<(), Failed> {
    let graph = Graph::new(&machine.context)?;
    equal("nodes", &graph.nodes()?, &Vec::new())?;
    equal("edges", &graph.edges()?.len(), &0)?;
    let first = graph.add_host_node(&[], || ())?;
    // SAFETY: the graph is never launched.
    let kernel = unsafe { graph.add_kernel_node(&[*first], &machine.fill, &LaunchConfig::new(1, 1), (0, 0, 0)) }?;
    let empty = graph.add_empty_node(&[*first])?;
    let last = graph.add_host_node(&[*kernel, empty], || ())?;
    equal("nodes", &sorted(graph.nodes()?), &sorted(vec![*first, *kernel, empty, *last]))?;
    equal("dependencies", &sorted(last.dependencies()?), &sorted(vec![*kernel, empty]))?;
    equal("dependents", &sorted(first.dependent_nodes()?), &sorted(vec![*kernel, empty]))?;
    check(first.dependencies()?.is_empty() && last.dependent_nodes()?.is_empty(), || "at the ends".to_owned())?;
    let mut edges = graph.edges()?;
    edges.sort_unstable_by_key(|(from, to)| (from.as_raw(), to.as_raw()));
    let mut expected = vec![(*first, *kernel), (*first, empty), (*kernel, *last), (empty, *last)];
    expected.sort_unstable_by_key(|(from, to)| (from.as_raw(), to.as_raw()));
    equal("edges", &edges, &expected)?;
    equal("kind", &first.kind()?, &CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST)?;
    equal("kind", &empty.kind()?, &CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY)?;
    equal("as a host node", &first.as_host_node()?, &Some(first))?;
    check(kernel.as_host_node()?.is_none() && kernel.as_kernel_node()?.is_some(), || "the kernel node".to_owned())?;
    check(first.as_child_graph_node()?.is_none(), || "a child".to_owned())
}

fn another_graph(machine: &Machine) -> Result<(), Failed> {
    let (graph, other) = (Graph::new(&machine.context)?, Graph::new(&machine.context)?);
    let foreign = other.add_host_node(&[], || ())?;
    let drops = Drops::default();
    let value = drops.value();
    let (error, closure) = graph.add_host_node(&[*foreign], move || touch(&value)).unwrap_err().into_parts();
    check(matches!(error, Error::Invalid(_)), || format!("{error}"))?;
    equal("dropped", &drops.count(), &0)?;
    graph.add_host_node(&[], closure)?;
    let edge = graph.add_dependencies(&[(graph.nodes()?[0], *foreign)]);
    check(matches!(edge, Err(Error::Invalid(_))), || format!("{edge:?}"))?;
    check(matches!(graph.add_empty_node(&[*foreign]), Err(Error::Invalid(_))), || "empty".to_owned())?;
    let child = graph.add_child_graph_node(&[*foreign], &other);
    check(matches!(child, Err(Error::Invalid(_))), || "child".to_owned())?;
    equal("nodes", &graph.nodes()?.len(), &1)?;
    drop(graph);
    soon("dropped", || drops.count() == 1)
}

unsafe extern "C" fn send(sender: *mut std::ffi::c_void) {
    // SAFETY: the trial passes a sender that outlives the call.
    let _ = unsafe { &*sender.cast::<std::sync::mpsc::Sender<()>>() }.send(());
}

fn raw(machine: &Machine) -> Result<(), Failed> {
    let (sender, receiver) = channel::<()>();
    let graph = Graph::new(&machine.context)?;
    let data = std::ptr::from_ref(&sender).cast_mut().cast();
    // SAFETY: the sender outlives the launch.
    let node = unsafe { graph.add_host_node_raw(&[], Some(send), data) }?;
    run(machine, &graph)?;
    equal("called", &receiver.try_iter().count(), &1)?;
    // SAFETY: there is no function.
    let none = unsafe { graph.add_host_node_raw(&[], None, data) };
    equal("NULL", &none.err().and_then(|error| error.code()), &Some(CUresult::CUDA_ERROR_INVALID_VALUE))?;
    // A closure takes its place; nothing of it was this crate's.
    let said = Said::default();
    node.replace(says(&said, "a closure"))?;
    run(machine, &graph)?;
    equal("called", &receiver.try_iter().count(), &0)?;
    equal("said", &*said.lock(), &vec!["a closure"])
}

fn clones(machine: &Machine) -> Result<(), Failed> {
    let said = Said::default();
    let graph = Graph::new(&machine.context)?;
    let first = graph.add_host_node(&[], says(&said, "first"))?;
    let second = graph.add_host_node(&[*first], says(&said, "second"))?;
    let clone = graph.try_clone()?;
    let found = clone.find_in_clone(*second)?.as_host_node()?.ok_or("no host node")?;
    check(found != second, || "the same node".to_owned())?;
    found.replace(says(&said, "in the clone"))?;
    run(machine, &graph)?;
    run(machine, &clone)?;
    equal("said", &*said.lock(), &vec!["first", "second", "first", "in the clone"])?;
    let none = graph.find_in_clone(*second);
    equal("no clone", &none.err().and_then(|error| error.code()), &Some(CUresult::CUDA_ERROR_INVALID_VALUE))
}

fn children(machine: &Machine) -> Result<(), Failed> {
    let (said, drops) = (Said::default(), Drops::default());
    let child = Graph::new(&machine.context)?;
    let mut says_child = says(&said, "child");
    let value = drops.value();
    child.add_host_node(&[], move || {
        touch(&value);
        says_child();
    })?;
    let parent = Graph::new(&machine.context)?;
    let before = parent.add_host_node(&[], says(&said, "before"))?;
    let node: ChildGraphNode<'_> = parent.add_child_graph_node(&[*before], &child)?;
    parent.add_host_node(&[*node], says(&said, "after"))?;
    // What comes now is not the node's.
    child.add_host_node(&[], says(&said, "too late"))?;
    drop(child);
    run(machine, &parent)?;
    equal("said", &*said.lock(), &vec!["before", "child", "after"])?;
    equal("dropped", &drops.count(), &0)?;
    let inner = node.as_child_graph_node()?.ok_or("not a child")?.child_graph()?;
    let nodes = inner.nodes()?;
    equal("nodes", &nodes.len(), &1)?;
    nodes[0].as_host_node()?.ok_or("no host node")?.replace(says(&said, "replaced"))?;
    soon("the closure that was replaced", || drops.count() == 1)?;
    said.lock().clear();
    run(machine, &parent)?;
    equal("said", &*said.lock(), &vec!["before", "replaced", "after"])
}

fn captured(machine: &Machine) -> Result<(), Failed> {
    let (stream, said, drops) = (machine.stream()?, Said::default(), Drops::default());
    let value = drops.value();
    let graph = stream.capture(CaptureMode::ThreadLocal, |stream| {
        stream.host_launch(move || touch(&value))?;
        stream.host_launch(says(&said, "second"))?;
        Ok(())
    })?;
    let roots = graph.root_nodes()?;
    equal("roots", &roots.len(), &1)?;
    let first = roots[0].as_host_node()?.ok_or("no host node")?;
    equal("after it", &first.dependent_nodes()?.len(), &1)?;
    first.replace(says(&said, "first"))?;
    soon("the captured closure", || drops.count() == 1)?;
    run(machine, &graph)?;
    equal("said", &*said.lock(), &vec!["first", "second"])
}

fn spin_wait(machine: &Machine) -> Result<(), Failed> {
    let said = Said::default();
    let graph = Graph::new(&machine.context)?;
    let result = graph.add_host_node_in_sync_mode(&[], SyncMode::SpinWait, says(&said, "spinning"));
    if driver::symbol(c"cuLaunchHostFunc_v2").is_none() {
        let (error, _closure) = result.unwrap_err().into_parts();
        return check(matches!(error, Error::MissingFunction(_)), || format!("{error}"));
    }
    let first = result?;
    graph.add_host_node_in_sync_mode(&[*first], SyncMode::SpinWait, says(&said, "again"))?;
    run(machine, &graph)?;
    equal("said", &*said.lock(), &vec!["spinning", "again"])
}

fn kernel_node(machine: &Machine) -> Result<(), Failed> {
    let graph = Graph::new(&machine.context)?;
    // SAFETY: it writes nothing.
    let added = unsafe { graph.add_kernel_node(&[], &machine.fill, &LaunchConfig::new(1, 1), (0, 0, 0)) };
    let since = CudaVersion::new(12, 0);
    match added {
        Ok(_) => check(machine.knows(since), || "added before there were any".to_owned()),
        Err(Error::MissingFunction(error)) if !machine.knows(since) => equal("since", &error.since(), &Some(since)),
        Err(error) => Err(error.into()),
    }
}

fn priorities(machine: &Machine) -> Result<(), Failed> {
    let graph = Graph::new(&machine.context)?;
    let host = graph.add_host_node(&[], || ())?;
    // SAFETY: it writes nothing.
    let kernel = unsafe { graph.add_kernel_node(&[*host], &machine.fill, &LaunchConfig::new(1, 1), (0, 0, 0)) }?;
    let highest = machine.context.priority_range()?.highest();
    kernel.set_attribute(highest)?;
    let clone = graph.try_clone()?;
    let copied = clone.find_in_clone(*kernel)?.as_kernel_node()?.ok_or("no kernel node")?;
    equal("priority", &copied.attribute::<Priority>()?, &highest)?;
    let stream = machine.stream()?;
    for yes in [false, true] {
        graph.instantiate(InstantiateOptions::new().use_node_priority(yes))?.launch(&stream)?;
    }
    Ok(stream.synchronize()?)
}

fn flags(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let said = Said::default();
    let uploads = || Client::of_loaded_driver().map(|driver| driver.calls("cuGraphUpload"));
    let before = uploads();
    let graph = Graph::new(&machine.context)?;
    graph.add_host_node(&[], says(&said, "called"))?;
    for options in [InstantiateOptions::new(), InstantiateOptions::new().auto_free_on_launch(true)] {
        let executable = graph.instantiate(options)?;
        executable.upload(&stream)?;
        executable.launch(&stream)?;
    }
    stream.synchronize()?;
    equal("said", &said.lock().len(), &2)?;
    // They have no effect that a program could see; the simulated driver counts them.
    equal("uploads", &uploads(), &before.map(|before| before + 2))?;
    let device = graph.instantiate(InstantiateOptions::new().device_launch(true));
    check(device.is_err(), || "a graph with a host node that kernels launch".to_owned())
}

fn picture(machine: &Machine) -> Result<(), Failed> {
    let graph = Graph::new(&machine.context)?;
    let first = graph.add_host_node(&[], || ())?;
    graph.add_host_node(&[*first], || ())?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("graph.dot");
    graph.debug_dot_print(&file, CUgraphDebugDot_flags(0))?;
    let text = std::fs::read_to_string(file)?;
    check(text.starts_with("digraph") && text.contains("->"), || text.clone())?;
    let nowhere = graph.debug_dot_print(folder.path().join("no/such/folder"), CUgraphDebugDot_flags(0));
    check(nowhere.is_err(), || "written nowhere".to_owned())?;
    check(matches!(graph.debug_dot_print("a\0b", CUgraphDebugDot_flags(0)), Err(Error::Invalid(_))), || {
        "NUL".to_owned()
    })
}
