//! The table of functions that `build.rs` generated, as code: loaded at first use, or linked.

/// One function of the driver API, as the header that this crate was built from declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name in CUDA's documentation, such as `cuMemAlloc`.
    pub name: &'static str,
    /// The name that the driver exports, such as `cuMemAlloc_v2`.
    pub symbol: &'static std::ffi::CStr,
}

macro_rules! functions {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident [$symbol:literal, $per_thread:literal] ($($argument:ident: $type:ty),* $(,)?) -> $result:ty;
    )*) => {
        /// Every function of the header, in its order.
        pub(crate) const FUNCTIONS: &[crate::entry_points::Function] = &[$(
            crate::entry_points::Function {
                name: stringify!($name),
                symbol: crate::entry_points::exported!($symbol, $per_thread),
            },
        )*];

        $(
            #[cfg(not(feature = "link"))]
            $(#[$attribute])*
            #[inline]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
                static SYMBOL: crate::driver::Symbol =
                    crate::driver::Symbol::new(crate::entry_points::exported!($symbol, $per_thread));
                match SYMBOL.get() {
                    Ok(address) => {
                        // SAFETY: the driver exports this name with the signature that its header declares.
                        let function = unsafe {
                            ::core::mem::transmute::<
                                ::core::ptr::NonNull<::core::ffi::c_void>,
                                unsafe extern "C" fn($($type),*) -> $result,
                            >(address)
                        };
                        // SAFETY: the caller keeps the rules of the driver's function.
                        unsafe { function($($argument),*) }
                    }
                    Err(code) => code,
                }
            }
        )*

        #[cfg(feature = "link")]
        unsafe extern "C" {$(
            $(#[$attribute])*
            #[cfg_attr(not(feature = "per-thread-default-stream"), link_name = $symbol)]
            #[cfg_attr(feature = "per-thread-default-stream", link_name = $per_thread)]
            pub fn $name($($argument: $type),*) -> $result;
        )*}
    };
}

/// The exported name under the features of this build, as a C string.
macro_rules! exported {
    ($symbol:literal, $per_thread:literal) => {{
        #[cfg(feature = "per-thread-default-stream")]
        const NAME: &str = concat!($per_thread, "\0");
        #[cfg(not(feature = "per-thread-default-stream"))]
        const NAME: &str = concat!($symbol, "\0");
        // SAFETY: one NUL, at the end: a symbol has none.
        unsafe { ::core::ffi::CStr::from_bytes_with_nul_unchecked(NAME.as_bytes()) }
    }};
}
pub(crate) use exported;
