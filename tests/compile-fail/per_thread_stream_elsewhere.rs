use cuda_hostfn::{PerThreadStream, StreamRef};

fn on_another_thread<T: Send>() {}

fn main() {
    on_another_thread::<PerThreadStream>();
    on_another_thread::<&PerThreadStream>();
    on_another_thread::<&StreamRef>();
}
