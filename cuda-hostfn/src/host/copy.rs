//! Copies in stream order.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr;

use super::job::Job;

/// A copy between two buffers of the host.
#[derive(Debug)]
pub(super) struct Copy<T, D, S> {
    /// `None` once the result has them.
    buffers: Option<(D, S)>,
    _elements: PhantomData<fn(T)>,
}

impl<T, D, S> Copy<T, D, S> {
    pub(super) fn new(to: D, from: S) -> Self {
        Self { buffers: Some((to, from)), _elements: PhantomData }
    }

    pub(super) fn into_buffers(self) -> (D, S) {
        self.buffers.expect("not run")
    }
}

impl<T, D, S> Job for Copy<T, D, S>
where
    T: std::marker::Copy + 'static,
    D: AsMut<[T]> + Send + 'static,
    S: AsRef<[T]> + Send + 'static,
{
    type Output = (D, S);
    const IS_TASK: bool = true;

    fn run(&mut self) -> (D, S) {
        if let Some((to, from)) = &mut self.buffers {
            to.as_mut().copy_from_slice(from.as_ref());
        }
        self.buffers.take().expect("run once")
    }
}

/// Bytes that C code may take for any type.
#[derive(Debug)]
pub(super) struct Aligned {
    words: Box<[u128]>,
}

impl Aligned {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut words = vec![0_u128; bytes.len().div_ceil(size_of::<u128>())].into_boxed_slice();
        // SAFETY: there is room for the bytes, elsewhere.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), words.as_mut_ptr().cast::<u8>(), bytes.len()) };
        Self { words }
    }

    /// NULL if there are no bytes.
    pub(super) fn as_mut_ptr(&mut self) -> *mut c_void {
        if self.words.is_empty() { ptr::null_mut() } else { self.words.as_mut_ptr().cast() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_copied_and_none_is_null() {
        assert!(Aligned::new(&[]).as_mut_ptr().is_null());
        let mut aligned = Aligned::new(b"seventeen bytes!!");
        // SAFETY: it has that many.
        let copy = unsafe { std::slice::from_raw_parts(aligned.as_mut_ptr().cast::<u8>(), 17) };
        assert_eq!(copy, b"seventeen bytes!!");
    }

    #[test]
    fn a_copy_gives_both_back() {
        let mut copy = Copy::<u8, _, _>::new([0; 3], vec![1, 2, 3]);
        assert_eq!(copy.run(), ([1, 2, 3], vec![1, 2, 3]));
    }
}
