//! Device faults. Each is done by a child, whose context is gone afterwards.

use cuda_hostfn::{Graph, LaunchConfig, Module};
use libtest_mimic::Failed;
use simulated_driver_client::KERNELS;
use tests::{Drops, Machine, Row, check, children::ask, equal, soon, touch};

pub const TRIALS: &[Row] = &[
    ("lost: closures of graphs are dropped after a fault", |_| ask("fault")),
    ("lost: a process ends with graphs that run", |_| ask("exit")),
];

/// What the children do.
pub const QUESTIONS: &[Row] = &[("fault", fault), ("exit", exit)];

fn fault(machine: &Machine) -> Result<(), Failed> {
    let (stream, drops) = (machine.stream()?, Drops::default());
    let graph = Graph::new(&machine.context)?;
    let (value, other) = (drops.value(), drops.value());
    let node = graph.add_host_node(&[], move || touch(&value))?;
    let mut executable = graph.instantiate(Default::default())?;
    executable.replace_host_node(node, move || touch(&other))?;
    let trap = Module::from_ptx(&machine.context, KERNELS)?.kernel::<()>("trap")?;
    // SAFETY: it touches no memory.
    unsafe { trap.launch(&stream, &LaunchConfig::new(1, 1), ()) }?;
    // Accepted or not, it is never called.
    let _ = executable.launch(&stream);
    check(stream.synchronize().is_err(), || "no fault".to_owned())?;
    equal("dropped", &drops.count(), &0)?;
    check(executable.launch(&stream).is_err(), || "launched after a fault".to_owned())?;
    let refused = executable.replace_host_node(node, || ());
    drop(refused);
    drop((executable, graph));
    soon("dropped", || drops.count() == 2)?;
    check(drops.all_here(), || "dropped on another thread".to_owned())
}

fn exit(machine: &Machine) -> Result<(), Failed> {
    let stream = machine.stream()?;
    let graph = Graph::new(&machine.context)?;
    let value = machine.pinned(16)?;
    graph.add_host_node(&[], move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        touch(&value);
    })?;
    let executable = graph.instantiate(Default::default())?;
    executable.launch(&stream)?;
    executable.launch(&stream)?;
    std::mem::forget((stream, graph, executable));
    Ok(())
}
