//! The functions that the library exports, with the names and the signatures of the real one.

mod capture;
mod context;
mod control;
mod event;
mod exec;
mod graph;
mod kernel;
mod memory;
mod memory_operations;
mod node;
mod start;
mod stream;
mod user_object;

/// Declares exported functions: `[first CUDA version that has it, class] fn name(arguments) { body }`. In the body, each
/// argument is an [`Argument`](crate::argument::Argument). The words after the class:
///
/// * `ptsz`, `ptds`: there is a second function, with that suffix, whose NULL stream is the per-thread one;
/// * `renamed`: newer headers give this documented name to another function, so cuda-sys cannot be compared with.
///
/// Types are cuda-sys's where the header that it was built from has them, and so is the function of the same name: then
/// it has to be of the same type.
macro_rules! exports {
    ($([$since:literal $class:ident $($word:ident)*] fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        /// Every name.
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name)),*];

        $(const _: () = {
            #[allow(unused_imports, reason = "functions without a C type")]
            use cuda_sys::*;

            #[allow(clippy::too_many_arguments, reason = "as many as the driver's function has")]
            fn body($($argument: crate::argument::Argument<$type>),*) -> crate::abi::Result $body

            $crate::exports::symbol! {
                [stringify!($name), $since, $class, false, stringify!($name)] fn $name($($argument: $type),*)
            }
            $crate::exports::variants! { [$since $class $($word)*] fn $name($($argument: $type),*) }
            $crate::exports::compare! { [$($word)*] fn $name($($type),*) }
        };)*
    };
}

/// One symbol of the library, and beside it one whose name says since when it is there: by that, copies of the library
/// for older versions are made.
macro_rules! symbol {
    ([$symbol:expr, $since:literal, $class:ident, $per_thread:literal, $counted:expr]
     fn $name:ident($($argument:ident: $type:ty),*)) => {
        #[unsafe(export_name = concat!("simulated_driver_since_", $since, "_", $symbol))]
        static SINCE: u8 = 0;

        #[allow(non_snake_case, reason = "CUDA's names")]
        #[unsafe(export_name = $symbol)]
        unsafe extern "C" fn $name($($argument: $type),*) -> cuda_sys::CUresult {
            crate::gate::enter($counted, crate::gate::Class::$class, $per_thread, || {
                body($(
                    // SAFETY: who calls a function of the driver keeps the rules of its documentation.
                    unsafe { crate::argument::Argument::new($argument) }
                ),*)
            })
        }
    };
}

macro_rules! variants {
    ([$since:literal $class:ident ptsz $($word:ident)*] fn $name:ident($($argument:ident: $type:ty),*)) => {
        const _: () = {
            $crate::exports::symbol! {
                [concat!(stringify!($name), "_ptsz"), $since, $class, true, stringify!($name)]
                fn $name($($argument: $type),*)
            }
        };
    };
    ([$since:literal $class:ident ptds $($word:ident)*] fn $name:ident($($argument:ident: $type:ty),*)) => {
        const _: () = {
            $crate::exports::symbol! {
                [concat!(stringify!($name), "_ptds"), $since, $class, true, stringify!($name)]
                fn $name($($argument: $type),*)
            }
        };
    };
    ($($rest:tt)*) => {};
}

/// Holds a function against cuda-sys's of the same name. Where the header has none, the inner import finds nothing, and
/// the function is compared with itself.
macro_rules! compare {
    ([renamed] $($rest:tt)*) => {};
    ([$word:ident renamed] $($rest:tt)*) => {};
    ([$($word:ident)*] fn $name:ident($($type:ty),*)) => {
        const _: unsafe extern "C" fn($($type),*) -> CUresult = {
            #[allow(unused_imports, reason = "the header may be too old")]
            use cuda_sys::*;
            $name
        };
    };
}

use {compare, exports, symbol, variants};

/// Every name that the library exports, without suffixes.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let files = [
        capture::NAMES,
        context::NAMES,
        event::NAMES,
        exec::NAMES,
        graph::NAMES,
        kernel::NAMES,
        memory::NAMES,
        memory_operations::NAMES,
        node::NAMES,
        start::NAMES,
        stream::NAMES,
        user_object::NAMES,
    ];
    files.into_iter().flatten().copied()
}
