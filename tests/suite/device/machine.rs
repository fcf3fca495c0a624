//! The device that the trials run on, and what they share.

use std::fmt;
use std::ptr;

use cuda_hostfn::sys::{self, CUcontext, CUresult, driver};
use cuda_hostfn::{Context, CudaVersion, Device, Error, Kernel, Module, Result};
use libtest_mimic::Failed;
use simulated_driver_client::{Client, Version};
use tests::check;

/// A device with its context and a kernel that fills words.
#[derive(Clone, Debug)]
pub struct Machine {
    pub device: Device,
    pub context: Context,
    /// `fill(address, length, value)`
    pub fill: Kernel<(u64, u32, u32)>,
    pub module: Module,
    pub driver: CudaVersion,
}

impl Machine {
    /// That of the machine, or a simulated one if there is no driver.
    pub fn find() -> Result<Self, String> {
        match Self::open() {
            Err(Error::NoDriver(_)) if std::env::var_os(driver::OVERRIDE).is_none() => {
                simulated_driver_client::load(Version::V13_0).map_err(|error| error.to_string())?;
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
        Ok(Self { fill: module.kernel("fill")?, device, context, module, driver: cuda_hostfn::driver_version()? })
    }

    pub fn is_simulated(&self) -> bool {
        Client::of_loaded_driver().is_some()
    }

    /// Whether the driver can know an attribute of that version.
    pub fn knows(&self, since: CudaVersion) -> bool {
        self.driver >= since
    }

    /// Clusters need compute capability 9.0.
    pub fn has_clusters(&self) -> bool {
        self.device.compute_capability().is_ok_and(|capability| capability >= (9, 0))
    }

    pub fn words(&self, length: u32) -> Result<Words, Failed> {
        let mut address = 0;
        // SAFETY: the pointer is valid for a write.
        let code = self.context.with_current(|| unsafe { sys::cuMemAlloc(&raw mut address, 4 * length as usize) })?;
        succeeded(code)?;
        Ok(Words { address, length, context: self.context.clone() })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.device.name().unwrap_or_else(|error| error.to_string());
        write!(f, "{name}, driver for CUDA {}, header of {}", self.driver, sys::CUDA_VERSION)
    }
}

/// Device memory for 32-bit words.
#[derive(Debug)]
pub struct Words {
    pub address: u64,
    pub length: u32,
    context: Context,
}

impl Words {
    pub fn read(&self) -> Result<Vec<u32>, Failed> {
        let mut words = vec![0_u32; self.length as usize];
        let bytes = 4 * words.len();
        // SAFETY: both sides have that many bytes.
        let copy = || unsafe { sys::cuMemcpyDtoH(words.as_mut_ptr().cast(), self.address, bytes) };
        succeeded(self.context.with_current(copy)?)?;
        Ok(words)
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        // SAFETY: allocated by `Machine::words`; the trial has synchronised.
        let _ = self.context.with_current(|| unsafe { sys::cuMemFree(self.address) });
    }
}

pub fn succeeded(code: CUresult) -> Result<(), Failed> {
    check(code == CUresult::CUDA_SUCCESS, || format!("{code:?}"))
}

/// The thread's current context, as the driver has it.
pub fn current_context() -> CUcontext {
    let mut context = ptr::null_mut();
    // SAFETY: the pointer is valid for a write.
    let code = unsafe { sys::cuCtxGetCurrent(&raw mut context) };
    assert_eq!(code, CUresult::CUDA_SUCCESS);
    context
}

pub fn equal<T: PartialEq + fmt::Debug>(what: &str, found: &T, expected: &T) -> Result<(), Failed> {
    check(found == expected, || format!("{what}: {found:?}, expected {expected:?}"))
}

/// The driver refused with this code.
pub fn refused<T: fmt::Debug>(what: &str, result: Result<T>, code: CUresult) -> Result<(), Failed> {
    match result {
        Err(error) if error.code() == Some(code) => Ok(()),
        other => Err(format!("{what}: {other:?}, expected {code:?}").into()),
    }
}

/// A local rule refused, before the driver was called.
pub fn invalid<T: fmt::Debug>(field: &str, result: Result<T>) -> Result<(), Failed> {
    match result {
        Err(Error::Invalid(error)) if error.field() == field => Ok(()),
        other => Err(format!("{other:?}, expected a rule about {field}").into()),
    }
}

/// On a thread that has never called CUDA.
pub fn elsewhere<T: Send>(run: impl FnOnce() -> Result<T, Failed> + Send) -> Result<T, Failed> {
    std::thread::scope(|scope| scope.spawn(run).join().map_err(|_| Failed::from("the other thread panicked"))?)
}

/// The trials of a kind have covered exactly the rows of the table that offer it.
pub fn all_covered(covered: &[u32], offered: impl Fn(&cuda_hostfn::attribute::Entry) -> bool) -> Result<(), Failed> {
    let mut covered = covered.to_vec();
    covered.sort_unstable();
    covered.dedup();
    let rows = cuda_hostfn::attribute::CATALOGUE.iter().filter(|row| offered(row));
    equal("the rows covered", &covered, &rows.map(|row| row.id).collect())
}
