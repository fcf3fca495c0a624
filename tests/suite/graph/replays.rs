//! Graphs that run again and again, and at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use cuda_hostfn::{CaptureMode, Graph, LaunchConfig, host};
use libtest_mimic::Failed;
use tests::{Drops, Machine, Row, check, equal, soon, touch};

pub const TRIALS: &[Row] = &[
    ("replays: a closure between two kernels sees every result in order, 10,000 times", between_kernels),
    ("replays: two executable graphs in two streams at once", twice_at_once),
    ("replays: one executable graph in two streams in turn", once_in_two_streams),
    ("replays: a closure that panics each time", panics),
];

const REPLAYS: u32 = 10_000;

/// What the closure of [`between_kernels`] has seen.
#[derive(Default)]
struct Seen {
    calls: AtomicU32,
    /// The kernel before it had not run, or the one after it had.
    early: AtomicU32,
    /// The kernel after it had not run when the next replay began.
    late: AtomicU32,
}

fn between_kernels(machine: &Machine) -> Result<(), Failed> {
    const BEFORE: u32 = 1;
    const CALLED: u32 = 2;
    const AFTER: u32 = 3;
    let (stream, seen) = (machine.stream()?, Arc::new(Seen::default()));
    // The first word says who was there last; the second, whether the last kernel was there since the closure.
    let words = Arc::new(machine.pinned(2)?);
    let address = words.device_address();
    let config = LaunchConfig::new(1, 2);
    let (watched, tally) = (words.clone(), seen.clone());
    let graph = stream.capture(CaptureMode::ThreadLocal, |stream| {
        // SAFETY: the words are there until the stream is done.
        unsafe { machine.fill.launch(stream, &config, (address, 1, BEFORE)) }?;
        stream.host_launch(move || {
            let calls = tally.calls.fetch_add(1, Ordering::Relaxed);
            let [last, since] = watched.words() else { return };
            tally.early.fetch_add(u32::from(last.swap(CALLED, Ordering::SeqCst) != BEFORE), Ordering::Relaxed);
            let is_late = calls > 0 && since.swap(0, Ordering::SeqCst) != AFTER;
            tally.late.fetch_add(u32::from(is_late), Ordering::Relaxed);
        })?;
        // SAFETY: as above.
        unsafe { machine.fill.launch(stream, &config, (address, 2, AFTER)) }?;
        Ok(())
    })?;
    let executable = graph.instantiate(Default::default())?;
    for _ in 0..REPLAYS {
        executable.launch(&stream)?;
    }
    stream.synchronize()?;
    equal("calls", &seen.calls.load(Ordering::Relaxed), &REPLAYS)?;
    equal("early", &seen.early.load(Ordering::Relaxed), &0)?;
    equal("late", &seen.late.load(Ordering::Relaxed), &0)?;
    let last = words.words().iter().map(|word| word.load(Ordering::SeqCst)).collect::<Vec<_>>();
    equal("the last kernel came last", &last, &vec![AFTER; 2])?;
    drop((executable, graph));
    soon("the closure is dropped", || Arc::strong_count(&seen) == 1)
}

/// A graph with one closure that counts, and notices if it is called twice at once.
fn counting(machine: &Machine, drops: &Drops) -> Result<(Graph, Arc<AtomicU32>, Arc<AtomicU32>), Failed> {
    let (calls, overlaps, is_running) =
        (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)), AtomicBool::new(false));
    let (count, overlap, value) = (calls.clone(), overlaps.clone(), drops.value());
    let graph = Graph::new(&machine.context)?;
    graph.add_host_node(&[], move || {
        touch(&value);
        overlap.fetch_add(u32::from(is_running.swap(true, Ordering::SeqCst)), Ordering::Relaxed);
        count.fetch_add(1, Ordering::Relaxed);
        is_running.store(false, Ordering::SeqCst);
    })?;
    Ok((graph, calls, overlaps))
}

fn twice_at_once(machine: &Machine) -> Result<(), Failed> {
    const LAUNCHES: u32 = 1000;
    let (first, second, drops) = (machine.stream()?, machine.stream()?, Drops::default());
    let (graph, calls, overlaps) = counting(machine, &drops)?;
    let (one, other) = (graph.instantiate(Default::default())?, graph.instantiate(Default::default())?);
    drop(graph);
    // Each from a thread of its own, too.
    std::thread::scope(|scope| {
        let launches = [(one, &first), (other, &second)].map(|(executable, stream)| {
            scope.spawn(move || -> Result<(), Failed> {
                for _ in 0..LAUNCHES {
                    executable.launch(stream)?;
                }
                // Dropped with launches pending.
                Ok(())
            })
        });
        launches.into_iter().try_for_each(|launch| launch.join().map_err(|_| "panicked")?)
    })?;
    first.synchronize()?;
    second.synchronize()?;
    equal("calls", &calls.load(Ordering::Relaxed), &(2 * LAUNCHES))?;
    equal("calls at once", &overlaps.load(Ordering::Relaxed), &0)?;
    soon("dropped", || drops.count() == 1)
}

fn once_in_two_streams(machine: &Machine) -> Result<(), Failed> {
    const LAUNCHES: u32 = 500;
    let (first, second, drops) = (machine.stream()?, machine.stream()?, Drops::default());
    let (graph, calls, overlaps) = counting(machine, &drops)?;
    let executable = graph.instantiate(Default::default())?;
    for _ in 0..LAUNCHES {
        executable.launch(&first)?;
        executable.launch(&second)?;
    }
    first.synchronize()?;
    second.synchronize()?;
    equal("calls", &calls.load(Ordering::Relaxed), &(2 * LAUNCHES))?;
    equal("calls at once", &overlaps.load(Ordering::Relaxed), &0)?;
    drop((executable, graph));
    soon("dropped", || drops.count() == 1)
}

fn panics(machine: &Machine) -> Result<(), Failed> {
    let (stream, drops) = (machine.stream()?, Drops::default());
    let told = Arc::new(AtomicU32::new(0));
    let tell = told.clone();
    host::set_panic_handler(Some(Box::new(move |_| touch(tell.fetch_add(1, Ordering::Relaxed)))));
    let before = host::counters().panics;
    let (graph, calls, _) = counting(machine, &drops)?;
    let (value, node) = (drops.value(), graph.nodes()?[0]);
    graph.add_host_node(&[node], move || {
        touch(&value);
        panic!("each time");
    })?;
    let executable = graph.instantiate(Default::default())?;
    for _ in 0..10 {
        executable.launch(&stream)?;
    }
    stream.synchronize()?;
    host::set_panic_handler(None);
    equal("counted", &(host::counters().panics - before), &10)?;
    equal("told", &told.load(Ordering::Relaxed), &10)?;
    // The graph is as usable as before.
    graph.instantiate(Default::default())?.launch(&stream)?;
    stream.synchronize()?;
    equal("calls", &calls.load(Ordering::Relaxed), &11)?;
    drop((executable, graph));
    soon("dropped", || drops.count() == 2)?;
    check(drops.all_here(), || "dropped on another thread".to_owned())
}
