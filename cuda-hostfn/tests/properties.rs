//! The attribute codecs, on arbitrary bytes and values.

use std::fmt::Debug;

use cuda_hostfn::attribute::place::{Nodes, Place, Streams};
use cuda_hostfn::attribute::{
    AccessPolicyWindow, AccessProperty, AttributeValue, CATALOGUE, ClusterDimension, ClusterSchedulingPolicy,
    Cooperative, DeviceUpdatable, Entry, MemSyncDomain, MemSyncDomainMap, MissProperty, PortableClusterSizeMode,
    PreferredSharedMemoryCarveout, Priority, ReadableFrom, SharedMemoryMode, SynchronizationPolicy,
};
use proptest::array::uniform16;
use proptest::prelude::*;
use proptest::sample::select;

/// A failing input is printed, and belongs into a test of its own rather than into a file.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

/// The attributes that can be read, each with a place and the size of its member of the union.
macro_rules! readable {
    ($($type:ident from $place:ident, $size:literal bytes;)*) => {
        const READABLE: &[&str] = &[$(stringify!($type)),*];

        proptest! {
            #![proptest_config(config())]

            /// Decoding is `Ok` or `Err`, and what was decoded is encoded to bytes that mean the same.
            #[test]
            fn any_bytes_are_a_value_or_an_error(answer in answer()) {
                $(bytes::<$type, $place>(&answer, $size)?;)*
            }
        }
    };
}

readable! {
    AccessPolicyWindow from Streams, 28 bytes;
    Cooperative from Nodes, 4 bytes;
    SynchronizationPolicy from Streams, 4 bytes;
    ClusterDimension from Nodes, 12 bytes;
    ClusterSchedulingPolicy from Nodes, 4 bytes;
    Priority from Streams, 4 bytes;
    MemSyncDomainMap from Streams, 2 bytes;
    MemSyncDomain from Streams, 4 bytes;
    DeviceUpdatable from Nodes, 4 bytes;
    PreferredSharedMemoryCarveout from Nodes, 4 bytes;
    PortableClusterSizeMode from Nodes, 4 bytes;
    SharedMemoryMode from Nodes, 4 bytes;
}

#[test]
fn every_readable_attribute_is_tested() {
    let is_readable = |entry: &&Entry| entry.get.streams || entry.get.nodes;
    let readable: Vec<&str> = CATALOGUE.iter().filter(is_readable).map(|entry| entry.type_name).collect();
    assert_eq!(READABLE, readable);
}

fn bytes<A: ReadableFrom<P>, P: Place>(answer: &AttributeValue, size: usize) -> Result<(), TestCaseError> {
    let Ok(value) = A::decode(answer) else { return Ok(()) };
    let encoded = value.encode();
    let (member, rest) = encoded.as_bytes().split_at(size);
    prop_assert_eq!(value.id(), A::ID);
    prop_assert_eq!(member, &canonical(A::ID, &answer.as_bytes()[..size])[..]);
    prop_assert!(rest.iter().all(|&byte| byte == 0), "{:?}", encoded);
    Ok(())
}

/// The member's bytes, but for the two attributes that have several spellings of one value.
fn canonical(id: u32, member: &[u8]) -> Vec<u8> {
    let unset = -1_i32;
    match id {
        // A synchronization policy that was never set is the automatic one.
        3 if member == unset.to_ne_bytes() => 1_i32.to_ne_bytes().to_vec(),
        // Any number but 0 is on.
        2 if member != [0; 4] => 1_i32.to_ne_bytes().to_vec(),
        _ => member.to_vec(),
    }
}

/// What a driver may answer: anything at all, and often small numbers, which mean something.
fn answer() -> impl Strategy<Value = AttributeValue> {
    let word = prop_oneof![3 => 0..6_u32, 1 => Just(u32::MAX), 1 => any::<u32>()];
    uniform16(word).prop_map(|words| {
        let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
        AttributeValue::from_bytes(&bytes).expect("64 bytes")
    })
}

