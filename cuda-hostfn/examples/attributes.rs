//! Sets attributes in all three places, runs a kernel with them, and prints what the driver says they are.

use std::error::Error;

use cuda_hostfn::attribute::{ClusterDimension, Cooperative, SynchronizationPolicy};
use cuda_hostfn::sys::{cuMemAlloc, cuMemFree, cuMemcpyDtoH};
use cuda_hostfn::{CaptureMode, Context, Device, InstantiateOptions, LaunchConfig, Module, Priority, StreamOptions};

const LENGTH: u32 = 2048;
const BYTES: usize = size_of::<u32>() * LENGTH as usize;
const VALUE: u32 = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::get(0)?;
    println!("{}, driver for CUDA {}", device.name()?, cuda_hostfn::driver_version()?);
    let context = Context::primary(device)?;
    let module = Module::from_ptx(&context, include_str!("../tests/fill.ptx"))?;
    let fill = module.kernel::<(u64, u32, u32)>("fill")?;

    let stream = StreamOptions::new()
        .non_blocking(true)
        .synchronization_policy(SynchronizationPolicy::BlockingSync)
        .create(&context)?;
    println!("stream: {:?}, {:?}", stream.synchronization_policy()?, stream.priority()?);

    let clusters = device.compute_capability()? >= (9, 0);
    let config = LaunchConfig::new(16, 128)
        .attribute(Cooperative(true))
        .attribute(context.priority_range()?.highest())
        .attribute(clusters.then(|| ClusterDimension::new(2, 1, 1)).transpose()?);

    let words = context.with_current(allocate)?;
    stream.begin_capture(CaptureMode::ThreadLocal)?;
    // SAFETY: the kernel writes `LENGTH` words, which are there until the end of this function.
    unsafe { fill.launch(&stream, &config, (words, LENGTH, VALUE)) }?;
    let graph = stream.end_capture()?;
    for node in graph.kernel_nodes()? {
        println!("node: {:?}, {:?}", node.attribute::<Cooperative>()?, node.attribute::<Priority>()?);
        println!("node: {:?}", node.attribute::<ClusterDimension>()?);
    }
    graph.instantiate(InstantiateOptions::new().use_node_priority(true))?.launch(&stream)?;
    stream.synchronize()?;

    let written = context.with_current(|| read_and_free(words))?;
    println!("{} of {LENGTH} words written", written.iter().filter(|&&word| word == VALUE).count());
    if written.iter().any(|&word| word != VALUE) { Err("the kernel did not write them all".into()) } else { Ok(()) }
}

fn allocate() -> u64 {
    let mut address = 0;
    // SAFETY: the pointer is valid for a write.
    let code = unsafe { cuMemAlloc(&raw mut address, BYTES) };
    assert_eq!(code, cuda_hostfn::sys::CUresult::CUDA_SUCCESS);
    address
}

fn read_and_free(address: u64) -> Vec<u32> {
    let mut words = vec![0_u32; LENGTH as usize];
    // SAFETY: both sides have the size.
    let code = unsafe { cuMemcpyDtoH(words.as_mut_ptr().cast(), address, BYTES) };
    assert_eq!(code, cuda_hostfn::sys::CUresult::CUDA_SUCCESS);
    // SAFETY: allocated by `allocate`, and nothing uses it any more.
    unsafe { cuMemFree(address) };
    words
}
