//! An attribute as bytes: ids and values may be newer than the header, and its layout never changed.

use std::ffi::c_char;

use cuda_sys::{CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue};

/// The size of every attribute's value.
pub(crate) const SIZE: usize = size_of::<CUlaunchAttributeValue>();

/// The bytes of an attribute's value.
pub(crate) type Value = [u8; SIZE];

/// One attribute, to be set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attribute {
    pub(crate) id: u32,
    pub(crate) value: Value,
}

impl Attribute {
    pub(super) fn lower(self) -> CUlaunchAttribute {
        CUlaunchAttribute { id: CUlaunchAttributeID(self.id), pad: [0; 4], value: lower(self.value) }
    }
}

pub(super) fn lower(value: Value) -> CUlaunchAttributeValue {
    CUlaunchAttributeValue { pad: value.map(|byte| c_char::from_ne_bytes([byte])) }
}

/// Reads an attribute twice, into buffers that differ in every byte: what then agrees was written by the driver.
pub(super) fn read<S>(mut get: impl FnMut(&mut CUlaunchAttributeValue) -> (S, bool)) -> (S, Vec<Option<u8>>) {
    let mut first = lower([0xa5; SIZE]);
    let mut second = lower([0x5a; SIZE]);
    let (status, succeeded) = get(&mut first);
    if !succeeded {
        return (status, Vec::new());
    }
    get(&mut second);
    let bytes = bytes(&first).into_iter().zip(bytes(&second));
    let mut written: Vec<Option<u8>> = bytes.map(|(a, b)| (a == b).then_some(a)).collect();
    let end = written.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    written.truncate(end);
    (status, written)
}

fn bytes(value: &CUlaunchAttributeValue) -> Value {
    // SAFETY: `pad` spans the whole union, and every byte of it was initialised by `lower`.
    unsafe { value.pad }.map(|byte| byte.to_ne_bytes()[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bytes_that_the_driver_writes_are_reported() {
        let (status, written) = read(|value| {
            let mut all = bytes(value);
            all[..2].copy_from_slice(&[0xa5, 0]);
            all[4] = 0x5a;
            *value = lower(all);
            ("fine", true)
        });
        assert_eq!(status, "fine");
        assert_eq!(written, [Some(0xa5), Some(0), None, None, Some(0x5a)]);
    }

    #[test]
    fn nothing_is_read_where_reading_is_refused() {
        let mut calls = 0;
        let (status, written) = read(|_| {
            calls += 1;
            ("refused", false)
        });
        assert_eq!((status, written.len(), calls), ("refused", 0, 1));
    }
}
