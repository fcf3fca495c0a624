//! Attributes of launches.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use cuda_hostfn::attribute::place::{Launches, Nodes};
use cuda_hostfn::attribute::{
    AccessPolicyWindow, CATALOGUE, ClusterDimension, ClusterSchedulingPolicy, Cooperative, DeviceUpdatable, Ignore,
    LaunchCompletionEvent, MemSyncDomain, MemSyncDomainMap, NvlinkUtilCentricScheduling, PortableClusterSizeMode,
    PreferredClusterDimension, PreferredSharedMemoryCarveout, ProgrammaticEvent, ProgrammaticStreamSerialization,
    RawAttribute, ReadableFrom, SharedMemoryMode, ValidFor,
};
use cuda_hostfn::sys::CUresult;
use cuda_hostfn::{
    CaptureMode, CaptureStatus, Event, EventOptions, InstantiateOptions, LaunchConfig, Launched, Priority, Stream,
    StreamOptions, StreamRef,
};
use libtest_mimic::Failed;
use tests::{Machine, Words, check, equal};

use crate::Run;
use crate::expect::{all_covered, elsewhere, invalid, refused};

pub const TRIALS: &[(&str, Run)] = &[
    ("launches: a kernel runs with its arguments", runs),
    ("launches: every attribute that the table offers is honoured", all),
    ("launches: every attribute is honoured while capturing", all_capturing),
    ("launches: a synchronization policy is refused, a cooperative launch is not", policy),
    ("launches: a capture survives exactly the refusals that the driver says", captures),
    ("launches: an explicit priority of 0 is not the same as none", priority_zero),
    ("launches: of two of a kind the last counts", duplicates),
    ("launches: an absent optional attribute is not given", optional),
    ("launches: one configuration from 8 threads", eight_threads),
    ("launches: nothing is allocated", no_allocation),
    ("launches: a device-updatable node's handle comes back", device_node),
    ("launches: rules are checked before the driver", rules),
];

type Config<A> = LaunchConfig<A>;

const GRID: u32 = 16;
const BLOCK: u32 = 32;

/// A launch of the shape that the trials use, which writes nothing.
fn launch<L: cuda_hostfn::launch::Attributes>(
    machine: &Machine,
    stream: &StreamRef,
    config: &Config<L>,
) -> cuda_hostfn::Result<Launched> {
    // SAFETY: the arguments say no word is written.
    unsafe { machine.fill.launch(stream, config, (0, 0, 0)) }
}

fn plain() -> Config<()> {
    LaunchConfig::new(GRID, BLOCK)
}

fn runs(machine: &Machine) -> Result<(), Failed> {
    let words = machine.words(1000)?;
    let stream = Stream::new(&machine.context)?;
    // SAFETY: the words are there until the stream is done.
    unsafe { machine.fill.launch(&stream, &LaunchConfig::new(32, 32), (words.address, 1000, 7)) }?;
    stream.synchronize()?;
    equal("the words", &words.read()?, &vec![7; 1000])
}

/// Launches with one attribute, unless it is newer than the driver, which then must say so.
fn with<A: ValidFor<Launches> + Copy>(machine: &Machine, stream: &StreamRef, attribute: A) -> Result<u32, Failed> {
    let row = CATALOGUE.iter().find(|row| row.id == attribute.id()).ok_or("not in the table")?;
    let result = launch(machine, stream, &plain().attribute(attribute));
    if machine.knows(row.since) {
        result.map_err(|error| format!("{}: {error}", row.name))?;
    } else {
        refused(row.name, result, CUresult::CUDA_ERROR_INVALID_VALUE)?;
    }
    if stream.capture_status()? == CaptureStatus::None {
        stream.synchronize()?;
    }
    Ok(row.id)
}

