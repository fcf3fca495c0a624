//! User objects.

use std::ffi::{c_uint, c_void};

use super::exports;
use crate::abi::UserData;
use crate::state::lock;
use crate::user_object;

exports! {
    [0 Ordinary] fn cuUserObjectCreate(
        object: *mut CUuserObject, pointer: *mut c_void, destroy: CUhostFn, references: c_uint, flags: c_uint
    ) {
        object.required()?;
        let function = (*destroy).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        object.write(user_object::create(&mut lock(), function, UserData(*pointer), *references, *flags)?.pointer())
    }

    [0 Ordinary] fn cuUserObjectRetain(object: CUuserObject, count: c_uint) {
        user_object::retain(&mut lock(), object.handle(), *count)
    }

    [0 Ordinary] fn cuUserObjectRelease(object: CUuserObject, count: c_uint) {
        user_object::release(&mut lock(), object.handle(), *count)
    }

    [0 Ordinary] fn cuGraphRetainUserObject(graph: CUgraph, object: CUuserObject, count: c_uint, flags: c_uint) {
        user_object::retain_by_graph(&mut lock(), graph.handle(), object.handle(), *count, *flags)
    }

    [0 Ordinary] fn cuGraphReleaseUserObject(graph: CUgraph, object: CUuserObject, count: c_uint) {
        user_object::release_by_graph(&mut lock(), graph.handle(), object.handle(), *count)
    }
}
