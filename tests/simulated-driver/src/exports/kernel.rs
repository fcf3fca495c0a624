//! Modules, functions and launches.

use std::ffi::{c_char, c_int, c_uint, c_void};

use cuda_sys::CUresult;

use super::exports;
use crate::abi::{Handle, Result};
use crate::argument::Argument;
use crate::launch::{self, DEVICE_NODE_AT, Request, Shape};
use crate::module::{self, Image};
use crate::state::{State, find, find_mut, hold_back, lock};
use crate::stream::resolve;

exports! {
    [0 Ordinary] fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void) {
        load(module, image)
    }

    [0 Ordinary] fn cuModuleLoadDataEx(
        module: *mut CUmodule, image: *const c_void, count: c_uint, options: *mut CUjit_option, values: *mut *mut c_void
    ) {
        let loaded = load(module, image);
        if loaded == Err(CUresult::CUDA_ERROR_INVALID_PTX) {
            let count = usize::try_from(*count).unwrap_or_default();
            values.write_log(options.as_const().slice(count), "simulated ptxas: fatal: this is no PTX");
        }
        loaded
    }

    [0 Ordinary] fn cuModuleUnload(module: CUmodule) {
        module::unload(&mut lock(), module.handle())
    }

    [0 Ordinary] fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char) {
        function.required()?;
        function.write(module::function(&mut lock(), module.handle(), name.text()?)?.pointer())
    }

    [0 Ordinary] fn cuFuncGetAttribute(value: *mut c_int, attribute: CUfunction_attribute, function: CUfunction) {
        value.write(find(&lock().functions, function.handle())?.attribute(attribute.0)?)
    }

    [0 Ordinary] fn cuFuncSetAttribute(function: CUfunction, attribute: CUfunction_attribute, value: c_int) {
        find_mut(&mut lock().functions, function.handle())?.set_attribute(attribute.0, *value)
    }

    [0 Ordinary] fn cuFuncGetModule(module: *mut CUmodule, function: CUfunction) {
        module.write(find(&lock().functions, function.handle())?.module.pointer())
    }

    [12030 Ordinary] fn cuFuncGetName(name: *mut *const c_char, function: CUfunction) {
        name.write(find(&lock().functions, function.handle())?.c_name.as_ptr())
    }

    [12040 Ordinary] fn cuFuncGetParamInfo(function: CUfunction, index: usize, offset: *mut usize, size: *mut usize) {
        let (start, length) = find(&lock().functions, function.handle())?.parameter(*index)?;
        offset.write(start)?;
        size.write_if_wanted(length);
        Ok(())
    }

    [11080 Ordinary] fn cuOccupancyMaxPotentialClusterSize(
        size: *mut c_int, function: CUfunction, config: *const CUlaunchConfig
    ) {
        config.required()?;
        size.write(find(&lock().functions, function.handle())?.largest_cluster().cast_signed())
    }

    [0 Ordinary ptsz] fn cuLaunchKernel(
        function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, shared_memory: c_uint, stream: CUstream, parameters: *mut *mut c_void, extra: *mut *mut c_void
    ) {
        let shape = Shape {
            grid: [*grid_x, *grid_y, *grid_z],
            block: [*block_x, *block_y, *block_z],
            shared_memory: *shared_memory,
        };
        let mut state = lock();
        hold_back(&mut state);
        let stream = resolve(&mut state, stream.handle())?;
        let request = request(&state, function.handle(), shape, parameters, extra)?;
        launch::launch(&mut state, stream, &request).map(drop)
    }

    [11080 Ordinary ptsz] fn cuLaunchKernelEx(
        config: *const CUlaunchConfig, function: CUfunction, parameters: *mut *mut c_void, extra: *mut *mut c_void
    ) {
        let config = config.read()?;
        let shape = Shape {
            grid: [config.gridDimX, config.gridDimY, config.gridDimZ],
            block: [config.blockDimX, config.blockDimY, config.blockDimZ],
            shared_memory: config.sharedMemBytes,
        };
        let count = usize::try_from(config.numAttrs).unwrap_or_default();
        // SAFETY: as many attributes as the configuration says.
        let attributes: Argument<*mut CUlaunchAttribute> = unsafe { Argument::new(config.attrs) };
        if count > 0 {
            attributes.required()?;
        }
        let mut state = lock();
        hold_back(&mut state);
        let stream = resolve(&mut state, Handle::of(config.hStream))?;
        let mut request = request(&state, function.handle(), shape, parameters, extra)?;
        let list = attributes.as_const();
        for index in 0..count {
            let bytes = list.element(index).bytes()?;
            let id = bytes.first_chunk().copied().map_or(0, u32::from_le_bytes);
            request.attributes.push((id, &bytes[VALUE_AT..]));
        }
        let ids: Vec<u32> = request.attributes.iter().map(|(id, _)| *id).collect();
        if let Some(device_node) = launch::launch(&mut state, stream, &request)? {
            let place = ids.iter().rposition(|id| *id == launch::DEVICE_UPDATABLE).unwrap_or_default();
            write_device_node(attributes.element(place), VALUE_AT, device_node)?;
        }
        Ok(())
    }

    [0 Ordinary ptsz] fn cuLaunchCooperativeKernel(
        function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, shared_memory: c_uint, stream: CUstream, parameters: *mut *mut c_void
    ) {
        let shape = Shape {
            grid: [*grid_x, *grid_y, *grid_z],
            block: [*block_x, *block_y, *block_z],
            shared_memory: *shared_memory,
        };
        let mut state = lock();
        hold_back(&mut state);
        let stream = resolve(&mut state, stream.handle())?;
        let mut value = [0; 64];
        value[0] = 1;
        // SAFETY: NULL.
        let extra = unsafe { Argument::new(std::ptr::null_mut()) };
        let mut request = request(&state, function.handle(), shape, parameters, extra)?;
        request.attributes.push((launch::COOPERATIVE, &value));
        launch::launch(&mut state, stream, &request).map(drop)
    }
}