/// All that can be given to a launch at any time.
fn each(machine: &Machine, stream: &StreamRef, words: &Words) -> Result<Vec<u32>, Failed> {
    let event = EventOptions::new().disable_timing(true).create(&machine.context)?;
    let mut covered = vec![
        with(machine, stream, Ignore)?,
        with(machine, stream, AccessPolicyWindow::new(words.address, 4096).with_hit_ratio(1.0)?)?,
        with(machine, stream, Cooperative(true))?,
        with(machine, stream, ProgrammaticStreamSerialization(true))?,
        with(machine, stream, ProgrammaticEvent::new(&event)?.trigger_at_block_start(true))?,
        with(machine, stream, machine.context.priority_range()?.highest())?,
        with(machine, stream, MemSyncDomainMap { default: 0, remote: 1 })?,
        with(machine, stream, MemSyncDomain::Remote)?,
        with(machine, stream, LaunchCompletionEvent::new(&event)?)?,
        with(machine, stream, PreferredSharedMemoryCarveout::percent(50)?)?,
        with(machine, stream, NvlinkUtilCentricScheduling(true))?,
        with(machine, stream, PortableClusterSizeMode::RequirePortable)?,
        with(machine, stream, SharedMemoryMode::RequirePortable)?,
    ];
    if machine.has_clusters() {
        covered.push(with(machine, stream, ClusterDimension::new(2, 1, 1)?)?);
        covered.push(with(machine, stream, ClusterSchedulingPolicy::Spread)?);
        let clusters = plain().attribute(ClusterDimension::new(2, 1, 1)?);
        launch(machine, stream, &clusters.attribute(PreferredClusterDimension::new(4, 1, 1)?))?;
        covered.push(11);
    } else {
        covered.extend([4, 5, 11]);
    }
    Ok(covered)
}

fn all(machine: &Machine) -> Result<(), Failed> {
    let stream = Stream::new(&machine.context)?;
    let words = machine.words(1024)?;
    let mut covered = each(machine, &stream, &words)?;
    stream.synchronize()?;
    // The one that a stream takes only while it captures.
    let updatable = launch(machine, &stream, &plain().attribute(DeviceUpdatable::YES));
    refused("device-updatable", updatable, CUresult::CUDA_ERROR_NOT_SUPPORTED)?;
    covered.push(13);
    all_covered(&covered, |row| row.set.launches)
}

fn all_capturing(machine: &Machine) -> Result<(), Failed> {
    let stream = Stream::new(&machine.context)?;
    let words = machine.words(1024)?;
    stream.begin_capture(CaptureMode::ThreadLocal)?;
    let covered = each(machine, &stream, &words);
    let status = stream.capture_status()?;
    let graph = stream.end_capture();
    let mut covered = covered?;
    equal("status", &status, &CaptureStatus::Active)?;
    graph?.instantiate(InstantiateOptions::new())?.launch(&stream)?;
    stream.synchronize()?;
    covered.push(13); // `device_node` captures it.
    all_covered(&covered, |row| row.set.launches)
}

fn policy(machine: &Machine) -> Result<(), Failed> {
    let stream = Stream::new(&machine.context)?;
    for policy in 1..=4_i32 {
        // SAFETY: an integer; the driver refuses what it does not know.
        let raw = unsafe { RawAttribute::from_bytes(3, &policy.to_ne_bytes()) }.ok_or("4 bytes fit")?;
        refused("policy", launch(machine, &stream, &plain().attribute(raw)), CUresult::CUDA_ERROR_INVALID_VALUE)?;
        launch(machine, &stream, &plain().attribute(Cooperative(true)))?;
        stream.synchronize()?;
    }
    Ok(())
}

