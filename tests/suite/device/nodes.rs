//! Attributes of kernel nodes in graphs.

use std::fmt::Debug;

use cuda_hostfn::attribute::place::Nodes;
use cuda_hostfn::attribute::{
    AccessPolicyWindow, Attribute, CATALOGUE, ClusterDimension, ClusterSchedulingPolicy, Cooperative, DeviceUpdatable,
    MemSyncDomain, MemSyncDomainMap, NvlinkUtilCentricScheduling, PortableClusterSizeMode,
    PreferredSharedMemoryCarveout, ReadableFrom, SharedMemoryMode, ValidFor,
};
use cuda_hostfn::sys::{self, CUDA_KERNEL_NODE_PARAMS, CUresult};
use cuda_hostfn::{Graph, InstantiateOptions, KernelNode, LaunchConfig, Node, Priority, Stream};
use libtest_mimic::Failed;
use tests::{Machine, check, equal};

use crate::Run;
use crate::expect::{all_covered, elsewhere, refused};

pub const TRIALS: &[(&str, Run)] = &[
    ("nodes: every attribute that the table offers is honoured", all),
    ("nodes: the kernel's launch is the node's", launch),
    ("nodes: attributes are copied", copied),
    ("nodes: they run in order with their attributes", run_in_order),
    ("nodes: a device-updatable node gives its handle, and a graph of it one executable", device_updatable),
    ("nodes: a thread without a context can add and set them", without_context),
];

