//! Attributes of streams.

use std::fmt::Debug;

use cuda_hostfn::attribute::place::Streams;
use cuda_hostfn::attribute::{
    AccessPolicyWindow, AccessProperty, MemSyncDomain, MemSyncDomainMap, MissProperty, ReadableFrom,
    SynchronizationPolicy, ValidFor,
};
use cuda_hostfn::sys::{CU_STREAM_LEGACY, CUresult};
use cuda_hostfn::{BorrowedStream, Context, PerThreadStream, Priority, Stream, StreamOptions, StreamRef};
use libtest_mimic::Failed;
use tests::{Machine, check, equal};

use crate::Run;
use crate::expect::{all_covered, current_context, elsewhere, invalid, succeeded};

pub const TRIALS: &[(&str, Run)] = &[
    ("streams: each synchronization policy is set and read back", policies),
    ("streams: a fresh one has the policy Auto, which the driver calls -1", fresh),
    ("streams: every attribute that the table offers is honoured", all),
    ("streams: the legacy, the NULL and the per-thread stream take them too", special),
    ("streams: options", options),
    ("streams: attributes are copied", copied),
    ("streams: a thread without a context can set them, and has none afterwards", without_context),
    ("streams: a foreign context stays current", foreign_context),
    ("streams: priorities read back as cuStreamGetPriority says", priorities),
    ("streams: a borrowed one is its owner's", borrowed),
];

const POLICIES: [SynchronizationPolicy; 4] = [
    SynchronizationPolicy::Auto,
    SynchronizationPolicy::Spin,
    SynchronizationPolicy::Yield,
    SynchronizationPolicy::BlockingSync,
];

fn policies(machine: &Machine) -> Result<(), Failed> {
    let stream = Stream::new(&machine.context)?;
    for policy in POLICIES {
        stream.set_attribute(policy)?;
        equal("read back", &stream.attribute::<SynchronizationPolicy>()?, &policy)?;
        let by_name = Stream::new(&machine.context)?;
        by_name.set_synchronization_policy(policy)?;
        equal("by name", &by_name.synchronization_policy()?, &policy)?;
        stream.synchronize()?;
    }
    Ok(())
}

fn fresh(machine: &Machine) -> Result<(), Failed> {
    let stream = Stream::new(&machine.context)?;
    equal("policy", &stream.synchronization_policy()?, &SynchronizationPolicy::Auto)?;
    equal("as the driver has it", &stream.raw_attribute(3)?.as_bytes()[..4].to_vec(), &(-1_i32).to_ne_bytes().to_vec())
}

fn all(machine: &Machine) -> Result<(), Failed> {
    let words = machine.words(1024)?;
    let stream = Stream::new(&machine.context)?;
    let covered = set_all(&stream, words.address, machine)?;
    all_covered(&covered, |row| row.set.streams)?;
    all_covered(&covered, |row| row.get.streams)
}

fn special(machine: &Machine) -> Result<(), Failed> {
    let words = machine.words(1024)?;
    set_all(&BorrowedStream::legacy(&machine.context), words.address, machine)?;
    set_all(&PerThreadStream::new(&machine.context), words.address, machine)?;
    let null = machine.context.with_current(|| {
        // SAFETY: the NULL stream lives as long as its context.
        unsafe { BorrowedStream::from_raw(std::ptr::null_mut()) }
    })??;
    set_all(&null, words.address, machine)?;
    // They outlive the trial: leave them as they were.
    for stream in [&*null, &PerThreadStream::new(&machine.context)] {
        stream.set_attribute(AccessPolicyWindow::NONE)?;
        stream.set_attribute(Priority::DEFAULT)?;
        stream.set_attribute(MemSyncDomainMap { default: 0, remote: 1 })?;
        stream.set_attribute(MemSyncDomain::Default)?;
        stream.set_attribute(SynchronizationPolicy::Auto)?;
    }
    Ok(())
}

fn set_all(stream: &StreamRef, address: u64, machine: &Machine) -> Result<Vec<u32>, Failed> {
    let urgent = machine.context.priority_range()?.highest();
    let window = AccessPolicyWindow::new(address, 4096)
        .with_hit_ratio(0.5)?
        .with_hit(AccessProperty::Persisting)
        .with_miss(MissProperty::Streaming);
    Ok(vec![
        round_trip(stream, window)?,
        round_trip(stream, AccessPolicyWindow::NONE)?,
        round_trip(stream, SynchronizationPolicy::Spin)?,
        round_trip(stream, urgent)?,
        round_trip(stream, MemSyncDomainMap { default: 1, remote: 0 })?,
        round_trip(stream, MemSyncDomain::Remote)?,
    ])
}

fn round_trip<A>(stream: &StreamRef, value: A) -> Result<u32, Failed>
where
    A: ValidFor<Streams> + ReadableFrom<Streams> + PartialEq + Debug,
{
    check(stream.supports::<A>()?, || format!("{value:?} is not supported"))?;
    stream.set_attribute(value)?;
    equal("read back", &stream.attribute::<A>()?, &value)?;
    Ok(value.id())
}