fn captures(machine: &Machine) -> Result<(), Failed> {
    let raw = |id, value: &[u32]| {
        let bytes: Vec<u8> = value.iter().flat_map(|word| word.to_ne_bytes()).collect();
        // SAFETY: integers; the driver refuses what it does not know.
        unsafe { RawAttribute::from_bytes(id, &bytes) }.ok_or("they fit")
    };
    let (value, cluster) = (CUresult::CUDA_ERROR_INVALID_VALUE, CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE);
    let (active, invalidated) = (CaptureStatus::Active, CaptureStatus::Invalidated);
    let mut rows = vec![
        (raw(3, &[1])?, value, active),
        (raw(999, &[1])?, value, active),
        (raw(14, &[101])?, value, active),
        (raw(10, &[7])?, value, active),
    ];
    if machine.has_clusters() {
        rows.push((raw(4, &[3, 1, 1])?, cluster, invalidated));
        rows.push((raw(4, &[2, 0, 0])?, cluster, active));
    }
    for (attribute, code, expected) in rows {
        let stream = Stream::new(&machine.context)?;
        stream.begin_capture(CaptureMode::ThreadLocal)?;
        let result = launch(machine, &stream, &plain().attribute(attribute));
        let status = stream.capture_status()?;
        let ended = stream.end_capture();
        refused("launch", result, code)?;
        equal(&format!("after {attribute:?}"), &status, &expected)?;
        match expected {
            CaptureStatus::Invalidated => refused("end", ended, CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)?,
            _ => drop(ended?),
        }
        equal("afterwards", &stream.capture_status()?, &CaptureStatus::None)?;
        launch(machine, &stream, &plain())?;
        stream.synchronize()?;
    }
    Ok(())
}

/// An attribute of the one node that a launch becomes.
fn captured<A: ReadableFrom<Nodes>>(
    machine: &Machine,
    stream: &StreamRef,
    config: &Config<impl cuda_hostfn::launch::Attributes>,
) -> Result<A, Failed> {
    stream.begin_capture(CaptureMode::ThreadLocal)?;
    let result = launch(machine, stream, config);
    let graph = stream.end_capture()?;
    result?;
    let nodes = graph.kernel_nodes()?;
    check(nodes.len() == 1, || format!("{} nodes", nodes.len()))?;
    Ok(nodes[0].attribute()?)
}

fn priority_zero(machine: &Machine) -> Result<(), Failed> {
    let highest = machine.context.priority_range()?.highest();
    let stream = StreamOptions::new().priority(highest).create(&machine.context)?;
    let read = |config: &Config<_>| captured::<Priority>(machine, &stream, config);
    equal("explicit", &read(&plain().attribute(Some(Priority::DEFAULT)))?, &Priority::DEFAULT)?;
    equal("none", &read(&plain().attribute(None))?, &highest)
}

fn duplicates(machine: &Machine) -> Result<(), Failed> {
    let highest = machine.context.priority_range()?.highest();
    let stream = Stream::new(&machine.context)?;
    let read = |config: &Config<_>| captured::<Priority>(machine, &stream, config);
    equal("0 last", &read(&plain().attribute(highest).attribute(Priority::DEFAULT))?, &Priority::DEFAULT)?;
    equal("highest last", &read(&plain().attribute(Priority::DEFAULT).attribute(highest))?, &highest)?;
    if machine.has_clusters() {
        // The driver itself would skip the second.
        let config = plain().attribute(ClusterDimension::new(4, 1, 1)?).attribute(ClusterDimension::NONE);
        let cluster = captured::<ClusterDimension>(machine, &stream, &config)?;
        equal("no cluster last", &cluster, &ClusterDimension::NONE)?;
    }
    Ok(())
}

fn optional(machine: &Machine) -> Result<(), Failed> {
    let stream = Stream::new(&machine.context)?;
    let read = |config: &Config<_>| captured::<Cooperative>(machine, &stream, config);
    equal("given", &read(&plain().attribute(Some(Cooperative(true))))?, &Cooperative(true))?;
    equal("not given", &read(&plain().attribute(None::<Cooperative>))?, &Cooperative(false))
}

