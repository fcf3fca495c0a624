use cuda_hostfn::attribute::*;
use cuda_hostfn::{LaunchConfig};

fn wrong(config: LaunchConfig) {
    let _ = config.attribute(SynchronizationPolicy::Spin);
    let _ = config.attribute(Some(SynchronizationPolicy::Spin));
}

fn main() {}
