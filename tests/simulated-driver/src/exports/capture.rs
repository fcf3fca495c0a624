//! Capturing.

use std::ffi::c_uint;

use cuda_sys::{CUgraphNode, CUresult, CUstreamCaptureMode, CUstreamCaptureStatus};

use super::exports;
#[allow(unused_imports, reason = "the header may have it")]
use crate::abi::newer::*;
use crate::abi::{Handle, LOSSY_QUERY, Result};
use crate::argument::Argument;
use crate::capture::{self, Info, Mode, Status};
use crate::graph::EdgeData;
use crate::state::lock;
use crate::stream::resolve;

exports! {
    [0 Ordinary ptsz] fn cuStreamBeginCapture_v2(stream: CUstream, mode: CUstreamCaptureMode) {
        let mode = mode_of(*mode)?;
        let mut state = lock();
        let stream = resolve(&mut state, stream.handle())?;
        capture::begin(&mut state, stream, mode, None)
    }

    [12030 Ordinary ptsz] fn cuStreamBeginCaptureToGraph(
        stream: CUstream, graph: CUgraph, dependencies: *const CUgraphNode, data: *const CUgraphEdgeData, count: usize,
        mode: CUstreamCaptureMode
    ) {
        let mode = mode_of(*mode)?;
        let after = edges(dependencies, data, *count)?;
        let mut state = lock();
        let stream = resolve(&mut state, stream.handle())?;
        capture::begin(&mut state, stream, mode, Some((graph.handle(), after)))
    }

    [0 Ordinary ptsz] fn cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph) {
        graph.required()?;
        let (ended, destructors) = {
            let mut state = lock();
            let stream = resolve(&mut state, stream.handle())?;
            capture::end(&mut state, stream)
        };
        // Here, and not on a thread of the driver's: measured so.
        for destructor in destructors {
            destructor.run();
            lock().destructors_run += 1;
        }
        graph.write(ended.unwrap_or(Handle::NULL).pointer())?;
        ended.map(drop)
    }

    [0 Query ptsz] fn cuStreamIsCapturing(stream: CUstream, status: *mut CUstreamCaptureStatus) {
        status.required()?;
        let mut state = lock();
        let stream = resolve(&mut state, stream.handle())?;
        status.write(number_of(capture::status(&mut state, stream)?))
    }

    [0 Ordinary ptsz] fn cuStreamGetCaptureInfo_v2(
        stream: CUstream, status: *mut CUstreamCaptureStatus, id: *mut cuuint64_t, graph: *mut CUgraph,
        dependencies: *mut *const CUgraphNode, count: *mut usize
    ) {
        let Some(info) = info(stream.handle(), status)? else { return Ok(()) };
        if info.has_edge_data && !dependencies.is_null() {
            return Err(LOSSY_QUERY);
        }
        id.write_if_wanted(info.id);
        graph.write_if_wanted(info.graph.pointer());
        dependencies.write_if_wanted(info.nodes.cast());
        count.write_if_wanted(info.count);
        Ok(())
    }

    [12030 Ordinary ptsz] fn cuStreamGetCaptureInfo_v3(
        stream: CUstream, status: *mut CUstreamCaptureStatus, id: *mut cuuint64_t, graph: *mut CUgraph,
        dependencies: *mut *const CUgraphNode, data: *mut *const CUgraphEdgeData, count: *mut usize
    ) {
        if !data.is_null() && dependencies.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let Some(info) = info(stream.handle(), status)? else { return Ok(()) };
        if info.has_edge_data && !dependencies.is_null() && data.is_null() {
            return Err(LOSSY_QUERY);
        }
        id.write_if_wanted(info.id);
        graph.write_if_wanted(info.graph.pointer());
        dependencies.write_if_wanted(info.nodes.cast());
        data.write_if_wanted(info.edges.cast());
        count.write_if_wanted(info.count);
        Ok(())
    }

    [0 Ordinary ptsz renamed] fn cuStreamUpdateCaptureDependencies(
        stream: CUstream, dependencies: *mut CUgraphNode, count: usize, flags: c_uint
    ) {
        // SAFETY: NULL.
        let data = unsafe { Argument::new(std::ptr::null::<EdgeData>()) };
        update(stream.handle(), edges(dependencies.as_const(), data, *count)?, *flags)
    }

    [12030 Ordinary ptsz] fn cuStreamUpdateCaptureDependencies_v2(
        stream: CUstream, dependencies: *mut CUgraphNode, data: *const CUgraphEdgeData, count: usize, flags: c_uint
    ) {
        update(stream.handle(), edges(dependencies.as_const(), data, *count)?, *flags)
    }

    [0 Ordinary] fn cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode) {
        let before = capture::exchange_mode(mode_of(mode.as_const().read()?)?);
        mode.write(CUstreamCaptureMode(match before {
            Mode::Global => 0,
            Mode::ThreadLocal => 1,
            Mode::Relaxed => 2,
        }))
    }
}

fn mode_of(mode: CUstreamCaptureMode) -> Result<Mode> {
    match mode.0 {
        0 => Ok(Mode::Global),
        1 => Ok(Mode::ThreadLocal),
        2 => Ok(Mode::Relaxed),
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
}

fn number_of(status: Status) -> CUstreamCaptureStatus {
    CUstreamCaptureStatus(match status {
        Status::None => 0,
        Status::Active => 1,
        Status::Invalidated => 2,
    })
}

/// Tells whether the stream captures, and gives the rest if it does.
fn info(stream: Handle, status: Argument<*mut CUstreamCaptureStatus>) -> Result<Option<Info>> {
    status.required()?;
    let mut state = lock();
    let stream = resolve(&mut state, stream)?;
    status.write(number_of(capture::status(&mut state, stream)?))?;
    capture::info(&mut state, stream)
}

fn update(stream: Handle, nodes: Vec<(Handle, EdgeData)>, flags: c_uint) -> Result {
    const SET: c_uint = 1;
    if flags > SET {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let mut state = lock();
    let stream = resolve(&mut state, stream)?;
    capture::update(&mut state, stream, nodes, flags == SET)
}

/// Nodes with the data of the edges from them, which is all zero if the program gives none.
pub(super) fn edges<T>(
    nodes: Argument<*const CUgraphNode>,
    data: Argument<*const T>,
    count: usize,
) -> Result<Vec<(Handle, EdgeData)>> {
    if count > 0 {
        nodes.required()?;
    }
    let mut edges = Vec::with_capacity(count);
    for (index, node) in nodes.slice(count).iter().enumerate() {
        let data = if data.is_null() { EdgeData::default() } else { edge_data(data.element(index))? };
        edges.push((Handle::of(*node), data));
    }
    Ok(edges)
}

pub(super) fn edge_data<T>(data: Argument<*const T>) -> Result<EdgeData> {
    data.bytes()?.first_chunk().copied().ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
}
