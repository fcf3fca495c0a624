//! A closure between two kernels of a graph: captured once, replayed, replaced.
//!
//! `cargo run -p cuda-hostfn --example graphs`, on a machine with a GPU.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_hostfn::{CaptureMode, Context, Device, LaunchConfig, Module, Stream};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = Context::primary(Device::get(0)?)?;
    let module = Module::from_ptx(&context, include_str!("../tests/fill.ptx"))?;
    let fill = module.kernel::<(u64, u32, u32)>("fill")?;
    let stream = Stream::new(&context)?;
    let config = LaunchConfig::new(1, 32);

    // The kernels write nothing here: no words at no address.
    let replays = Arc::new(AtomicU32::new(0));
    let counted = replays.clone();
    let graph = stream.capture(CaptureMode::ThreadLocal, |stream| {
        // SAFETY: nothing is written.
        unsafe { fill.launch(stream, &config, (0, 0, 1)) }?;
        stream.host_launch(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        })?;
        // SAFETY: as above.
        unsafe { fill.launch(stream, &config, (0, 0, 2)) }?;
        Ok(())
    })?;
    println!("captured {} nodes and {} edges", graph.nodes()?.len(), graph.edges()?.len());

    let mut executable = graph.instantiate(Default::default())?;
    for _ in 0..1000 {
        executable.launch(&stream)?;
    }
    // Launches that are pending keep the closure that they have.
    for node in graph.nodes()? {
        if let Some(node) = node.as_host_node()? {
            executable.replace_host_node(node, || println!("the closure that took its place"))?;
        }
    }
    executable.launch(&stream)?;
    // Both may go: the driver keeps what it needs.
    drop((graph, executable));
    stream.synchronize()?;
    println!("the first closure was called {} times", replays.load(Ordering::Relaxed));
    Ok(())
}
