//! The device that the trials run on, and what they watch.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use cuda_hostfn::sys::{self, CUresult, driver};
use cuda_hostfn::{Context, Device, Error, Kernel, Module, Result, Stream, host};
use libtest_mimic::Failed;
use parking_lot::Mutex;
use simulated_driver::{Version, client};
use tests::check;

/// Names the CUDA version to simulate where there is no driver.
pub const SIMULATED: &str = "CUDA_TESTS_SIMULATED";

#[derive(Clone, Debug)]
pub struct Machine {
    pub device: Device,
    pub context: Context,
    /// `fill(address, length, value)`
    pub fill: Kernel<(u64, u32, u32)>,
}

impl Machine {
    /// That of the machine, or a simulated one if there is no driver.
    pub fn find() -> Result<Self, String> {
        match Self::open() {
            Err(Error::NoDriver(_)) if std::env::var_os(driver::OVERRIDE).is_none() => {
                let version = std::env::var(SIMULATED).ok().map_or(Ok(Version::V13_2), |version| version.parse())?;
                client::load(version).map_err(|error| error.to_string())?;
                Self::open()
            }
            result => result,
        }
        .map_err(|error| error.to_string())
    }

    fn open() -> Result<Self> {
        let device = Device::get(0)?;
        let context = Context::primary(device)?;
        let module = Module::from_ptx(&context, include_str!("../../../cuda-hostfn/tests/fill.ptx"))?;
        Ok(Self { fill: module.kernel("fill")?, device, context })
    }

    pub fn stream(&self) -> Result<Stream> {
        Stream::new(&self.context)
    }

    /// Memory that the host and the device see at one address.
    pub fn pinned(&self, length: usize) -> Result<Pinned, Failed> {
        let mut address = std::ptr::null_mut();
        // SAFETY: the pointer is valid for a write.
        let code = self.context.with_current(|| unsafe { sys::cuMemAllocHost(&raw mut address, 4 * length) })?;
        check(code == CUresult::CUDA_SUCCESS, || format!("cuMemAllocHost: {code:?}"))?;
        let pinned = Pinned { address: address.cast(), length, context: self.context.clone() };
        pinned.words().iter().for_each(|word| word.store(0, Ordering::Relaxed));
        Ok(pinned)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.device.name().unwrap_or_else(|error| error.to_string());
        let driver =
            cuda_hostfn::driver_version().map_or_else(|error| error.to_string(), |version| version.to_string());
        write!(f, "{name}, driver for CUDA {driver}, header of {}", sys::CUDA_VERSION)
    }
}

/// Pinned words. Freeing them is a call into CUDA, so they are also what a destructor that calls CUDA looks like.
#[derive(Debug)]
pub struct Pinned {
    address: *mut AtomicU32,
    length: usize,
    context: Context,
}

// SAFETY: the words are atomic, and memory may be freed by any thread.
unsafe impl Send for Pinned {}
// SAFETY: as above.
unsafe impl Sync for Pinned {}

impl Pinned {
    pub fn words(&self) -> &[AtomicU32] {
        // SAFETY: allocated with that length; zero is a valid atomic.
        unsafe { std::slice::from_raw_parts(self.address, self.length) }
    }

    pub fn device_address(&self) -> u64 {
        self.address.expose_provenance() as u64
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: allocated by `Machine::pinned`; nothing uses it any more.
        let code = self.context.with_current(|| unsafe { sys::cuMemFreeHost(self.address.cast()) });
        // After a fault there is nothing that could be freed.
        assert!(
            !matches!(code, Ok(CUresult::CUDA_ERROR_NOT_PERMITTED) | Err(Error::CalledFromHostFunction)),
            "{code:?}"
        );
    }
}

/// Where values were dropped.
#[derive(Clone, Debug, Default)]
pub struct Drops(Arc<Mutex<Vec<ThreadId>>>);

impl Drops {
    pub fn value(&self) -> Value {
        Value { drops: self.clone() }
    }

    pub fn count(&self) -> usize {
        self.0.lock().len()
    }

    pub fn all_here(&self) -> bool {
        self.0.lock().iter().all(|&id| id == thread::current().id())
    }
}

/// Tells where it was dropped.
#[derive(Debug)]
pub struct Value {
    drops: Drops,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.drops.0.lock().push(thread::current().id());
    }
}

/// Uses what a closure captures, so that it does.
pub fn touch<T>(_captured: T) {}

/// A host function holds its stream up until the gate is opened, or dropped.
#[derive(Debug)]
pub struct Gate(Option<std::sync::mpsc::Sender<()>>);

impl Gate {
    pub fn close(stream: &Stream) -> Result<Self> {
        let (open, opened) = std::sync::mpsc::channel::<()>();
        stream.host_launch(move || touch(opened.recv()))?;
        Ok(Self(Some(open)))
    }

    pub fn open(&mut self) {
        self.0 = None;
    }
}

pub fn equal<T: PartialEq + fmt::Debug>(what: &str, found: &T, expected: &T) -> Result<(), Failed> {
    check(found == expected, || format!("{what}: {found:?}, expected {expected:?}"))
}

/// Reclaims until the condition holds.
pub fn soon(what: &str, condition: impl Fn() -> bool) -> Result<(), Failed> {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        check(Instant::now() < deadline, || format!("not within 10 s: {what}"))?;
        host::reclaim()?;
        thread::yield_now();
    }
    Ok(())
}
