//! The three places that attributes are for, as types: `A: ValidFor<place::Launches>`.
//!
//! Which places go together is a trait, [`OfStreams`] and the like, of which an attribute names one. When an attribute
//! is used in another place, the trait's message is the compiler's error.

/// Attributes of a stream, which the work in it takes on:
/// [`StreamRef::set_attribute`](crate::StreamRef::set_attribute).
#[derive(Clone, Copy, Debug)]
pub enum Streams {}

/// Attributes of one kernel launch: [`LaunchConfig::attribute`](crate::LaunchConfig::attribute).
#[derive(Clone, Copy, Debug)]
pub enum Launches {}

/// Attributes of a kernel node in a graph: [`KernelNode::set_attribute`](crate::KernelNode::set_attribute).
#[derive(Clone, Copy, Debug)]
pub enum Nodes {}

/// One of the three.
pub trait Place: sealed::Sealed {}

impl Place for Streams {}
impl Place for Launches {}
impl Place for Nodes {}

/// The places of attributes for streams.
#[diagnostic::on_unimplemented(
    message = "an attribute of streams cannot be set in the place `{Self}`",
    label = "valid for streams only",
    note = "set it on a stream: `stream.set_attribute(…)`, or `StreamOptions` when the stream is created",
    note = "in the place `{Self}`, drivers answer CUDA_ERROR_INVALID_VALUE"
)]
pub trait OfStreams: Place {}

/// The places of attributes for launches.
#[diagnostic::on_unimplemented(
    message = "an attribute of launches cannot be set in the place `{Self}`",
    label = "valid for launches only",
    note = "set it on a launch: `LaunchConfig::new(…).attribute(…)`",
    note = "in the place `{Self}`, drivers answer CUDA_ERROR_INVALID_VALUE"
)]
pub trait OfLaunches: Place {}

/// The places of attributes for launches and nodes.
#[diagnostic::on_unimplemented(
    message = "an attribute of launches and graph nodes cannot be set in the place `{Self}`",
    label = "valid for launches and graph kernel nodes only",
    note = "set it on a launch: `LaunchConfig::new(…).attribute(…)`, or on a node: `node.set_attribute(…)`",
    note = "in the place `{Self}`, drivers answer CUDA_ERROR_INVALID_VALUE"
)]
pub trait OfLaunchesAndNodes: Place {}

impl OfStreams for Streams {}
impl OfLaunches for Launches {}
impl OfLaunchesAndNodes for Launches {}
impl OfLaunchesAndNodes for Nodes {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Streams {}
    impl Sealed for super::Launches {}
    impl Sealed for super::Nodes {}
}
