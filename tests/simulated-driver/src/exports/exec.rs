//! Executable graphs.

use std::ffi::{c_char, c_ulonglong};

use cuda_sys::{CUgraphExec, CUgraphExecUpdateResult, CUresult};

use super::exports;
#[allow(unused_imports, reason = "the header may have it")]
use crate::abi::newer::*;
use crate::abi::{Handle, Result};
use crate::argument::Argument;
use crate::exec::{self, Update};
use crate::state::{hold_back, lock};
use crate::stream::resolve;

exports! {
    [0 Ordinary] fn cuGraphInstantiateWithFlags(exec: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong) {
        instantiate(exec, graph.handle(), *flags)
    }

    [0 Ordinary renamed] fn cuGraphInstantiate_v2(
        exec: *mut CUgraphExec, graph: CUgraph, error_node: *mut CUgraphNode, log: *mut c_char, room: usize
    ) {
        error_node.write_if_wanted(std::ptr::null_mut());
        if *room > 0 {
            log.write_if_wanted(0);
        }
        instantiate(exec, graph.handle(), 0)
    }

    [0 Ordinary] fn cuGraphExecDestroy(exec: CUgraphExec) {
        exec::destroy(&mut lock(), exec.handle())
    }

    [12000 Ordinary] fn cuGraphExecGetFlags(exec: CUgraphExec, flags: *mut cuuint64_t) {
        flags.write(exec::get(&lock(), exec.handle())?.flags)
    }

    [0 Query ptsz] fn cuGraphLaunch(exec: CUgraphExec, stream: CUstream) {
        let mut state = lock();
        hold_back(&mut state);
        let stream = resolve(&mut state, stream.handle())?;
        exec::launch(&mut state, exec.handle(), stream)
    }

    [0 Ordinary ptsz] fn cuGraphUpload(exec: CUgraphExec, stream: CUstream) {
        let mut state = lock();
        let stream = resolve(&mut state, stream.handle())?;
        exec::upload(&mut state, exec.handle(), stream)
    }

    [0 Ordinary renamed] fn cuGraphExecUpdate(
        exec: CUgraphExec, graph: CUgraph, error_node: *mut CUgraphNode, result: *mut CUgraphExecUpdateResult
    ) {
        let update = exec::update(&mut lock(), exec.handle(), graph.handle())?;
        let (number, node) = told(update);
        result.write_if_wanted(number);
        error_node.write_if_wanted(node.pointer());
        outcome(update)
    }

    [12000 Ordinary] fn cuGraphExecUpdate_v2(
        exec: CUgraphExec, graph: CUgraph, result: *mut CUgraphExecUpdateResultInfo
    ) {
        let update = exec::update(&mut lock(), exec.handle(), graph.handle())?;
        let (number, node) = told(update);
        result.write(CUgraphExecUpdateResultInfo {
            result: number,
            errorNode: node.pointer(),
            errorFromNode: std::ptr::null_mut(),
        })?;
        outcome(update)
    }
}

fn instantiate(exec: Argument<*mut CUgraphExec>, graph: Handle, flags: u64) -> Result {
    exec.required()?;
    exec.write(exec::instantiate(&mut lock(), graph, flags)?.pointer())
}

fn told(update: Update) -> (CUgraphExecUpdateResult, Handle) {
    let (number, node) = match update {
        Update::Done => (0, Handle::NULL),
        Update::TopologyChanged(node) => (2, node),
        Update::NodeTypeChanged(node) => (3, node),
    };
    (CUgraphExecUpdateResult(number), node)
}

fn outcome(update: Update) -> Result {
    match update {
        Update::Done => Ok(()),
        _ => Err(CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE),
    }
}
