//! Arguments of kernels.

use std::ffi::c_void;

use crate::attribute::GraphDeviceNode;

/// A value that a kernel takes: numbers, pointers (a device address is a `u64` or a raw pointer), arrays of them, and
/// types of your own.
///
/// ```
/// use cuda_hostfn::KernelArgument;
///
/// /// `struct Span { float *data; size_t length; }` in the kernel's source.
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Span {
///     data: *mut f32,
///     length: usize,
/// }
///
/// // SAFETY: laid out by the rules of C, as the kernel's own type.
/// unsafe impl KernelArgument for Span {}
/// ```
///
/// # Safety
///
/// The type has the layout of the kernel's parameter: `#[repr(C)]` or `#[repr(transparent)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given to a kernel",
    label = "not a kernel argument",
    note = "give a device address as `u64` or as a raw pointer, numbers as they are, and types of yours after \
            `unsafe impl KernelArgument`"
)]
pub unsafe trait KernelArgument: Copy {}

macro_rules! scalars {
    ($($type:ty)*) => {$(
        // SAFETY: C's type of the same size.
        unsafe impl KernelArgument for $type {}
    )*};
}

scalars!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64 bool GraphDeviceNode);

// SAFETY: a pointer in C, and in a kernel.
unsafe impl<T> KernelArgument for *const T {}
// SAFETY: as above.
unsafe impl<T> KernelArgument for *mut T {}
// SAFETY: an array inside a structure in C.
unsafe impl<T: KernelArgument, const N: usize> KernelArgument for [T; N] {}

/// All arguments of a kernel: a tuple of up to 16 [`KernelArgument`]s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of kernel arguments",
    label = "not a tuple of kernel arguments",
    note = "one argument is `(argument,)`, none is `()`"
)]
pub trait Arguments: Copy + sealed::Tuple {}

impl<A: Copy + sealed::Tuple> Arguments for A {}

mod sealed {
    use super::{KernelArgument, c_void};

    pub trait Tuple {
        /// The size of each, in bytes.
        const SIZES: &'static [usize];

        /// Calls `f` with an array of the arguments' addresses, as the driver takes it.
        fn with_pointers<R>(&self, f: impl FnOnce(*mut *mut c_void) -> R) -> R;
    }

    macro_rules! tuples {
        ($($type:ident)*) => {
            #[allow(non_snake_case, reason = "the types' names")]
            impl<$($type: KernelArgument),*> Tuple for ($($type,)*) {
                const SIZES: &'static [usize] = &[$(size_of::<$type>()),*];

                fn with_pointers<R>(&self, f: impl FnOnce(*mut *mut c_void) -> R) -> R {
                    let ($($type,)*) = self;
                    f([$((&raw const *$type).cast_mut().cast::<c_void>()),*].as_mut_ptr())
                }
            }
        };
    }

    macro_rules! tuples_up_to {
        ($($type:ident)*) => { tuples_up_to!([] $($type)*); };
        ([$($done:ident)*]) => { tuples!($($done)*); };
        ([$($done:ident)*] $next:ident $($rest:ident)*) => {
            tuples!($($done)*);
            tuples_up_to!([$($done)* $next] $($rest)*);
        };
    }

    tuples_up_to!(A B C D E F G H I J K L M N O P);
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealed::Tuple;

    #[test]
    fn sizes() {
        assert_eq!(<()>::SIZES, &[] as &[usize]);
        assert_eq!(<(u8, f64, *const u8, [u16; 3])>::SIZES, &[1, 8, 8, 6]);
        fn sixteen<A: Arguments>() -> usize {
            A::SIZES.len()
        }
        assert_eq!(sixteen::<(u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8)>(), 16);
    }

    #[test]
    fn the_driver_sees_each_argument() {
        let arguments = (7_u32, -1_i64);
        arguments.with_pointers(|pointers| {
            // SAFETY: there are two pointers.
            let [first, second] = unsafe { *pointers.cast::<[*mut c_void; 2]>() };
            // SAFETY: the first points to a `u32`.
            let first = unsafe { first.cast::<u32>().read() };
            // SAFETY: the second points to an `i64`.
            let second = unsafe { second.cast::<i64>().read() };
            assert_eq!((first, second), arguments);
        });
    }
}
