use cuda_hostfn::attribute::*;
use cuda_hostfn::{StreamRef};

fn wrong(stream: &StreamRef) {
    let _ = stream.set_attribute(Cooperative(true));
    let _ = stream.set_attribute(ClusterDimension::new(2, 1, 1).unwrap());
    let _ = stream.set_attribute(ClusterSchedulingPolicy::Spread);
    let _ = stream.set_attribute(DeviceUpdatable::YES);
    let _ = stream.set_attribute(PreferredSharedMemoryCarveout::MAX);
    let _ = stream.set_attribute(NvlinkUtilCentricScheduling(true));
    let _ = stream.set_attribute(PortableClusterSizeMode::RequirePortable);
    let _ = stream.set_attribute(SharedMemoryMode::RequirePortable);
}

fn main() {}
