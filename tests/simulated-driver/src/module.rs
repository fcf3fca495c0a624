//! Modules and the functions in them.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::Arc;

use cuda_sys::CUresult;

use crate::abi::{Handle, Result};
use crate::context;
use crate::device;
use crate::state::{Guard, State, find, find_mut};

/// `CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK` and `…_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`.
const MAX_THREADS_PER_BLOCK: u32 = 0;
const NON_PORTABLE_CLUSTER_SIZE_ALLOWED: u32 = 14;
/// The attributes that can be set are those from `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES` on.
const FIRST_SETTABLE: u32 = 8;
const AFTER_LAST: u32 = 24;

#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) context: Handle,
    image: Image,
    /// Functions that were asked for, each under one handle.
    functions: BTreeMap<String, Handle>,
}

/// What a module was loaded from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Image {
    /// The kernels of PTX, with the sizes of their parameters.
    Ptx(BTreeMap<String, Vec<usize>>),
    /// Code for a device, which is not read: it has every kernel that is asked for, without parameters.
    Binary,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) context: Handle,
    pub(crate) module: Handle,
    pub(crate) name: Arc<str>,
    pub(crate) c_name: CString,
    pub(crate) sizes: Vec<usize>,
    attributes: BTreeMap<u32, i32>,
}

impl Image {
    /// Recognises an image by its start; the driver is not told where it ends.
    pub(crate) fn read(start: &[u8]) -> Result<Self> {
        const ELF: &[u8] = b"\x7fELF";
        const FAT_BINARY: &[u8] = &[0x50, 0xed, 0x55, 0xba];
        if start.starts_with(ELF) || start.starts_with(FAT_BINARY) {
            return Ok(Self::Binary);
        }
        let text = str::from_utf8(start).map_err(|_| CUresult::CUDA_ERROR_INVALID_IMAGE)?;
        let code = without_comments(text);
        if !code.trim_start().starts_with(".version") {
            return Err(CUresult::CUDA_ERROR_INVALID_IMAGE);
        }
        let is_whole = code.contains(".target") && code.matches('{').count() == code.matches('}').count();
        if !is_whole {
            return Err(CUresult::CUDA_ERROR_INVALID_PTX);
        }
        let kernels: Option<_> = code.split(".entry").skip(1).map(kernel).collect();
        kernels.map(Self::Ptx).ok_or(CUresult::CUDA_ERROR_INVALID_PTX)
    }
}