fn add<'g>(machine: &Machine, graph: &'g Graph, after: &[Node<'g>]) -> cuda_hostfn::Result<KernelNode<'g>> {
    // SAFETY: the arguments say no word is written.
    unsafe { graph.add_kernel_node(after, &machine.fill, &LaunchConfig::new(16, 32), (0, 0, 0)) }
}

fn launch(machine: &Machine) -> Result<(), Failed> {
    let graph = Graph::new(&machine.context)?;
    let config = LaunchConfig::new((2, 3, 4), (8, 4, 2)).dynamic_shared_memory(256);
    // SAFETY: the arguments say no word is written.
    let node = unsafe { graph.add_kernel_node(&[], &machine.fill, &config, (0, 0, 0)) }?;
    let mut found = CUDA_KERNEL_NODE_PARAMS::default();
    // SAFETY: the handle lives; the pointer is valid for a write.
    let code =
        machine.context.with_current(|| unsafe { sys::cuGraphKernelNodeGetParams(node.as_raw(), &raw mut found) })?;
    equal("code", &code, &CUresult::CUDA_SUCCESS)?;
    equal("function", &found.func, &machine.fill.as_raw())?;
    equal("grid", &(found.gridDimX, found.gridDimY, found.gridDimZ), &(2, 3, 4))?;
    equal("block", &(found.blockDimX, found.blockDimY, found.blockDimZ), &(8, 4, 2))?;
    equal("shared memory", &found.sharedMemBytes, &256)
}

fn all(machine: &Machine) -> Result<(), Failed> {
    let words = machine.words(1024)?;
    let graph = Graph::new(&machine.context)?;
    let node = || add(machine, &graph, &[]);
    let mut covered = vec![
        round_trip(machine, node()?, AccessPolicyWindow::new(words.address, 4096).with_hit_ratio(0.25)?)?,
        round_trip(machine, node()?, Cooperative(true))?,
        round_trip(machine, node()?, machine.context.priority_range()?.highest())?,
        round_trip(machine, node()?, MemSyncDomainMap { default: 1, remote: 1 })?,
        round_trip(machine, node()?, MemSyncDomain::Remote)?,
        round_trip(machine, node()?, DeviceUpdatable::NO)?,
        round_trip(machine, node()?, PreferredSharedMemoryCarveout::percent(100)?)?,
        round_trip(machine, node()?, PortableClusterSizeMode::RequirePortable)?,
        round_trip(machine, node()?, SharedMemoryMode::RequirePortable)?,
    ];
    if machine.has_clusters() {
        covered.push(round_trip(machine, node()?, ClusterDimension::new(4, 1, 1)?)?);
        covered.push(round_trip(machine, node()?, ClusterSchedulingPolicy::LoadBalancing)?);
    } else {
        covered.extend([4, 5]);
    }
    all_covered(&covered, |row| row.get.nodes)?;
    // Settable, and not readable.
    let nvlink = NvlinkUtilCentricScheduling(true);
    set(machine, node()?, nvlink)?;
    covered.push(nvlink.id());
    all_covered(&covered, |row| row.set.nodes)?;
    let stream = Stream::new(&machine.context)?;
    graph.instantiate(InstantiateOptions::new().use_node_priority(true))?.launch(&stream)?;
    Ok(stream.synchronize()?)
}

/// Sets an attribute, unless it is newer than the driver, which then must say so. Whether it was set.
fn set<A: ValidFor<Nodes>>(machine: &Machine, node: KernelNode<'_>, value: A) -> Result<bool, Failed> {
    let row = CATALOGUE.iter().find(|row| row.id == value.id()).ok_or("not in the table")?;
    let result = node.set_attribute(value);
    if machine.knows(row.since) {
        result.map_err(|error| format!("{}: {error}", row.name))?;
        return Ok(true);
    }
    let text = result.as_ref().map_err(ToString::to_string).err().unwrap_or_default();
    refused(row.name, result, CUresult::CUDA_ERROR_INVALID_VALUE)?;
    check(text.contains(row.name), || format!("{text} does not name {}", row.name))?;
    Ok(false)
}

fn round_trip<A>(machine: &Machine, node: KernelNode<'_>, value: A) -> Result<u32, Failed>
where
    A: ValidFor<Nodes> + ReadableFrom<Nodes> + PartialEq + Debug,
{
    let is_set = set(machine, node, value)?;
    equal("supported", &node.supports::<A>()?, &is_set)?;
    if is_set {
        equal("read back", &node.attribute::<A>()?, &value)?;
    }
    Ok(value.id())
}

fn copied(machine: &Machine) -> Result<(), Failed> {
    let graph = Graph::new(&machine.context)?;
    let (from, to) = (add(machine, &graph, &[])?, add(machine, &graph, &[])?);
    let highest = machine.context.priority_range()?.highest();
    from.set_attribute(highest)?;
    from.set_attribute(Cooperative(true))?;
    to.copy_attributes_from(from)?;
    equal("priority", &to.attribute::<Priority>()?, &highest)?;
    equal("cooperative", &to.attribute::<Cooperative>()?, &Cooperative(true))
}

fn run_in_order(machine: &Machine) -> Result<(), Failed> {
    const LENGTH: u32 = 512;
    let words = machine.words(LENGTH)?;
    let graph = Graph::new(&machine.context)?;
    let fill = |after: &[Node<'_>], value| {
        let config = LaunchConfig::new(16, 32);
        // SAFETY: the words are there until the stream is done.
        unsafe { graph.add_kernel_node(after, &machine.fill, &config, (words.address, LENGTH, value)) }
    };
    let first = fill(&[], 1)?;
    first.set_attribute(machine.context.priority_range()?.highest())?;
    let second = fill(&[*first], 2)?;
    second.set_attribute(Cooperative(true))?;
    equal("nodes", &graph.kernel_nodes()?.len(), &2)?;
    let stream = Stream::new(&machine.context)?;
    let executable = graph.instantiate(InstantiateOptions::new().use_node_priority(true))?;
    for _ in 0..3 {
        executable.launch(&stream)?;
    }
    stream.synchronize()?;
    equal("the words", &words.read()?, &vec![2; LENGTH as usize])
}

fn device_updatable(machine: &Machine) -> Result<(), Failed> {
    let graph = Graph::new(&machine.context)?;
    let node = add(machine, &graph, &[])?;
    node.set_attribute(DeviceUpdatable::YES)?;
    let read = node.attribute::<DeviceUpdatable>()?;
    check(read.is_updatable() && read.device_node().is_some(), || format!("{read:?}"))?;
    refused("back", node.set_attribute(DeviceUpdatable::NO), CUresult::CUDA_ERROR_NOT_SUPPORTED)?;
    let _first = graph.instantiate(InstantiateOptions::new())?;
    refused("twice", graph.instantiate(InstantiateOptions::new()), CUresult::CUDA_ERROR_NOT_SUPPORTED)
}

fn without_context(machine: &Machine) -> Result<(), Failed> {
    elsewhere(|| {
        let graph = Graph::new(&machine.context)?;
        let node = add(machine, &graph, &[])?;
        node.set_attribute(machine.context.priority_range()?.highest())?;
        let stream = Stream::new(&machine.context)?;
        graph.instantiate(InstantiateOptions::new())?.launch(&stream)?;
        Ok(stream.synchronize()?)
    })
}
