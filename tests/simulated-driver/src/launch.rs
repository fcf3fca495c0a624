//! Launching kernels: shapes, and the rules of attributes that depend on more than their value. What the record of the
//! real machine says of these, a test holds against these rules.

use cuda_sys::CUresult;

use crate::abi::{Handle, Result};
use crate::attributes::{self, Attributes};
use crate::device;
use crate::event;
use crate::graph::Kind;
use crate::kernels;
use crate::module::Function;
use crate::record::Surface;
use crate::state::{State, find};
use crate::stream::{self, Enqueued};
use crate::work::Task;
use crate::{capture, context};

pub(crate) const COOPERATIVE: u32 = 2;
pub(crate) const CLUSTER: u32 = 4;
const PROGRAMMATIC_EVENT: u32 = 7;
pub(crate) const PREFERRED_CLUSTER: u32 = 11;
const COMPLETION_EVENT: u32 = 12;
pub(crate) const DEVICE_UPDATABLE: u32 = 13;
/// Where the value of the last has the device's handle of the node.
pub(crate) const DEVICE_NODE_AT: usize = 8;

/// Grid, block and dynamic shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_memory: u32,
}

/// Why a launch is refused, and whether that costs a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: CUresult,
    pub(crate) invalidates: bool,
}

/// What a launch is asked to do.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) function: Handle,
    pub(crate) shape: Shape,
    /// Ids and whole values.
    pub(crate) attributes: Vec<(u32, &'a [u8])>,
    pub(crate) parameters: Vec<Box<[u8]>>,
}

impl Shape {
    pub(crate) fn blocks(self) -> u64 {
        self.grid.into_iter().map(u64::from).product()
    }

    pub(crate) fn threads(self) -> u64 {
        self.blocks() * self.block.into_iter().map(u64::from).product::<u64>()
    }

    pub(crate) fn check(self) -> Result {
        let [x, y, z] = self.grid;
        let block: u64 = self.block.into_iter().map(u64::from).product();
        let fits = x <= i32::MAX.cast_unsigned() && y <= 65535 && z <= 65535 && self.block[2] <= 64;
        let is_empty = self.blocks() == 0 || block == 0;
        let too_much = block > u64::from(device::THREADS_PER_BLOCK) || self.shared_memory > 232_448;
        if fits && !is_empty && !too_much { Ok(()) } else { Err(CUresult::CUDA_ERROR_INVALID_VALUE) }
    }
}

/// The kernel with all it needs.
pub(crate) fn prepare(state: &State, request: &Request<'_>) -> Result<kernels::Launch> {
    request.shape.check()?;
    let function = find(&state.functions, request.function)?;
    Ok(kernels::Launch {
        function: request.function,
        context: function.context,
        name: function.name.clone(),
        shape: request.shape,
        parameters: request.parameters.clone(),
    })
}

