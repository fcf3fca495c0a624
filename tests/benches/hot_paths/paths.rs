//! What is measured.

pub struct Path {
    pub name: &'static str,
    /// Of a round.
    pub calls: u32,
    /// The most that cuda-hostfn is to take on an H200, as a multiple of straight C.
    pub aim: Option<f64>,
    /// The program starts threads of its own, which are not to share a processor.
    pub is_spread: bool,
}

const fn path(name: &'static str, calls: u32, aim: f64) -> Path {
    Path { name, calls, aim: Some(aim), is_spread: false }
}

const fn without_aim(name: &'static str, calls: u32) -> Path {
    Path { name, calls, aim: None, is_spread: false }
}

const fn spread(name: &'static str) -> Path {
    Path { name, calls: 640, aim: None, is_spread: true }
}

pub const PATHS: [Path; 34] = [
    path("launch, no attribute", 200, 1.01),
    path("launch, 1 attribute", 200, 1.01),
    path("launch, 3 attributes", 200, 1.01),
    without_aim("launch, no attribute, context not current", 200),
    path("set_attribute", 2000, 1.25),
    without_aim("set_attribute, context not current", 2000),
    path("attribute", 2000, 1.15),
    path("host_launch_raw", 200, 1.01),
    path("host_launch", 200, 1.03),
    without_aim("host_launch, an Arc captured", 200),
    path("host_task, detached", 200, 1.10),
    path("host_launch_raw, stream held", 200, 1.01),
    path("host_launch, stream held", 200, 1.03),
    without_aim("host_launch, an Arc captured, stream held", 200),
    path("host_task, detached, stream held", 200, 1.10),
    path("host_launch, drained", 200, 1.03),
    without_aim("host_launch, an Arc captured, drained", 200),
    path("host_task, detached, drained", 200, 1.10),
    path("host_launch, round trip", 40, 1.02),
    path("host_task, joined", 40, 1.10),
    path("replayed host node", 400, 1.05),
    path("event record", 400, 1.05),
    without_aim("event record, context not current", 400),
    path("stream query", 400, 1.05),
    // A nanosecond over a linked call.
    path("cuDriverGetVersion", 20_000, 1.20),
    spread("1 threads, 1 streams"),
    spread("1 threads, 4 streams"),
    spread("1 threads, 16 streams"),
    spread("1 threads, 64 streams"),
    spread("4 threads, 1 streams"),
    spread("4 threads, 4 streams"),
    spread("4 threads, 64 streams"),
    spread("16 threads, 1 streams"),
    spread("16 threads, 16 streams"),
];
