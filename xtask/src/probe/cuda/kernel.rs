//! Two kernels that do nothing, and launching them.

use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::ptr;

use cuda_sys::{
    CUfunction, CUfunction_attribute, CUlaunchAttribute, CUlaunchConfig, CUmodule, cuFuncSetAttribute,
    cuLaunchKernelEx, cuModuleGetFunction, cuModuleLoadData, cuModuleUnload, cuOccupancyMaxPotentialClusterSize,
};

use super::attribute::Attribute;
use super::context::Context;
use super::status::{Failed, Status, check};
use super::stream::Target;

/// Threads in a block of every launch.
pub(super) const THREADS: u32 = 32;

/// For the oldest device that the probe works on; the driver compiles it for newer ones.
const PTX: &CStr = c"\
.version 6.3
.target sm_75
.address_size 64
.visible .entry portable() { ret; }
.visible .entry any_cluster() { ret; }
";

/// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`.
const NON_PORTABLE_CLUSTER_SIZE_ALLOWED: CUfunction_attribute = CUfunction_attribute(14);

#[derive(Debug)]
pub(crate) struct Module<'context> {
    handle: CUmodule,
    context: PhantomData<&'context Context>,
}

impl<'context> Module<'context> {
    pub(crate) fn load(_: &'context Context) -> Result<Self, Failed> {
        let mut handle: CUmodule = ptr::null_mut();
        // SAFETY: the image is PTX that ends with NUL; the pointer is valid for the call.
        check("cuModuleLoadData", unsafe { cuModuleLoadData(&raw mut handle, PTX.as_ptr().cast()) })?;
        Ok(Self { handle, context: PhantomData })
    }

    /// A kernel as kernels are.
    pub(crate) fn portable(&self) -> Result<Kernel<'_>, Failed> {
        self.kernel(c"portable")
    }

    /// A kernel that allows clusters larger than every device has.
    pub(crate) fn any_cluster(&self) -> Result<Kernel<'_>, Failed> {
        let kernel = self.kernel(c"any_cluster")?;
        // SAFETY: the function belongs to this module, which is alive.
        check("cuFuncSetAttribute", unsafe {
            cuFuncSetAttribute(kernel.function, NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
        })?;
        Ok(kernel)
    }

    fn kernel(&self, name: &CStr) -> Result<Kernel<'_>, Failed> {
        let mut function: CUfunction = ptr::null_mut();
        // SAFETY: the module is alive, the name ends with NUL, the pointer is valid for the call.
        check("cuModuleGetFunction", unsafe { cuModuleGetFunction(&raw mut function, self.handle, name.as_ptr()) })?;
        Ok(Kernel { function, module: PhantomData })
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: loaded by `load`, unloaded only here; kernels borrow it.
        let _: Status = unsafe { cuModuleUnload(self.handle) }.into();
    }
}

/// A kernel without parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel<'module> {
    function: CUfunction,
    module: PhantomData<&'module Module<'module>>,
}

impl Kernel<'_> {
    pub(super) fn function(self) -> CUfunction {
        self.function
    }

    /// The driver may write into an attribute of a launch; what it writes is not looked at.
    pub(crate) fn launch(self, stream: Target<'_>, blocks: u32, attributes: &[Attribute]) -> Status {
        let mut attributes: Vec<CUlaunchAttribute> = attributes.iter().map(|attribute| attribute.lower()).collect();
        let mut config = one_dimensional(blocks);
        config.hStream = stream.handle();
        config.numAttrs = u32::try_from(attributes.len()).unwrap_or(u32::MAX);
        config.attrs = attributes.as_mut_ptr();
        // SAFETY: stream and function are alive, the function has no parameters, the attributes are as many as told.
        // Their values may be wrong on purpose: a driver that crashes at one ends this process alone.
        unsafe { cuLaunchKernelEx(&raw const config, self.function, ptr::null_mut(), ptr::null_mut()) }.into()
    }

    /// The most blocks that a cluster of this kernel can have on this device.
    pub(crate) fn largest_cluster(self, blocks: u32) -> Result<u32, Failed> {
        let mut size: c_int = 0;
        let config = one_dimensional(blocks);
        // SAFETY: the function is alive, the pointers are valid for the call.
        check("cuOccupancyMaxPotentialClusterSize", unsafe {
            cuOccupancyMaxPotentialClusterSize(&raw mut size, self.function, &raw const config)
        })?;
        Ok(u32::try_from(size).unwrap_or(0))
    }
}

fn one_dimensional(blocks: u32) -> CUlaunchConfig {
    CUlaunchConfig {
        gridDimX: blocks,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: THREADS,
        blockDimY: 1,
        blockDimZ: 1,
        ..Default::default()
    }
}
