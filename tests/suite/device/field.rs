//! Failures that people reported of other stacks and that concern attributes: `docs/field-cases.md`.

use cuda_hostfn::attribute::{AccessPolicyWindow, AccessProperty, ClusterDimension, PreferredClusterDimension};
use cuda_hostfn::sys::CUresult;
use cuda_hostfn::{CaptureMode, CaptureStatus, CudaVersion, Kernel, LaunchConfig, Module, Priority, Stream};
use libtest_mimic::Failed;
use tests::{Machine, check, equal};

use crate::Run;
use crate::expect::{invalid, refused};

pub const TRIALS: &[(&str, Run)] = &[
    ("field: an access policy window larger than the device allows is refused by name", window),
    ("field: persisting lines can be let go of", persisting),
    ("field: the range of priorities cannot be misread, and nothing is clamped unasked", priorities),
];

/// For drivers that compile.
pub const COMPILER_TRIALS: &[(&str, Run)] =
    &[("field: a kernel that was compiled with a cluster size is launched as it is", compiled_cluster)];

fn window(machine: &Machine) -> Result<(), Failed> {
    let stream = Stream::new(&machine.context)?;
    let words = machine.words(1)?;
    let most = machine.context.max_access_policy_window()?;
    let of = |bytes| AccessPolicyWindow::new(words.address, bytes).with_hit(AccessProperty::Persisting);
    let launch = |window| {
        let config = LaunchConfig::new(1, 1).attribute(window);
        // SAFETY: the arguments say no word is written.
        unsafe { machine.fill.launch(&stream, &config, (0, 0, 0)) }
    };
    stream.set_attribute(of(most))?;
    equal("the largest", &stream.attribute::<AccessPolicyWindow>()?.bytes(), &most)?;
    stream.set_attribute(AccessPolicyWindow::NONE)?;
    invalid("AccessPolicyWindow.bytes", stream.set_attribute(of(most + 1)))?;
    invalid("AccessPolicyWindow.bytes", launch(of(most + 1)))?;

    stream.begin_capture(CaptureMode::ThreadLocal)?;
    let (refused, taken) = (launch(of(most + 1)), launch(of(4)));
    let status = stream.capture_status();
    let graph = stream.end_capture()?;
    invalid("AccessPolicyWindow.bytes", refused)?;
    taken?;
    equal("the capture", &status?, &CaptureStatus::Active)?;
    let nodes = graph.kernel_nodes()?;
    invalid("AccessPolicyWindow.bytes", nodes[0].set_attribute(of(most + 1)))
}

fn persisting(machine: &Machine) -> Result<(), Failed> {
    let stream = Stream::new(&machine.context)?;
    let words = machine.words(1024)?;
    let window = AccessPolicyWindow::new(words.address, 4096).with_hit(AccessProperty::Persisting);
    let config = LaunchConfig::new(1, 1024).attribute(window.with_hit_ratio(1.0)?);
    // SAFETY: the words are there until the stream is done.
    unsafe { machine.fill.launch(&stream, &config, (words.address, 1024, 7)) }?;
    stream.synchronize()?;
    std::thread::scope(|scope| {
        let reset = || machine.context.reset_persisting_l2_cache();
        scope.spawn(reset).join().map_err(|_| "the other thread panicked")
    })??;
    equal("the words", &words.read()?, &vec![7; 1024])
}

fn priorities(machine: &Machine) -> Result<(), Failed> {
    let range = machine.context.priority_range()?;
    let (low, high) = (range.lowest(), range.highest());
    check(high >= low && low <= Priority::DEFAULT, || format!("{range:?}"))?;
    let beyond = [Priority::from_raw(high.as_raw() - 1), Priority::from_raw(low.as_raw() + 1)];
    let stream = Stream::new(&machine.context)?;
    for (priority, nearest) in beyond.into_iter().zip([high, low]) {
        invalid("Priority", stream.set_attribute(priority))?;
        let config = LaunchConfig::new(1, 1).attribute(priority);
        // SAFETY: the arguments say no word is written.
        invalid("Priority", unsafe { machine.fill.launch(&stream, &config, (0, 0, 0)) })?;
        equal("clamped when asked", &range.clamp(priority), &nearest)?;
        stream.set_attribute(range.clamp(priority))?;
        equal("read back", &stream.priority()?, &nearest)?;
    }
    Ok(())
}

/// Pairs of blocks, as `__cluster_dims__(2, 1, 1)` makes them.
const PAIRS: &str = "
.version 7.8
.target sm_90
.address_size 64
.visible .entry pairs() .reqnctapercluster 2, 1, 1
{
    ret;
}
";

fn compiled_cluster(machine: &Machine) -> Result<(), Failed> {
    if !machine.has_clusters() {
        // The compiler refuses it.
        return refused("clusters", Module::from_ptx(&machine.context, PAIRS), CUresult::CUDA_ERROR_INVALID_PTX);
    }
    let pairs: Kernel<()> = Module::from_ptx(&machine.context, PAIRS)?.kernel("pairs")?;
    let stream = Stream::new(&machine.context)?;
    // SAFETY: it touches no memory.
    unsafe { pairs.launch(&stream, &LaunchConfig::new(4, 32), ()) }?;
    let same = LaunchConfig::new(4, 32).attribute(ClusterDimension::new(2, 1, 1)?);
    // SAFETY: as above.
    unsafe { pairs.launch(&stream, &same, ()) }?;
    if machine.knows(CudaVersion::new(12, 8)) {
        let preferred = LaunchConfig::new(4, 32).attribute(PreferredClusterDimension::new(4, 1, 1)?);
        // SAFETY: as above.
        unsafe { pairs.launch(&stream, &preferred, ()) }?;
    }
    Ok(stream.synchronize()?)
}
