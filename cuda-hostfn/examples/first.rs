//! The first program of the README.

use std::sync::atomic::{AtomicU32, Ordering};

use cuda_hostfn::attribute::{Cooperative, SynchronizationPolicy};
use cuda_hostfn::sys::{CUresult, cuMemAllocHost, cuMemFreeHost};
use cuda_hostfn::{Context, Device, LaunchConfig, Module, Stream};

const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry store_u32(.param .u64 address, .param .u32 value)
{
    .reg .b64 %address;
    .reg .b32 %value;
    ld.param.u64 %address, [address];
    ld.param.u32 %value, [value];
    st.volatile.u32 [%address], %value;
    ret;
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = Context::primary(Device::get(0)?)?;
    let store = Module::from_ptx(&context, PTX)?.kernel("store_u32")?;

    // An attribute of the stream: threads that wait for it sleep.
    let stream = Stream::new(&context)?;
    stream.set_attribute(SynchronizationPolicy::BlockingSync)?;

    // Memory that the device and the host see.
    let mut memory = std::ptr::null_mut();
    // SAFETY: the pointer is valid for a write.
    assert_eq!(context.with_current(|| unsafe { cuMemAllocHost(&raw mut memory, 4) })?, CUresult::CUDA_SUCCESS);
    // SAFETY: just allocated, of that size, and freed at the end.
    let word: &'static AtomicU32 = unsafe { &*memory.cast() };

    // A kernel, with an attribute of the launch.
    let config = LaunchConfig::new(1, 1).attribute(Cooperative(true));
    // SAFETY: the kernel writes one word at the address, which is there until the stream is done.
    unsafe { store.launch(&stream, &config, (memory.expose_provenance() as u64, 42_u32)) }?;

    // A host function behind it, and its result.
    let task = stream.host_task(|| word.load(Ordering::Relaxed))?;
    println!("the kernel wrote {}", task.join()?);
    stream.synchronize()?;
    // SAFETY: allocated above; kernel and host function are done with it.
    context.with_current(|| unsafe { cuMemFreeHost(memory) })?;
    Ok(())
}