/// Launches a kernel. The answer is the device's handle of the captured node, if that was asked for.
pub(crate) fn launch(state: &mut State, stream: Handle, request: &Request<'_>) -> Result<Option<u64>> {
    let capture = capture::of_stream(state, stream)?;
    let kernel = prepare(state, request).inspect_err(|_| capture::invalidate(state, stream))?;
    let stream_context = find(&state.streams, stream)?.context;
    if kernel.context != stream_context {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    let surface = if capture.is_some() { Surface::LaunchCapturing } else { Surface::Launch };
    let mut accepted = if capture.is_some() { inherited(state, stream) } else { Attributes::new() };
    let mut events = Vec::new();
    for &(id, value) in &request.attributes {
        match id {
            CLUSTER | PREFERRED_CLUSTER => {
                attributes::refuse_id(surface, id)?;
                accepted.insert(id, value[..12].to_vec());
            }
            PROGRAMMATIC_EVENT | COMPLETION_EVENT => {
                attributes::refuse_id(surface, id)?;
                events.push(check_event(state, surface, id, value)?);
            }
            _ => attributes::set(surface, id, value, &mut accepted)?,
        }
    }
    if let Err(refusal) = check(find(&state.functions, request.function)?, request.shape, &accepted) {
        if capture.is_some() && refusal.invalidates {
            capture::invalidate(state, stream);
        }
        return Err(refusal.code);
    }
    if let Some(capture) = capture {
        let device_node = assign_device_node(state, &mut accepted);
        let node = capture::add(state, stream, Kind::Kernel(kernel), accepted)?;
        for event in events {
            if let Some(event) = state.events.get_mut(&event) {
                event.set_captured(capture, vec![node]);
            }
        }
        return Ok(device_node);
    }
    context::check(state, stream_context)?;
    stream::enqueue(state, stream, Task::Kernel(kernel)).map(|Enqueued| ())?;
    for event in events {
        event::record(state, event, stream)?;
    }
    Ok(None)
}

/// What a captured kernel takes over from its stream: the attributes that streams and nodes both have.
fn inherited(state: &State, stream: Handle) -> Attributes {
    let both = |id: u32| {
        [Surface::StreamSet, Surface::NodeSet].iter().all(|surface| attributes::refuse_id(*surface, id).is_ok())
    };
    let of_stream = state.streams.get(&stream).map(|stream| &stream.attributes);
    of_stream.into_iter().flatten().filter(|(id, _)| both(**id)).map(|(id, value)| (*id, value.clone())).collect()
}

/// Gives a node that is to be device-updatable a handle for the device.
pub(crate) fn assign_device_node(state: &mut State, attributes: &mut Attributes) -> Option<u64> {
    if !is_device_updatable(attributes) {
        return None;
    }
    let handle = state.new_handle().number();
    if let Some(value) = attributes.get_mut(&DEVICE_UPDATABLE) {
        value.resize(DEVICE_NODE_AT, 0);
        value.extend(handle.to_le_bytes());
    }
    Some(handle)
}

pub(crate) fn is_device_updatable(attributes: &Attributes) -> bool {
    attributes.get(&DEVICE_UPDATABLE).is_some_and(|value| value.iter().take(4).any(|byte| *byte != 0))
}

/// The rules for clusters and cooperative launches.
pub(crate) fn check(function: &Function, shape: Shape, attributes: &Attributes) -> std::result::Result<(), Refusal> {
    let refuse = |code, invalidates| Err(Refusal { code, invalidates });
    let cluster = Dimensions::of(attributes, CLUSTER);
    let preferred = Dimensions::of(attributes, PREFERRED_CLUSTER);
    // Zero in part is refused before a capture gets to know of it.
    if cluster.is_partly_zero() || preferred.is_partly_zero() {
        return refuse(CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE, false);
    }
    let largest = u64::from(function.largest_cluster());
    let is_cluster = cluster.divides(shape.grid) && cluster.blocks() <= largest;
    if !(cluster.is_zero() || is_cluster) {
        return refuse(CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE, true);
    }
    if !preferred.is_zero() {
        // A preferred cluster may be larger than those that every kernel can have.
        let fits = preferred.divides(shape.grid) && preferred.blocks() <= u64::from(device::LARGEST_CLUSTER);
        if cluster.is_zero() || !fits || !cluster.divides(preferred.0) {
            return refuse(CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE, true);
        }
    }
    let is_cooperative = attributes.get(&COOPERATIVE).is_some_and(|value| value.iter().any(|byte| *byte != 0));
    if is_cooperative && shape.blocks() > device::RESIDENT_BLOCKS {
        return refuse(CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, true);
    }
    Ok(())
}

#[derive(Clone, Copy, Debug)]
struct Dimensions([u32; 3]);

impl Dimensions {
    fn of(attributes: &Attributes, id: u32) -> Self {
        let mut dimensions = [0; 3];
        let words = attributes.get(&id).map(|value| value.as_chunks().0).unwrap_or_default();
        for (dimension, word) in dimensions.iter_mut().zip(words) {
            *dimension = u32::from_le_bytes(*word);
        }
        Self(dimensions)
    }

    fn is_zero(self) -> bool {
        self.0 == [0; 3]
    }

    fn is_partly_zero(self) -> bool {
        !self.is_zero() && self.0.contains(&0)
    }

    fn blocks(self) -> u64 {
        self.0.into_iter().map(u64::from).product()
    }

    fn divides(self, other: [u32; 3]) -> bool {
        self.0.into_iter().zip(other).all(|(part, whole)| part != 0 && whole.is_multiple_of(part))
    }
}

/// The rules for an event that a launch records.
fn check_event(state: &State, surface: Surface, id: u32, value: &[u8]) -> Result<Handle> {
    const EXTERNAL: u32 = 1;
    let number = |at: usize| value[at..].first_chunk().copied().map_or(0, u32::from_le_bytes);
    let address = value.first_chunk().copied().map_or(0, u64::from_le_bytes);
    let handle = Handle::of(std::ptr::without_provenance_mut::<u8>(usize::try_from(address).unwrap_or_default()));
    let event = find(&state.events, handle)?;
    let is_capturing = surface == Surface::LaunchCapturing;
    match number(8) {
        0 => {}
        EXTERNAL if is_capturing => return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
        EXTERNAL => return Err(CUresult::CUDA_ERROR_ILLEGAL_STATE),
        _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
    if event.flags & event::INTERPROCESS != 0 {
        return Err(if is_capturing {
            CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
        } else {
            CUresult::CUDA_ERROR_NOT_SUPPORTED
        });
    }
    let wants_blocking = event.flags & event::BLOCKING_SYNC != 0 && id == COMPLETION_EVENT;
    if event.has_timing() || wants_blocking {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    Ok(handle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_here_are_for_ids_that_the_record_has() {
        for id in [COOPERATIVE, CLUSTER, PROGRAMMATIC_EVENT, PREFERRED_CLUSTER, COMPLETION_EVENT, DEVICE_UPDATABLE] {
            assert_eq!(attributes::refuse_id(Surface::LaunchCapturing, id), Ok(()), "{id}");
        }
    }

    #[test]
    fn shapes() {
        let shape = |grid, block| Shape { grid, block, shared_memory: 0 }.check();
        assert_eq!(shape([1, 1, 1], [1024, 1, 1]), Ok(()));
        for (grid, block) in
            [([0, 1, 1], [1, 1, 1]), ([1, 1, 1], [0, 1, 1]), ([1, 65536, 1], [1, 1, 1]), ([1, 1, 1], [33, 32, 1])]
        {
            assert_eq!(shape(grid, block), Err(CUresult::CUDA_ERROR_INVALID_VALUE), "{grid:?} {block:?}");
        }
    }
}
