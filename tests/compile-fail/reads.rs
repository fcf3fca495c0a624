use cuda_hostfn::attribute::*;
use cuda_hostfn::{KernelNode, StreamRef};

fn wrong(stream: &StreamRef, node: KernelNode<'_>) {
    let _ = stream.attribute::<Cooperative>();
    let _ = node.attribute::<SynchronizationPolicy>();
    let _ = node.attribute::<NvlinkUtilCentricScheduling>();
}

fn main() {}