fn eight_threads(machine: &Machine) -> Result<(), Failed> {
    const LENGTH: u32 = GRID * BLOCK;
    let config = plain().attribute(Cooperative(true)).attribute(machine.context.priority_range()?.highest());
    std::thread::scope(|scope| {
        let work = |value: u32| {
            let config = &config;
            scope.spawn(move || -> Result<(), Failed> {
                let words = machine.words(LENGTH)?;
                let stream = StreamOptions::new().non_blocking(true).create(&machine.context)?;
                for round in 0..200 {
                    // SAFETY: the words are there until the stream is done.
                    unsafe { machine.fill.launch(&stream, config, (words.address, LENGTH, value + round)) }?;
                }
                stream.synchronize()?;
                equal("the words", &words.read()?, &vec![value + 199; LENGTH as usize])
            })
        };
        let threads: Vec<_> = (1..=8).map(|thread| work(1000 * thread)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| Failed::from("a thread panicked"))?)
    })
}

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts what this thread allocates in Rust.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn no_allocation(machine: &Machine) -> Result<(), Failed> {
    let stream = Stream::new(&machine.context)?;
    let event = EventOptions::new().disable_timing(true).create(&machine.context)?;
    let config = plain()
        .attribute(Cooperative(true))
        .attribute(machine.context.priority_range()?.highest())
        .attribute(LaunchCompletionEvent::new(&event)?);
    launch(machine, &stream, &config)?;
    let run = || -> cuda_hostfn::Result<()> {
        for _ in 0..100 {
            launch(machine, &stream, &config)?;
            stream.set_attribute(MemSyncDomain::Default)?;
            stream.attribute::<MemSyncDomain>()?;
        }
        Ok(())
    };
    let before = ALLOCATIONS.get();
    run()?;
    equal("allocations", &(ALLOCATIONS.get() - before), &0)?;
    stream.synchronize()?;
    // The counter counts.
    drop(Box::new(1));
    check(ALLOCATIONS.get() > before, || "an allocation was not counted".to_owned())
}

fn device_node(machine: &Machine) -> Result<(), Failed> {
    let stream = Stream::new(&machine.context)?;
    let config = plain().attribute(DeviceUpdatable::YES);
    for _ in 0..2 {
        stream.begin_capture(CaptureMode::ThreadLocal)?;
        let launched = launch(machine, &stream, &config);
        let graph = stream.end_capture()?;
        let node = launched?.device_node;
        check(node.is_some(), || "no handle came back".to_owned())?;
        let read = graph.kernel_nodes()?[0].attribute::<DeviceUpdatable>()?;
        equal("the node's own", &read.device_node(), &node)?;
    }
    equal("without it", &launch(machine, &stream, &plain())?.device_node, &None)?;
    Ok(stream.synchronize()?)
}

fn rules(machine: &Machine) -> Result<(), Failed> {
    let stream = Stream::new(&machine.context)?;
    invalid("grid.y", launch(machine, &stream, &LaunchConfig::new((1, 0, 1), 1)))?;
    invalid("block.x", launch(machine, &stream, &LaunchConfig::new(1, (0, 1, 1))))?;
    invalid("block", launch(machine, &stream, &LaunchConfig::new(1, (1024, 2, 1))))?;
    let cluster = |x| ClusterDimension::new(x, 1, 1);
    invalid("grid", launch(machine, &stream, &plain().attribute(cluster(3)?)))?;
    let preferred = |x| PreferredClusterDimension::new(x, 1, 1);
    let both = plain().attribute(cluster(2)?).attribute(preferred(3)?);
    invalid("PreferredClusterDimension", launch(machine, &stream, &both))?;
    invalid("PreferredClusterDimension", launch(machine, &stream, &plain().attribute(preferred(2)?)))?;
    let timed = EventOptions::new().create(&machine.context)?;
    invalid("ProgrammaticEvent.event", ProgrammaticEvent::new(&timed))?;
    invalid("LaunchCompletionEvent.event", LaunchCompletionEvent::new(&timed))?;
    // What is not known of a foreign event, the driver checks.
    // SAFETY: `into_raw` gave the event up.
    let foreign = unsafe { Event::from_raw(&machine.context, timed.into_raw()) };
    let config = plain().attribute(ProgrammaticEvent::new(&foreign)?);
    refused("a timed event", launch(machine, &stream, &config), CUresult::CUDA_ERROR_NOT_SUPPORTED)?;
    // From a thread without a context, as well.
    elsewhere(|| Ok(launch(machine, &stream, &plain())?))?;
    Ok(stream.synchronize()?)
}
