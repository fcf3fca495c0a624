//! cudarc's context, memory and stream; attributes and host functions of cuda-hostfn on them.

use std::error::Error;

use cuda_hostfn::attribute::{Cooperative, SynchronizationPolicy};
use cuda_hostfn::{BorrowedStream, Kernel, LaunchConfig};
use cudarc::driver::{CudaContext, DevicePtrMut};
use cudarc::nvrtc::Ptx;

const LENGTH: u32 = 1024;

fn main() -> Result<(), Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    let theirs = context.new_stream()?;
    let mut words = theirs.alloc_zeros::<u32>(LENGTH as usize)?;

    // Each crate has its own type for the handle, and both are CUDA's pointer.
    // SAFETY: `theirs` keeps the stream and its context until the end of this function.
    let ours = unsafe { BorrowedStream::from_raw(theirs.cu_stream().cast()) }?;
    ours.set_attribute(SynchronizationPolicy::BlockingSync)?;

    // A kernel that cudarc loaded, launched with attributes.
    let module = context.load_module(Ptx::from_src(include_str!("../../../cuda-hostfn/tests/fill.ptx")))?;
    let function = module.load_function("fill")?;
    // SAFETY: `function` keeps the kernel loaded until the end of this function, and `fill` takes these.
    let fill = unsafe { Kernel::<(u64, u32, u32)>::from_raw(ours.context(), function.cu_function().cast()) }?;
    let config = LaunchConfig::new(8, 128).attribute(Cooperative(true));
    let (address, written) = words.device_ptr_mut(&theirs);
    // SAFETY: the kernel writes `LENGTH` words, which `words` keeps until the stream is synchronised.
    unsafe { fill.launch(&ours, &config, (address, LENGTH, 7)) }?;
    // cudarc notes here that the stream writes the words.
    drop(written);

    // A closure in their stream, with its result.
    let task = ours.host_task(|| "called after the kernel")?;
    println!("{}", task.join()?);
    let written = theirs.clone_dtoh(&words)?;
    theirs.synchronize()?;
    let sevens = written.iter().filter(|&&word| word == 7).count();
    println!("{sevens} of {LENGTH} words; the stream waits with {:?}", ours.synchronization_policy()?);
    if sevens == LENGTH as usize { Ok(()) } else { Err("the kernel did not write them all".into()) }
}
