//! The samples of each id. A new id is a row here.
//!
//! The range is by the documentation, so that a driver which takes a value out of range, or refuses a good one, shows.

use super::super::limits::{Feature, Limit};
use super::value::Number::{self, At, Is};
use super::{Given, Row, Sample, Value};
use crate::observations::Range::{Boundary, Good, OutOfRange};

/// The samples of an id, its own or those of ids that nothing is known of.
pub(in super::super) fn row(id: u32) -> &'static Row {
    TABLE.iter().find(|row| row.id == id).unwrap_or(&OTHER)
}

const OTHER: Row = Row { id: super::UNASSIGNED, needs: None, samples: &[good(0), good(1), good(2)] };

pub(super) const TABLE: &[Row] = &[
    // Ignored.
    Row { id: 0, needs: None, samples: &[good(0), good(1), good(-1)] },
    // Access policy window.
    Row {
        id: 1,
        needs: Some(Feature::AccessWindow),
        samples: &[
            Sample::new(window(0.6, 2, 1), Good).given(MEMORY),
            Sample::new(window(0.6, 1, 0), Good).given(MEMORY),
            Sample::new(window(0.6, 0, 0), Good).given(MEMORY),
            Sample::new(window(0.0, 2, 1), Boundary).given(MEMORY),
            Sample::new(window(1.0, 2, 1), Boundary).given(MEMORY),
            Sample::new(sized(At(Limit::AccessWindow, 0)), Boundary).given(MEMORY).note("the most"),
            Sample::new(sized(Is(0)), Boundary).given(MEMORY),
            Sample::new(Value::Window { offset: 3, size: Is(1000), hit_ratio: 0.6, hit: 2, miss: 1 }, Boundary)
                .given(MEMORY)
                .note("unaligned"),
            Sample::new(Value::Window { offset: 0, size: Is(0), hit_ratio: 0.0, hit: 0, miss: 0 }, Boundary)
                .note("all zero"),
            Sample::new(window(1.5, 2, 1), OutOfRange).given(MEMORY),
            Sample::new(window(-0.5, 2, 1), OutOfRange).given(MEMORY),
            Sample::new(window(f32::NAN, 2, 1), OutOfRange).given(MEMORY),
            Sample::new(window(0.6, 2, 2), OutOfRange).given(MEMORY),
            Sample::new(window(0.6, 3, 1), OutOfRange).given(MEMORY),
            Sample::new(window(0.6, 2, 3), OutOfRange).given(MEMORY),
            Sample::new(sized(At(Limit::AccessWindow, 1)), OutOfRange).given(MEMORY).note("one more than the most"),
            Sample::new(sized(Is(64 << 30)), OutOfRange).given(MEMORY),
            Sample::lacking(window(0.6, 2, 1)).note("no memory"),
            Sample::lacking(Value::Window { offset: 0x1234, size: Is(1 << 20), hit_ratio: 0.6, hit: 2, miss: 1 })
                .note("no memory there"),
        ],
    },
    // Cooperative launch.
    Row {
        id: 2,
        needs: Some(Feature::CooperativeLaunch),
        samples: &[
            good(1),
            good(0),
            out(2),
            out(-1),
            out(1).given(&[Given::Grid(1 << 20)]).note("more blocks than fit at once"),
        ],
    },
    // Synchronization policy.
    Row {
        id: 3,
        needs: None,
        samples: &[
            good(1).note("auto"),
            good(2).note("spin"),
            good(3).note("yield"),
            good(4).note("blocking sync"),
            out(0),
            out(5),
            out(-1),
        ],
    },
    // Cluster dimension. The grid has 16 blocks.
    Row {
        id: 4,
        needs: Some(Feature::Clusters),
        samples: &[
            Sample::new(cluster(2), Good),
            Sample::new(cluster(4), Good),
            Sample::new(cluster(1), Boundary),
            Sample::new(PORTABLE, Boundary).note("the most for every kernel"),
            Sample::new(LARGEST, Boundary).given(ANY_CLUSTER).note("the most of this device"),
            Sample::new(LARGEST, OutOfRange).note("for a kernel that does not allow it"),
            Sample::new(blocks(0, 0, 0), OutOfRange),
            Sample::new(blocks(2, 0, 0), OutOfRange),
            Sample::new(blocks(0, 1, 1), OutOfRange),
            Sample::new(cluster(3), OutOfRange).note("does not divide the grid"),
            Sample::new(blocks(1, 2, 1), OutOfRange).note("does not divide the grid"),
            Sample::new(cluster(32), OutOfRange).note("more than the grid"),
            Sample::new(cluster(1 << 31), OutOfRange),
        ],
    },
    // Cluster scheduling policy preference.
    Row {
        id: 5,
        needs: Some(Feature::Clusters),
        samples: &[
            good(0).note("default"),
            good(1).note("spread"),
            good(2).note("load balancing"),
            good(0).given(CLUSTER).note("default"),
            good(1).given(CLUSTER).note("spread"),
            good(2).given(CLUSTER).note("load balancing"),
            boundary(3).note("only newer devices"),
            boundary(3).given(CLUSTER).note("only newer devices"),
            out(4),
            out(4).given(CLUSTER),
            out(-1),
            out(-1).given(CLUSTER),
        ],
    },
    // Programmatic stream serialization.
    Row { id: 6, needs: None, samples: &[good(1), good(0), out(2), out(-1)] },
    // Programmatic event.
    Row {
        id: 7,
        needs: None,
        samples: &[
            Sample::new(triggered(0, 0, 0), Good).given(NO_TIMING),
            Sample::new(triggered(0, 0, 1), Good).given(NO_TIMING),
            Sample::new(triggered(BLOCKING, 0, 1), Good).given(NO_TIMING),
            Sample::new(triggered(0, EXTERNAL, 1), Boundary).given(NO_TIMING),
            Sample::new(triggered(INTERPROCESS, 0, 1), OutOfRange).given(NO_TIMING),
            Sample::new(triggered(0, 2, 1), OutOfRange).given(NO_TIMING),
            Sample::new(triggered(0, 0, 2), OutOfRange).given(NO_TIMING),
            Sample::lacking(triggered(0, 0, 1)),
            Sample::lacking(Value::Event { created: None, recorded: 0, trigger: Some(0) }),
        ],
    },
    // Priority.
    Row {
        id: 8,
        needs: Some(Feature::StreamPriorities),
        samples: &[
            good(-1),
            Sample::new(Value::Int(At(Limit::LeastPriority, 0)), Boundary).note("the least"),
            Sample::new(Value::Int(At(Limit::GreatestPriority, 0)), Boundary).note("the greatest"),
            Sample::new(Value::Int(At(Limit::LeastPriority, 1)), OutOfRange),
            Sample::new(Value::Int(At(Limit::GreatestPriority, -1)), OutOfRange),
            out(100),
            out(-100),
        ],
    },
    // Memory synchronization domain map.
    Row {
        id: 9,
        needs: Some(Feature::MemoryDomains),
        samples: &[
            domains(Is(0), Is(1), Good),
            domains(Is(0), Is(0), Good),
            domains(Is(1), Is(1), Good),
            domains(Is(1), Is(0), Good),
            domains(LAST_DOMAIN, LAST_DOMAIN, Boundary),
            domains(Is(0), At(Limit::MemoryDomains, 0), OutOfRange),
            domains(At(Limit::MemoryDomains, 0), Is(0), OutOfRange),
            domains(Is(9), Is(9), OutOfRange),
            domains(Is(255), Is(255), OutOfRange),
        ],
    },
    // Memory synchronization domain.
    Row {
        id: 10,
        needs: Some(Feature::MemoryDomains),
        samples: &[good(0).note("default"), good(1).note("remote"), out(2), out(3), out(-1)],
    },
    // Preferred cluster dimension, a multiple of the cluster's.
    Row {
        id: 11,
        needs: Some(Feature::Clusters),
        samples: &[
            Sample::new(cluster(4), Good).given(CLUSTER),
            Sample::new(cluster(2), Boundary).given(CLUSTER).note("the cluster itself"),
            Sample::new(PORTABLE, Boundary).given(CLUSTER).note("the most for every kernel"),
            Sample::new(LARGEST, Boundary)
                .given(&[Given::Cluster(2), Given::AnyClusterKernel])
                .note("the most of this device"),
            Sample::new(LARGEST, OutOfRange).given(CLUSTER).note("for a kernel that does not allow it"),
            Sample::new(blocks(0, 0, 0), OutOfRange).given(CLUSTER),
            Sample::new(blocks(4, 0, 0), OutOfRange).given(CLUSTER),
            Sample::new(cluster(1), OutOfRange).given(CLUSTER).note("less than the cluster"),
            Sample::new(cluster(3), OutOfRange).given(CLUSTER).note("no multiple of the cluster"),
            Sample::new(cluster(6), OutOfRange).given(CLUSTER).note("does not divide the grid"),
            Sample::new(blocks(2, 2, 1), OutOfRange).given(CLUSTER).note("does not divide the grid"),
            Sample::new(blocks(2, 1, 2), OutOfRange).given(CLUSTER).note("does not divide the grid"),
            Sample::new(cluster(32), OutOfRange).given(CLUSTER).note("more than the grid"),
            Sample::lacking(cluster(4)),
            Sample::lacking(blocks(0, 0, 0)),
        ],
    },
    // Launch completion event.
    Row {
        id: 12,
        needs: None,
        samples: &[
            Sample::new(event(0, 0), Good).given(NO_TIMING),
            Sample::new(event(BLOCKING, 0), Good).given(NO_TIMING),
            Sample::new(event(0, EXTERNAL), Boundary).given(NO_TIMING),
            Sample::new(event(INTERPROCESS, 0), OutOfRange).given(NO_TIMING),
            Sample::new(event(0, 2), OutOfRange).given(NO_TIMING),
            Sample::lacking(event(0, 0)),
            Sample::lacking(Value::Event { created: None, recorded: 0, trigger: None }),
        ],
    },
    // Device-updatable kernel node.
    Row {
        id: 13,
        needs: None,
        samples: &[
            Sample::new(updatable(1, 0), Good),
            Sample::new(updatable(0, 0), Good),
            Sample::new(updatable(2, 0), OutOfRange),
            Sample::new(updatable(-1, 0), OutOfRange),
            Sample::new(updatable(1, 0x1234), OutOfRange),
            Sample::new(updatable(0, 0x1234), OutOfRange),
        ],
    },
    // Preferred shared memory carve-out, in percent.
    Row {
        id: 14,
        needs: None,
        samples: &[
            good(50),
            good(1),
            boundary(-1).note("default"),
            boundary(0),
            boundary(100),
            out(101),
            out(1000),
            out(-2),
        ],
    },
    // NVLink-centric scheduling.
    Row { id: 16, needs: None, samples: &[good(0), good(1), out(2), out(-1)] },
    // Portable cluster size mode.
    Row {
        id: 17,
        needs: Some(Feature::Clusters),
        samples: &[
            good(0).note("default"),
            good(1).note("require portable"),
            good(2).note("allow non-portable"),
            good(2).given(CLUSTER).note("allow non-portable"),
            out(3),
            out(-1),
        ],
    },
    // Shared memory mode.
    Row {
        id: 18,
        needs: None,
        samples: &[
            good(0).note("default"),
            good(1).note("require portable"),
            good(2).note("allow non-portable"),
            boundary(3).note("allow oversized"),
            boundary(4).note("prefer oversized"),
            out(5),
            out(-1),
        ],
    },
];