fn options(machine: &Machine) -> Result<(), Failed> {
    let range = machine.context.priority_range()?;
    let options = StreamOptions::new().non_blocking(true).priority(range.highest());
    let stream = options.synchronization_policy(SynchronizationPolicy::BlockingSync).create(&machine.context)?;
    check(stream.is_non_blocking()?, || "it blocks".to_owned())?;
    equal("priority", &stream.priority()?, &range.highest())?;
    equal("policy", &stream.synchronization_policy()?, &SynchronizationPolicy::BlockingSync)?;
    let plain = StreamOptions::new().create(&machine.context)?;
    check(!plain.is_non_blocking()?, || "it does not block".to_owned())?;
    equal("priority", &plain.priority()?, &Priority::DEFAULT)?;
    let beyond = Priority::from_raw(range.highest().as_raw() - 1);
    invalid("Priority", StreamOptions::new().priority(beyond).create(&machine.context))
}

fn copied(machine: &Machine) -> Result<(), Failed> {
    let (from, to) = (Stream::new(&machine.context)?, Stream::new(&machine.context)?);
    from.set_attribute(SynchronizationPolicy::Yield)?;
    from.set_attribute(MemSyncDomain::Remote)?;
    to.copy_attributes_from(&from)?;
    equal("policy", &to.synchronization_policy()?, &SynchronizationPolicy::Yield)?;
    equal("domain", &to.attribute::<MemSyncDomain>()?, &MemSyncDomain::Remote)
}

fn without_context(machine: &Machine) -> Result<(), Failed> {
    for non_blocking in [false, true] {
        let stream = StreamOptions::new().non_blocking(non_blocking).create(&machine.context)?;
        elsewhere(|| {
            check(current_context().is_null(), || "a fresh thread has a context".to_owned())?;
            for policy in POLICIES {
                stream.set_attribute(policy)?;
                equal("read back", &stream.synchronization_policy()?, &policy)?;
            }
            stream.set_attribute(machine.context.priority_range()?.highest())?;
            Stream::new(&machine.context)?.synchronize()?;
            check(current_context().is_null(), || "a context was left behind".to_owned())
        })?;
    }
    Ok(())
}

fn foreign_context(machine: &Machine) -> Result<(), Failed> {
    let stream = Stream::new(&machine.context)?;
    elsewhere(|| {
        let foreign = Foreign::new(machine)?;
        stream.set_attribute(SynchronizationPolicy::Spin)?;
        equal("policy", &stream.synchronization_policy()?, &SynchronizationPolicy::Spin)?;
        // SAFETY: the arguments say no word is written.
        unsafe { machine.fill.launch(&stream, &cuda_hostfn::LaunchConfig::new(1, 1), (0, 0, 0)) }?;
        stream.synchronize()?;
        drop(Stream::new(&machine.context)?);
        check(current_context() == foreign.0, || "another context is current".to_owned())
    })
}

/// A context that this crate did not make, current on this thread.
struct Foreign(cuda_hostfn::sys::CUcontext);

impl Foreign {
    fn new(machine: &Machine) -> Result<Self, Failed> {
        // Its creation is `cuCtxCreate`, whose signature differs between headers; this name is in every driver.
        type Create = unsafe extern "C" fn(*mut cuda_hostfn::sys::CUcontext, u32, i32) -> CUresult;
        let address = cuda_hostfn::sys::driver::symbol(c"cuCtxCreate_v2").ok_or("no cuCtxCreate_v2")?;
        // SAFETY: the signature of `_v2` in every header.
        let create = unsafe { std::mem::transmute::<std::ptr::NonNull<std::ffi::c_void>, Create>(address) };
        let mut context = std::ptr::null_mut();
        // SAFETY: the pointer is valid for a write.
        succeeded(unsafe { create(&raw mut context, 0, machine.device.as_raw()) })?;
        Ok(Self(context))
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and used by this thread alone.
        unsafe { cuda_hostfn::sys::cuCtxDestroy(self.0) };
    }
}

fn priorities(machine: &Machine) -> Result<(), Failed> {
    let range = machine.context.priority_range()?;
    check(range.highest() >= range.lowest(), || format!("{range:?} is inverted"))?;
    let stream = Stream::new(&machine.context)?;
    for raw in range.highest().as_raw()..=range.lowest().as_raw() {
        let priority = Priority::from_raw(raw);
        stream.set_attribute(priority)?;
        equal("attribute", &stream.attribute::<Priority>()?, &priority)?;
        equal("cuStreamGetPriority", &stream.priority()?, &priority)?;
    }
    invalid("Priority", stream.set_attribute(Priority::from_raw(range.highest().as_raw() - 1)))?;
    invalid("Priority", stream.set_attribute(Priority::from_raw(range.lowest().as_raw() + 1)))
}

fn borrowed(machine: &Machine) -> Result<(), Failed> {
    let owner = Stream::new(&machine.context)?;
    {
        // SAFETY: the owner outlives it.
        let borrowed = unsafe { BorrowedStream::from_raw(owner.as_raw()) }?;
        borrowed.set_attribute(SynchronizationPolicy::Spin)?;
        equal("context", &borrowed.context().as_raw(), &machine.context.as_raw())?;
    }
    equal("policy", &owner.synchronization_policy()?, &SynchronizationPolicy::Spin)?;
    let raw = owner.into_raw();
    // SAFETY: `into_raw` gave the stream up.
    let owner = unsafe { Stream::from_raw(raw) }?;
    equal("policy", &owner.synchronization_policy()?, &SynchronizationPolicy::Spin)?;
    let legacy: &Context = &machine.context;
    equal("legacy", &BorrowedStream::legacy(legacy).as_raw(), &CU_STREAM_LEGACY)
}
