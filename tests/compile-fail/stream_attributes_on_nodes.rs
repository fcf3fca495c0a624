use cuda_hostfn::attribute::*;
use cuda_hostfn::{KernelNode};

fn wrong(node: KernelNode<'_>) {
    let _ = node.set_attribute(SynchronizationPolicy::Spin);
}

fn main() {}
