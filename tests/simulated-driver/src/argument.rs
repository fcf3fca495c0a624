//! The arguments of an exported function, safe to use once the function has vouched for its caller.

use std::ffi::{CStr, c_char, c_void};
use std::ops::Deref;
use std::slice;

use cuda_sys::{CUjit_option, CUresult};

use crate::abi::{Handle, Result};

/// One argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument<T>(T);

impl<T> Argument<T> {
    /// # Safety
    ///
    /// A pointer is NULL, or valid for what the function's documentation says of it, until the function returns.
    pub(crate) unsafe fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for Argument<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Argument<*mut T> {
    pub(crate) fn handle(self) -> Handle {
        Handle::of(self.0)
    }

    /// Writes a result that the caller has to have room for.
    pub(crate) fn write(self, value: T) -> Result {
        if self.0.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: valid for a write, vouched for by `new`.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// Writes a result that the caller may do without.
    pub(crate) fn write_if_wanted(self, value: T) {
        let _ = self.write(value);
    }

    /// Fails as [`write`](Self::write) would, before anything has happened.
    pub(crate) fn required(self) -> Result {
        if self.0.is_null() { Err(CUresult::CUDA_ERROR_INVALID_VALUE) } else { Ok(()) }
    }

    /// Copies as many values as there is room for; the rest of the room gets `fill`.
    pub(crate) fn write_all(self, values: &[T], room: usize, fill: T)
    where
        T: Copy,
    {
        for index in 0..room {
            // SAFETY: the array has `room` elements, vouched for by `new`.
            let element = unsafe { self.0.add(index) };
            // SAFETY: as above.
            unsafe { element.write(values.get(index).copied().unwrap_or(fill)) };
        }
    }

    /// Writes one byte of a value and leaves the rest of it as it was.
    pub(crate) fn write_byte(self, index: usize, byte: u8) -> Result {
        self.required()?;
        if index >= size_of::<T>() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: within the value, which is valid for writes, vouched for by `new`.
        let place = unsafe { self.0.cast::<u8>().add(index) };
        // SAFETY: as above.
        unsafe { place.write(byte) };
        Ok(())
    }

    pub(crate) fn as_const(self) -> Argument<*const T> {
        Argument(self.0.cast_const())
    }
}

impl<T> Argument<*const T> {
    pub(crate) fn read(self) -> Result<T>
    where
        T: Copy,
    {
        if self.0.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: valid for a read, vouched for by `new`.
        Ok(unsafe { self.0.read() })
    }

    /// The elements; none if the pointer is NULL.
    pub(crate) fn slice<'a>(self, length: usize) -> &'a [T] {
        if self.0.is_null() || length == 0 {
            return &[];
        }
        // SAFETY: an array of that length, vouched for by `new`; no slice outlives the exported function.
        unsafe { slice::from_raw_parts(self.0, length) }
    }

    /// The bytes of the value.
    pub(crate) fn bytes<'a>(self) -> Result<&'a [u8]> {
        if self.0.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: a whole value, vouched for by `new`.
        Ok(unsafe { slice::from_raw_parts(self.0.cast(), size_of::<T>()) })
    }
}

impl<T> Argument<*mut T> {
    /// One element of an array.
    pub(crate) fn element(self, index: usize) -> Self {
        // SAFETY: the array has more than `index` elements, vouched for by `new`.
        Self(unsafe { self.0.add(index) })
    }
}

impl<T> Argument<*const T> {
    /// For the functions that write where their signature says that they do not.
    pub(crate) fn as_mut(self) -> Argument<*mut T> {
        Argument(self.0.cast_mut())
    }

    pub(crate) fn required(self) -> Result {
        if self.0.is_null() { Err(CUresult::CUDA_ERROR_INVALID_VALUE) } else { Ok(()) }
    }

    /// One element of an array.
    pub(crate) fn element(self, index: usize) -> Self {
        // SAFETY: the array has more than `index` elements, vouched for by `new`.
        Self(unsafe { self.0.add(index) })
    }

    /// A part of the value, of a type of its own.
    pub(crate) fn part<U>(self, at: usize) -> Argument<*const U> {
        Argument(self.0.map_addr(|address| if address == 0 { 0 } else { address + at }).cast())
    }
}

impl Argument<*const c_void> {
    /// Read up to the first NUL.
    pub(crate) fn as_text<'a>(self) -> Result<&'a CStr> {
        Argument(self.0.cast::<c_char>()).text()
    }
}

impl Argument<*const c_char> {
    pub(crate) fn text<'a>(self) -> Result<&'a CStr> {
        if self.0.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: a C string, vouched for by `new`.
        Ok(unsafe { CStr::from_ptr(self.0) })
    }
}

impl Argument<*mut *mut c_void> {
    /// A kernel's parameters, of which the caller passes the addresses.
    pub(crate) fn parameters(self, sizes: &[usize]) -> Result<Vec<Box<[u8]>>> {
        if sizes.is_empty() {
            return Ok(Vec::new());
        }
        self.required()?;
        let mut values = Vec::with_capacity(sizes.len());
        for (index, &size) in sizes.iter().enumerate() {
            // SAFETY: one address for each parameter of the kernel, vouched for by `new`.
            let slot = unsafe { self.0.add(index) };
            // SAFETY: as above.
            let address = unsafe { slot.read() };
            if address.is_null() {
                return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
            }
            // SAFETY: a parameter has the size that the kernel declares.
            values.push(unsafe { slice::from_raw_parts(address.cast::<u8>(), size) }.into());
        }
        Ok(values)
    }

    /// A kernel's parameters as one buffer: its address and the address of its size, each after its mark.
    pub(crate) fn packed_parameters<'a>(self) -> Result<&'a [u8]> {
        const BUFFER: usize = 1;
        const SIZE: usize = 2;
        let (mut buffer, mut size) = (std::ptr::null(), 0);
        for pair in 0.. {
            match self.as_const().element(2 * pair).read()?.addr() {
                0 => break,
                BUFFER => buffer = self.as_const().element(2 * pair + 1).read()?.cast_const().cast::<u8>(),
                SIZE => {
                    let address = self.as_const().element(2 * pair + 1).read()?;
                    size = Argument(address.cast_const().cast::<usize>()).read()?;
                }
                _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
            }
        }
        if buffer.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        Ok(Argument(buffer).slice(size))
    }

    /// Writes what a compiler has to say into the buffer that the program gave for errors, if it did.
    pub(crate) fn write_log(self, options: &[CUjit_option], text: &str) {
        let value = |option| {
            let place = options.iter().position(|given| *given == option)?;
            self.as_const().element(place).read().ok()
        };
        let buffer = value(CUjit_option::CU_JIT_ERROR_LOG_BUFFER);
        let room = value(CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES).map_or(0, <*mut c_void>::addr);
        if let Some(buffer) = buffer.filter(|buffer| !buffer.is_null() && room > 0) {
            let text: Vec<u8> = text.bytes().take(room - 1).collect();
            Argument(buffer.cast::<u8>()).write_all(&text, text.len() + 1, 0);
        }
    }
}
