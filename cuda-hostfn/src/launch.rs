//! Launching kernels: the shape, the attributes, the arguments.
//!
//! ```no_run
//! use cuda_hostfn::attribute::{ClusterDimension, Cooperative, Priority};
//! use cuda_hostfn::{Context, Device, LaunchConfig, Module, Stream};
//!
//! let context = Context::primary(Device::get(0)?)?;
//! let module = Module::from_ptx(&context, include_str!("../tests/fill.ptx"))?;
//! let fill = module.kernel::<(u64, u32, u32)>("fill")?;
//! let stream = Stream::new(&context)?;
//!
//! let urgent = Some(context.priority_range()?.highest());
//! let config = LaunchConfig::new(16, 128)
//!     .dynamic_shared_memory(1024)
//!     .attribute(Cooperative(true))
//!     .attribute(ClusterDimension::new(2, 1, 1)?)
//!     .attribute(urgent); // an Option: with it or without
//! # let (address, length) = (0_u64, 0_u32);
//! // SAFETY: `fill` writes `length` words at `address`, which are there until the stream is done.
//! unsafe { fill.launch(&stream, &config, (address, length, 7)) }?;
//! stream.synchronize()?;
//! # Ok::<(), cuda_hostfn::Error>(())
//! ```
//!
//! Nothing is allocated on the way from here to the driver.

mod arguments;
mod attributes;
mod config;
mod dim;

pub use arguments::{Arguments, KernelArgument};
pub use attributes::{Attributes, LaunchAttribute};
pub use config::LaunchConfig;
pub use dim::Dim3;

use std::ptr;

use crate::attribute::{DeviceUpdatable, GraphDeviceNode, Known, Lowered, MAX_ATTRIBUTES, ReadableFrom, Rules, place};
use crate::error::call;
use crate::sys::CUlaunchConfig;
use crate::{Kernel, Result, StreamRef, host};

/// What a launch gives back.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Launched {
    /// The handle of the captured node for kernels that are to update it, if the launch had
    /// [`DeviceUpdatable::YES`](crate::attribute::DeviceUpdatable::YES).
    pub device_node: Option<GraphDeviceNode>,
}

impl<A: Arguments> Kernel<A> {
    /// Puts the kernel into a stream (`cuLaunchKernelEx`), or into the graph that the stream is capturing.
    ///
    /// It returns before the kernel has run; what goes wrong there is reported by a later call. `config` is only read:
    /// many threads can launch with one. The arguments are copied before it returns.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) if the configuration breaks a rule, in which case the driver was not
    /// called and a capture goes on; otherwise what the driver answers. Of its refusals, `CUDA_ERROR_INVALID_VALUE` for an
    /// attribute leaves a capture valid; others make it invalid, such as `CUDA_ERROR_INVALID_CLUSTER_SIZE`.
    ///
    /// # Safety
    ///
    /// The kernel can do anything. The caller makes sure that what it does with these arguments is sound whenever it
    /// runs: what it points to is there and not raced with, and the [`Module`](crate::Module) is loaded until it is
    /// done. If the stream is capturing, the kernel runs whenever a graph that is made from the capture is launched, which
    /// needs no `unsafe`: what it needs is there then, and its module is loaded, until the graph and every executable
    /// graph made from it are dropped. Code that does not know its stream asks
    /// [`capture_status`](StreamRef::capture_status) first.
    pub unsafe fn launch<L: Attributes>(
        &self,
        stream: &StreamRef,
        config: &LaunchConfig<L>,
        arguments: A,
    ) -> Result<Launched> {
        const { assert!(L::COUNT <= MAX_ATTRIBUTES, "a launch has at most 32 attributes") };
        let mut rules = Rules::new(stream.context());
        let mut lowered = Lowered::new();
        config.attributes.lower(&mut lowered, &mut rules)?;
        self.check_shape(config)?;
        rules.finish(config.grid, || self.compiled_cluster())?;

        let LaunchConfig { grid, block, dynamic_shared_memory, attributes: _ } = config;
        #[expect(clippy::cast_possible_truncation, reason = "at most MAX_ATTRIBUTES")]
        let raw = CUlaunchConfig {
            gridDimX: grid.x,
            gridDimY: grid.y,
            gridDimZ: grid.z,
            blockDimX: block.x,
            blockDimY: block.y,
            blockDimZ: block.z,
            sharedMemBytes: *dynamic_shared_memory,
            hStream: stream.as_raw(),
            numAttrs: lowered.len() as u32,
            attrs: lowered.as_mut_ptr(),
        };
        host::drain();
        arguments.with_pointers(|pointers| {
            // SAFETY: the handles live, the configuration and the pointers are whole; the caller answers for the
            // kernel.
            let launch =
                || unsafe { call!(cuLaunchKernelEx(&raw const raw, self.as_raw(), pointers, ptr::null_mut())) };
            stream.with_context_if_needed(launch)
        })?;
        let node = lowered.get(<DeviceUpdatable as Known>::ID).map(|value| {
            <DeviceUpdatable as ReadableFrom<place::Nodes>>::decode(&value).ok().and_then(DeviceUpdatable::device_node)
        });
        Ok(Launched { device_node: node.flatten() })
    }
}
