use cuda_hostfn::attribute::*;
use cuda_hostfn::{Event, KernelNode};

fn wrong(node: KernelNode<'_>, event: &Event) {
    let _ = node.set_attribute(Ignore);
    let _ = node.set_attribute(ProgrammaticStreamSerialization(true));
    let _ = node.set_attribute(ProgrammaticEvent::new(event).unwrap());
    let _ = node.set_attribute(PreferredClusterDimension::new(4, 1, 1).unwrap());
    let _ = node.set_attribute(LaunchCompletionEvent::new(event).unwrap());
}

fn main() {}