fn without_comments(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// `NAME(.param .u64 a, .param .b8 b[16]) …` or `NAME { …`.
fn kernel(after_entry: &str) -> Option<(String, Vec<usize>)> {
    let name: String =
        after_entry.trim_start().chars().take_while(|c| c.is_alphanumeric() || "_$%".contains(*c)).collect();
    let rest = after_entry.trim_start().get(name.len()..)?.trim_start();
    let sizes = match rest.strip_prefix('(') {
        Some(list) => list
            .split_once(')')?
            .0
            .split(',')
            .filter(|text| !text.trim().is_empty())
            .map(size)
            .collect::<Option<_>>()?,
        None => Vec::new(),
    };
    (!name.is_empty()).then_some((name, sizes))
}

/// The size of `.param .align 8 .b8 name[16]`: that of its type, as often as it says.
fn size(parameter: &str) -> Option<usize> {
    let bits: usize = parameter.split_whitespace().find_map(|word| word.strip_prefix(['.'])?.get(1..)?.parse().ok())?;
    let count = match parameter.split_once('[') {
        Some((_, count)) => count.split(']').next()?.trim().parse().ok()?,
        None => 1,
    };
    Some(bits / 8 * count)
}

/// Waits for the device, and loads.
pub(crate) fn load(state: &mut Guard, image: Image) -> Result<Handle> {
    let current = context::current(state)?;
    context::synchronize(state, current)?;
    let handle = state.new_handle();
    state.modules.insert(handle, Module { context: current, image, functions: BTreeMap::new() });
    Ok(handle)
}

/// Waits for the device, and unloads.
pub(crate) fn unload(state: &mut Guard, module: Handle) -> Result {
    let context = find(&state.modules, module)?.context;
    let waited = context::synchronize(state, context);
    state.modules.remove(&module);
    state.functions.retain(|_, function| function.module != module);
    waited
}

pub(crate) fn function(state: &mut State, module: Handle, name: &std::ffi::CStr) -> Result<Handle> {
    let text = name.to_str().map_err(|_| CUresult::CUDA_ERROR_NOT_FOUND)?;
    let found = find(&state.modules, module)?;
    if let Some(function) = found.functions.get(text) {
        return Ok(*function);
    }
    let sizes = match &found.image {
        Image::Ptx(kernels) => kernels.get(text).cloned().ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?,
        Image::Binary if text.is_empty() => return Err(CUresult::CUDA_ERROR_NOT_FOUND),
        Image::Binary => Vec::new(),
    };
    let context = found.context;
    let handle = state.new_handle();
    let function =
        Function { context, module, name: text.into(), c_name: name.into(), sizes, attributes: BTreeMap::new() };
    state.functions.insert(handle, function);
    find_mut(&mut state.modules, module)?.functions.insert(text.to_owned(), handle);
    Ok(handle)
}

impl Function {
    /// Where a parameter begins, and its size: each is aligned to its size, up to 8.
    pub(crate) fn parameter(&self, index: usize) -> Result<(usize, usize)> {
        let mut end: usize = 0;
        for (place, &size) in self.sizes.iter().enumerate() {
            let start = end.next_multiple_of(size.clamp(1, 8).next_power_of_two());
            if place == index {
                return Ok((start, size));
            }
            end = start + size;
        }
        Err(CUresult::CUDA_ERROR_INVALID_VALUE)
    }

    pub(crate) fn attribute(&self, attribute: u32) -> Result<i32> {
        match attribute {
            MAX_THREADS_PER_BLOCK => Ok(device::THREADS_PER_BLOCK.cast_signed()),
            AFTER_LAST.. => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
            _ => Ok(self.attributes.get(&attribute).copied().unwrap_or(0)),
        }
    }

    pub(crate) fn set_attribute(&mut self, attribute: u32, value: i32) -> Result {
        if !(FIRST_SETTABLE..AFTER_LAST).contains(&attribute) {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        self.attributes.insert(attribute, value);
        Ok(())
    }

    /// The most blocks that a cluster of it may have.
    pub(crate) fn largest_cluster(&self) -> u32 {
        let is_any_allowed =
            self.attributes.get(&NON_PORTABLE_CLUSTER_SIZE_ALLOWED).is_some_and(|allowed| *allowed != 0);
        if is_any_allowed { device::LARGEST_CLUSTER } else { device::PORTABLE_CLUSTER }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ptx(kernels: &[(&str, &[usize])]) -> Image {
        Image::Ptx(kernels.iter().map(|(name, sizes)| ((*name).to_owned(), sizes.to_vec())).collect())
    }

    #[test]
    fn kernels_and_their_parameters_are_found() {
        let text = b"// .entry no()\n.version 7.0\n.target sm_70\n.visible .entry a(.param .u64 x,\n .param .u32 y) { ret; }\n\
            .entry b() { ret; }\n.entry c { ret; } .entry d(.param .align 8 .b8 z[24], .param .f32 w) { }";
        assert_eq!(Image::read(text).unwrap(), ptx(&[("a", &[8, 4]), ("b", &[]), ("c", &[]), ("d", &[24, 4])]));
    }

    #[test]
    fn what_is_no_image_is_refused() {
        assert_eq!(Image::read(b""), Err(CUresult::CUDA_ERROR_INVALID_IMAGE));
        assert_eq!(Image::read(b"hello"), Err(CUresult::CUDA_ERROR_INVALID_IMAGE));
        assert_eq!(Image::read(b".version 7.0\n.target sm_70\n.entry a() {"), Err(CUresult::CUDA_ERROR_INVALID_PTX));
        assert_eq!(Image::read(b"\x7fELF\x02"), Ok(Image::Binary));
    }
}