/// Where an attribute's value begins.
const VALUE_AT: usize = 8;

fn load(module: Argument<*mut cuda_sys::CUmodule>, image: Argument<*const c_void>) -> Result {
    module.required()?;
    let image = Image::read(image.as_text()?.to_bytes())?;
    module.write(module::load(&mut lock(), image)?.pointer())
}

/// What a launch or a node asks for, its parameters copied.
pub(super) fn request<'a>(
    state: &State,
    function: Handle,
    shape: Shape,
    parameters: Argument<*mut *mut c_void>,
    extra: Argument<*mut *mut c_void>,
) -> Result<Request<'a>> {
    let found = find(&state.functions, function)?;
    let parameters = if extra.is_null() {
        parameters.parameters(&found.sizes)?
    } else if parameters.is_null() {
        packed(found, extra)?
    } else {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    };
    Ok(Request { function, shape, attributes: Vec::new(), parameters })
}

/// Parameters that are given as one buffer, in `extra`.
fn packed(function: &module::Function, extra: Argument<*mut *mut c_void>) -> Result<Vec<Box<[u8]>>> {
    let buffer = extra.packed_parameters()?;
    let parameter = |index| {
        let (start, size) = function.parameter(index)?;
        let bytes = buffer.get(start..start + size).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        Ok(bytes.into())
    };
    (0..function.sizes.len()).map(parameter).collect()
}

/// Tells the program the device's handle of a node, in the attribute by which it asked for it.
pub(super) fn write_device_node<T>(value: Argument<*mut T>, at: usize, device_node: u64) -> Result {
    for (index, byte) in device_node.to_le_bytes().into_iter().enumerate() {
        value.write_byte(at + DEVICE_NODE_AT + index, byte)?;
    }
    Ok(())
}