fn round_trip<A: ReadableFrom<P> + Debug + PartialEq, P: Place>(value: A) -> Result<(), TestCaseError> {
    let decoded = A::decode(&value.encode());
    prop_assert_eq!(decoded.map_err(|error| TestCaseError::fail(error.to_string()))?, value);
    Ok(())
}

fn window() -> impl Strategy<Value = AccessPolicyWindow> {
    let hit = select(vec![AccessProperty::Normal, AccessProperty::Streaming, AccessProperty::Persisting]);
    let miss = select(vec![MissProperty::Normal, MissProperty::Streaming]);
    (any::<u64>(), any::<usize>(), 0.0..=1.0_f32, hit, miss).prop_map(|(base, bytes, ratio, hit, miss)| {
        let window = AccessPolicyWindow::new(base, bytes).with_hit(hit).with_miss(miss);
        window.with_hit_ratio(ratio).expect("a share")
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn windows_come_back(window in window()) {
        round_trip::<_, Streams>(window)?;
    }

    #[test]
    fn clusters_come_back(x in 1..=u32::MAX, y in 1..=u32::MAX, z in 1..=u32::MAX) {
        round_trip::<_, Nodes>(ClusterDimension::new(x, y, z).expect("no dimension is 0"))?;
    }

    #[test]
    fn numbers_come_back(raw: i32, is_on: bool, percent in 0..=100_u32, default: u8, remote: u8) {
        round_trip::<_, Streams>(Priority::from_raw(raw))?;
        round_trip::<_, Nodes>(Cooperative(is_on))?;
        round_trip::<_, Nodes>(PreferredSharedMemoryCarveout::percent(percent).expect("at most 100"))?;
        round_trip::<_, Streams>(MemSyncDomainMap { default, remote })?;
    }

    #[test]
    fn rules_hold_where_values_are_made(percent: u32, ratio: f32, x: u32, y: u32, z: u32) {
        prop_assert_eq!(PreferredSharedMemoryCarveout::percent(percent).is_ok(), percent <= 100);
        let is_share = (0.0..=1.0).contains(&ratio);
        prop_assert_eq!(AccessPolicyWindow::NONE.with_hit_ratio(ratio).is_ok(), is_share);
        prop_assert_eq!(ClusterDimension::new(x, y, z).is_ok(), x != 0 && y != 0 && z != 0);
    }
}

#[test]
fn choices_come_back() -> Result<(), TestCaseError> {
    use ClusterSchedulingPolicy as Scheduling;
    use SharedMemoryMode as Memory;
    use SynchronizationPolicy as Policy;

    for policy in [Policy::Auto, Policy::Spin, Policy::Yield, Policy::BlockingSync] {
        round_trip::<_, Streams>(policy)?;
    }
    for policy in [Scheduling::Default, Scheduling::Spread, Scheduling::LoadBalancing, Scheduling::RubinDsmemLocality] {
        round_trip::<_, Nodes>(policy)?;
    }
    for domain in [MemSyncDomain::Default, MemSyncDomain::Remote] {
        round_trip::<_, Streams>(domain)?;
    }
    for mode in [
        PortableClusterSizeMode::Default,
        PortableClusterSizeMode::RequirePortable,
        PortableClusterSizeMode::AllowNonPortable,
    ] {
        round_trip::<_, Nodes>(mode)?;
    }
    for mode in [
        Memory::Default,
        Memory::RequirePortable,
        Memory::AllowNonPortable,
        Memory::AllowOversizedSharedMemory,
        Memory::PreferOversizedSharedMemory,
    ] {
        round_trip::<_, Nodes>(mode)?;
    }
    for updatable in [DeviceUpdatable::YES, DeviceUpdatable::NO] {
        round_trip::<_, Nodes>(updatable)?;
    }
    Ok(())
}
