//! What the hot paths allocate, on the machine's driver or else on the simulated one, whose own allocations do not count.

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use cuda_hostfn::attribute::{Cooperative, ProgrammaticStreamSerialization, SynchronizationPolicy};
use cuda_hostfn::{
    Context, Device, Error, ExecutorOptions, HostExecutor, Kernel, LaunchConfig, Module, Priority, Result, Stream, host,
};
use libtest_mimic::{Arguments, Failed};
use simulated_driver_client::{self as client, Version};
use tests::{Gate, check, trial_with};

struct Counting;

static NUMBER: AtomicI64 = AtomicI64::new(0);
static BYTES: AtomicI64 = AtomicI64::new(0);

fn count(number: i64, layout: Layout) {
    NUMBER.fetch_add(number.max(0), Ordering::Relaxed);
    BYTES.fetch_add(number * i64::try_from(layout.size()).unwrap_or(i64::MAX), Ordering::Relaxed);
}

// SAFETY: the system's allocator, counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-1, layout);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// As many as are in a stream at once.
const CALLS: u32 = 200;

struct Machine {
    stream: Stream,
    executor: HostExecutor,
    fill: Kernel<(u64, u32, u32)>,
}

impl Machine {
    fn find() -> Result<Self, String> {
        let found = match Self::open() {
            Err(Error::NoDriver(_)) => {
                client::load(Version::V13_2).map_err(|error| error.to_string())?;
                Ok(Self::open().unwrap_or_else(|error| panic!("on the simulated driver: {error}")))
            }
            found => found,
        };
        found.map_err(|error| error.to_string())
    }

    fn open() -> Result<Self> {
        let context = Context::primary(Device::get(0)?)?;
        let module = Module::from_ptx(&context, include_str!("../../cuda-hostfn/tests/fill.ptx"))?;
        let executor = HostExecutor::new(&context, ExecutorOptions::new().workers(2))?;
        Ok(Self { stream: Stream::new(&context)?, executor, fill: module.kernel("fill")? })
    }

    /// Makes the slots that later rounds need, however late the driver's thread is: those of twice as many calls as are
    /// under way at once.
    fn make_slots(&self) -> Result<()> {
        let streams = (0..4).map(|_| Stream::new(self.stream.context())).collect::<Result<Vec<_>>>()?;
        let gates = streams.iter().map(Gate::close).collect::<Result<Vec<_>>>()?;
        for stream in &streams {
            (0..CALLS / 2 + 20).try_for_each(|_| stream.host_launch(|| ()))?;
        }
        drop(gates);
        streams.iter().try_for_each(|stream| stream.synchronize())
    }

    /// The most allocations that a call made in a later round of calls; and no memory stays behind.
    fn allocations(&self, call: impl Fn(&Self) -> Result<()>) -> Result<f64, Failed> {
        let round = || -> Result<[i64; 2]> {
            let before = NUMBER.load(Ordering::Relaxed);
            (0..CALLS).try_for_each(|_| call(self))?;
            self.stream.synchronize()?;
            host::reclaim()?;
            Ok([NUMBER.load(Ordering::Relaxed) - before, BYTES.load(Ordering::Relaxed)])
        };
        self.make_slots()?;
        round()?;
        let [_, at_first] = round()?;
        let mut most = 0;
        for _ in 0..10 {
            let [number, bytes] = round()?;
            check(bytes == at_first, || format!("{at_first} bytes in use grew to {bytes}"))?;
            most = most.max(number);
        }
        Ok(most as f64 / f64::from(CALLS))
    }
}

type Call = fn(&Machine) -> Result<()>;

/// Calls, and how many allocations each may make.
const CALLS_ALLOWED: [(&str, f64, Call); 12] = [
    ("a launch", 0.0, |machine| launch(machine, &LaunchConfig::new(1, 1))),
    ("a launch with three attributes", 0.0, |machine| {
        let config = LaunchConfig::new(1, 1).attribute(Priority::DEFAULT);
        launch(machine, &config.attribute(Cooperative(false)).attribute(ProgrammaticStreamSerialization(false)))
    }),
    ("set_attribute", 0.0, |machine| machine.stream.set_attribute(SynchronizationPolicy::Spin)),
    ("attribute", 0.0, |machine| machine.stream.attribute::<SynchronizationPolicy>().map(drop)),
    ("host_launch", 0.0, |machine| Ok(machine.stream.host_launch(|| ())?)),
    ("host_launch, 48 bytes captured", 0.0, |machine| {
        let captured = [7_u64; 6];
        Ok(machine.stream.host_launch(move || assert_eq!(captured[3], 7))?)
    }),
    ("host_launch, 4 KiB captured", 1.0, |machine| {
        let captured = [7_u8; 4096];
        Ok(machine.stream.host_launch(move || assert_eq!(captured[3], 7))?)
    }),
    ("host_launch, an Arc captured", 1.0, |machine| {
        let captured = Arc::new(7);
        Ok(machine.stream.host_launch(move || assert_eq!(*captured, 7))?)
    }),
    ("host_task, detached", 0.0, |machine| Ok(machine.stream.host_task(|| 7).map(drop)?)),
    ("host_task, joined", 0.0, |machine| Ok(machine.stream.host_task(|| 7)?.join().map(drop)?)),
    ("an executor's host_launch", 0.0, |machine| Ok(machine.executor.host_launch(&machine.stream, || ())?)),
    ("an executor's host_task, joined", 0.0, |machine| {
        Ok(machine.executor.host_task(&machine.stream, || 7)?.join().map(drop)?)
    }),
];

fn launch<L: cuda_hostfn::launch::Attributes>(machine: &Machine, config: &LaunchConfig<L>) -> Result<()> {
    // SAFETY: fills no word at all.
    unsafe { machine.fill.launch(&machine.stream, config, (0, 0, 7)) }.map(drop)
}

fn main() -> ExitCode {
    let machine = Machine::find().map(Arc::new);
    let trials = CALLS_ALLOWED.map(|(name, allowed, call)| {
        trial_with(&format!("allocations: {name}"), machine.clone(), move |machine| {
            let made = machine.allocations(call)?;
            println!("{name}: {made:.2} allocations a call");
            check(made <= allowed, || format!("{made:.2} allocations a call, not {allowed}"))
        })
    });
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, trials.into()).exit_code()
}
