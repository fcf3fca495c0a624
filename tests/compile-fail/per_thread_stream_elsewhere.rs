use cuda_hostfn::{PerThreadStream, StreamRef};

fn wrong(stream: PerThreadStream, borrowed: &StreamRef) {
    std::thread::spawn(move || drop(stream));
    std::thread::scope(|scope| scope.spawn(|| drop(borrowed.synchronize())).join().unwrap());
}

fn main() {}
