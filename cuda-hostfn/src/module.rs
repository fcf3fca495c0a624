//! Code for the GPU: PTX, cubins and fatbins, and the kernels in them.
//!
//! ```no_run
//! use cuda_hostfn::{Context, Device, Module};
//!
//! let context = Context::primary(Device::get(0)?)?;
//! let module = Module::from_ptx(&context, include_str!("../tests/fill.ptx"))?;
//! let fill = module.kernel::<(u64, u32, u32)>("fill")?;
//! # Ok::<(), cuda_hostfn::Error>(())
//! ```

mod image;

use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::Arc;

use crate::error::{call, check};
use crate::sys::{CUjit_option, CUmodule, cuModuleLoadDataEx, cuModuleUnload};
use crate::{Arguments, Context, Error, Kernel, Result};

/// Loaded code. `Send` and `Sync`; clones and [`Kernel`]s share it, and it is unloaded with the last of them. It keeps
/// its context alive.
#[derive(Clone, Debug)]
pub struct Module(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    raw: CUmodule,
    context: Context,
}

// SAFETY: a module may be used and unloaded by any thread, by several at once.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Module {
    /// Compiles and loads PTX (`cuModuleLoadDataEx`).
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the text is no PTX or has a NUL in it; what the driver answers, with its compiler's
    /// [log](crate::DriverError::log).
    pub fn from_ptx(context: &Context, ptx: &str) -> Result<Self> {
        let ptx = ptx.trim_end_matches('\0');
        // The driver would take other images for what they are, and read past the end of what is not whole.
        if !matches!(image::recognise(ptx.as_bytes()), Ok(image::Kind::Ptx(_))) {
            return Err(Error::invalid("ptx", "is not PTX, which has the directives .version and .target"));
        }
        let ptx = CString::new(ptx).map_err(|_| Error::invalid("ptx", "has a NUL in it"))?;
        // SAFETY: PTX ends with NUL.
        unsafe { Self::load(context, ptx.as_ptr().cast()) }
    }

    /// Loads a cubin, a fatbin or PTX, which it recognises (`cuModuleLoadDataEx`).
    ///
    /// The driver is not told where the image ends. One that is cut off is refused here, as far as its headers tell.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the image is none of these or is truncated; what the driver answers, such as
    /// `CUDA_ERROR_NO_BINARY_FOR_GPU`, with its compiler's [log](crate::DriverError::log).
    ///
    /// # Safety
    ///
    /// A binary image is what a CUDA compiler made, unchanged: the driver trusts everything in it, and crashes on a
    /// damaged one. (For PTX there is [`Module::from_ptx`], which is safe.)
    pub unsafe fn from_image(context: &Context, image: &[u8]) -> Result<Self> {
        match image::recognise(image).map_err(|rule| Error::invalid("image", rule))? {
            image::Kind::Ptx(ptx) => Self::from_ptx(context, ptx),
            // SAFETY: an intact image, says the caller.
            image::Kind::Binary => unsafe { Self::load(context, image.as_ptr().cast()) },
        }
    }

    /// # Safety
    ///
    /// `image` is a whole and intact image.
    unsafe fn load(context: &Context, image: *const c_void) -> Result<Self> {
        let mut log = [0_u8; 8192];
        let mut options = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = [log.as_mut_ptr().cast(), ptr::without_provenance_mut(log.len())];
        let mut raw = ptr::null_mut();
        let _entered = context.enter()?;
        // SAFETY: the image is whole, says the caller; the options have their values; the log has its size.
        let code = unsafe { cuModuleLoadDataEx(&raw mut raw, image, 2, options.as_mut_ptr(), values.as_mut_ptr()) };
        check("cuModuleLoadDataEx", code).map_err(|error| {
            let text = CStr::from_bytes_until_nul(&log).map(CStr::to_string_lossy).unwrap_or_default();
            error.with_log(&text)
        })?;
        Ok(Self(Arc::new(Inner { raw, context: context.clone() })))
    }

    /// Takes over a foreign module, which is unloaded with the last clone or kernel of it.
    ///
    /// # Safety
    ///
    /// `raw` is a module of `context` that nobody else unloads.
    pub unsafe fn from_raw(context: &Context, raw: CUmodule) -> Self {
        Self(Arc::new(Inner { raw, context: context.clone() }))
    }

    /// CUDA's handle. It is valid while this value, a clone or a kernel of it lives.
    pub fn as_raw(&self) -> CUmodule {
        self.0.raw
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// The kernel of that name (`cuModuleGetFunction`); a C++ kernel that is not `extern "C"` has a mangled one. The
    /// types of its arguments may be left to be inferred from the first launch.
    ///
    /// Where the driver can tell (CUDA 12.4), the number and the sizes of the kernel's parameters are compared with the
    /// types.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_NOT_FOUND`; [`Error::Invalid`] if the parameters differ from the types.
    pub fn kernel<A: Arguments>(&self, name: &str) -> Result<Kernel<A>> {
        let name = CString::new(name).map_err(|_| Error::invalid("name", "has a NUL in it"))?;
        let mut function = ptr::null_mut();
        let _entered = self.0.context.enter()?;
        // SAFETY: the handle lives; the pointers are valid.
        unsafe { call!(cuModuleGetFunction(&raw mut function, self.0.raw, name.as_ptr())) }?;
        // SAFETY: a function of this module.
        unsafe { Kernel::new(function, self.0.context.clone(), Some(self.clone())) }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: the value owns the module. A failure leaves nothing to be done.
        unsafe { self.context.release(cuModuleUnload, self.raw) };
    }
}