const MEMORY: &[Given] = &[Given::Memory];
const NO_TIMING: &[Given] = &[Given::NoTiming];
const CLUSTER: &[Given] = &[Given::Cluster(2)];
const ANY_CLUSTER: &[Given] = &[Given::AnyClusterKernel];

const PORTABLE: Value = Value::Dimensions([At(Limit::PortableCluster, 0), Is(1), Is(1)]);
const LARGEST: Value = Value::Dimensions([At(Limit::LargestCluster, 0), Is(1), Is(1)]);
const LAST_DOMAIN: Number = At(Limit::MemoryDomains, -1);

/// `CU_EVENT_BLOCKING_SYNC`, `CU_EVENT_INTERPROCESS`, `CU_EVENT_RECORD_EXTERNAL`.
const BLOCKING: u32 = 1;
const INTERPROCESS: u32 = 4;
const EXTERNAL: u32 = 1;

const fn good(value: i64) -> Sample {
    Sample::new(Value::Int(Is(value)), Good)
}

const fn boundary(value: i64) -> Sample {
    Sample::new(Value::Int(Is(value)), Boundary)
}

const fn out(value: i64) -> Sample {
    Sample::new(Value::Int(Is(value)), OutOfRange)
}

const fn blocks(x: i64, y: i64, z: i64) -> Value {
    Value::Dimensions([Is(x), Is(y), Is(z)])
}

const fn cluster(x: i64) -> Value {
    blocks(x, 1, 1)
}

const fn window(hit_ratio: f32, hit: u32, miss: u32) -> Value {
    Value::Window { offset: 0, size: Is(1 << 20), hit_ratio, hit, miss }
}

const fn sized(size: Number) -> Value {
    Value::Window { offset: 0, size, hit_ratio: 0.6, hit: 2, miss: 1 }
}

const fn event(created: u32, recorded: u32) -> Value {
    Value::Event { created: Some(created), recorded, trigger: None }
}

const fn triggered(created: u32, recorded: u32, trigger: u32) -> Value {
    Value::Event { created: Some(created), recorded, trigger: Some(trigger) }
}

const fn domains(default: Number, remote: Number, range: crate::observations::Range) -> Sample {
    Sample::new(Value::Domains([default, remote]), range)
}

const fn updatable(updatable: i32, node: u64) -> Value {
    Value::UpdatableNode { updatable, node }
}
