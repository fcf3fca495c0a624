//! The device that trials run on.

use std::{env, fmt};

use cuda_hostfn::sys::{self, driver};
use cuda_hostfn::{Context, CudaVersion, Device, Error, Kernel, Module, Result, Stream};
use libtest_mimic::Failed;
use simulated_driver_client::{Client, Version};

use crate::{Pinned, Words, disorder};

/// Names the CUDA version to simulate, wherever there is a driver or none.
pub const SIMULATED: &str = "CUDA_TESTS_SIMULATED";

/// A device with its context and a kernel that fills words.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The first one.
    pub device: Device,
    /// Its primary context.
    pub context: Context,
    /// `fill(address, length, value)`
    pub fill: Kernel<(u64, u32, u32)>,
    /// That of the kernel.
    pub module: Module,
    /// What the driver says that it is.
    pub driver: CudaVersion,
}

impl Machine {
    /// That of the machine, or a simulated one of this version if there is no driver. `CUDA_TESTS_SIMULATED`, which names
    /// a version, and `CUDA_TESTS_SEED`, which asks for disorder, have one simulated in any case.
    ///
    /// # Errors
    ///
    /// Why there is none, in words.
    ///
    /// # Panics
    ///
    /// If one of these variables is set and wrong, or nothing can be done on the simulated driver: a suite must not look as
    /// if there were only no driver.
    pub fn find(simulated: Version) -> Result<Self, String> {
        let seed = disorder::seed();
        let version = env::var(SIMULATED)
            .ok()
            .map(|text| text.parse().unwrap_or_else(|why| panic!("{SIMULATED} is {text:?}: {why}")));
        if seed.is_some() || version.is_some() {
            return Ok(Self::simulate(version.unwrap_or(simulated), seed));
        }
        match Self::open() {
            Err(Error::NoDriver(_)) if env::var_os(driver::OVERRIDE).is_none() => Ok(Self::simulate(simulated, None)),
            result => result.map_err(|error| error.to_string()),
        }
    }

    fn simulate(version: Version, seed: Option<u64>) -> Self {
        simulated_driver_client::load(version).unwrap_or_else(|error| panic!("{error}"));
        seed.into_iter().for_each(disorder::begin);
        Self::open().unwrap_or_else(|error| panic!("on the simulated driver: {error}"))
    }

    fn open() -> Result<Self> {
        let device = Device::get(0)?;
        let context = Context::primary(device)?;
        let module = Module::from_ptx(&context, include_str!("../../cuda-hostfn/tests/fill.ptx"))?;
        Ok(Self { fill: module.kernel("fill")?, device, context, module, driver: cuda_hostfn::driver_version()? })
    }

    /// Whether it is the simulated one.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        Client::of_loaded_driver().is_some()
    }

    /// Whether the driver can know an attribute of that version.
    #[must_use]
    pub fn knows(&self, since: CudaVersion) -> bool {
        self.driver >= since
    }

    /// Clusters need compute capability 9.0.
    #[must_use]
    pub fn has_clusters(&self) -> bool {
        self.device.compute_capability().is_ok_and(|capability| capability >= (9, 0))
    }

    /// A new stream.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn stream(&self) -> Result<Stream> {
        Stream::new(&self.context)
    }

    /// Memory of the device.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn words(&self, length: u32) -> Result<Words, Failed> {
        Words::new(&self.context, length)
    }

    /// Memory that the host and the device see at one address; all 0.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn pinned(&self, length: usize) -> Result<Pinned, Failed> {
        Pinned::new(&self.context, length)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.device.name().unwrap_or_else(|error| error.to_string());
        write!(f, "{name}, driver for CUDA {}, header of {}", self.driver, sys::CUDA_VERSION)?;
        match disorder::seed() {
            Some(seed) => write!(f, ", in the disorder of seed {seed}"),
            None => Ok(()),
        }
    }
}
