//! The driver's calls that the probe makes, safe to make: handles are released when dropped, and a thread has its
//! context. Answers that are data stay a [`Status`]; what has to work before anything can be asked is a [`Failed`].

mod attribute;
mod context;
mod event;
mod graph;
mod kernel;
mod status;
mod stream;

pub(super) use attribute::{Attribute, SIZE, Value};
pub(super) use context::{Context, Device, Memory, device_count, driver_version, hint, initialise};
pub(super) use event::Event;
pub(super) use graph::{Graph, Node};
pub(super) use kernel::{Kernel, Module};
pub(super) use status::{Failed, Status};
pub(super) use stream::{Stream, Target};
