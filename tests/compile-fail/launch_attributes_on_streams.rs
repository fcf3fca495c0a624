use cuda_hostfn::attribute::*;
use cuda_hostfn::{Event, StreamRef};

fn wrong(stream: &StreamRef, event: &Event) {
    let _ = stream.set_attribute(Ignore);
    let _ = stream.set_attribute(ProgrammaticStreamSerialization(true));
    let _ = stream.set_attribute(ProgrammaticEvent::new(event).unwrap());
    let _ = stream.set_attribute(PreferredClusterDimension::new(4, 1, 1).unwrap());
    let _ = stream.set_attribute(LaunchCompletionEvent::new(event).unwrap());
}

fn main() {}
