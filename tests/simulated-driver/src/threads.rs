//! The driver's own threads, which live as long as the process.

use std::thread::Builder;

use crate::{host_functions, user_object, worker};

/// Starts them all.
///
/// # Panics
///
/// If the system has no thread left.
pub(crate) fn start() {
    let threads: [(&str, fn()); 3] =
        [("simulated-gpu", worker::run), ("simulated-host", host_functions::run), ("simulated-drop", user_object::run)];
    for (name, run) in threads {
        // Nobody waits for them: they end with the process.
        drop(Builder::new().name(name.to_owned()).spawn(run).expect("the system gives out a thread"));
    }
}
