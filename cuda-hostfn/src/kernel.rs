//! Kernels.
//!
//! A [`Kernel`] knows the types of its arguments, and is launched by [`Kernel::launch`]; [`launch`](crate::launch) has
//! an example.

use std::ffi::c_int;
use std::fmt;
use std::marker::PhantomData;

use crate::error::call;
use crate::sys::{CUfunction, CUfunction_attribute, CUresult};
use crate::{Arguments, Context, Dim3, Error, LaunchConfig, Module, Result};

/// A kernel that takes arguments of the types `A`, a tuple. `Send` and `Sync`; it keeps its module loaded and its
/// context alive.
pub struct Kernel<A> {
    raw: CUfunction,
    context: Context,
    /// Keeps the module loaded; a foreign kernel's is its owner's.
    module: Option<Module>,
    max_threads: u64,
    _arguments: PhantomData<fn(A)>,
}

// SAFETY: the driver's functions may be used by any thread, by several at once.
unsafe impl<A> Send for Kernel<A> {}
// SAFETY: as above.
unsafe impl<A> Sync for Kernel<A> {}

impl<A> Clone for Kernel<A> {
    fn clone(&self) -> Self {
        let Self { raw, context, module, max_threads, _arguments } = self;
        Self {
            raw: *raw,
            context: context.clone(),
            module: module.clone(),
            max_threads: *max_threads,
            _arguments: PhantomData,
        }
    }
}

impl<A> fmt::Debug for Kernel<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { raw, context, module, max_threads, _arguments } = self;
        let mut kernel = f.debug_struct("Kernel");
        kernel.field("raw", raw).field("context", context).field("module", module);
        kernel.field("max_threads", max_threads).finish()
    }
}

impl<A: Arguments> Kernel<A> {
    /// Borrows a kernel that someone else loaded.
    ///
    /// # Errors
    ///
    /// As [`Module::kernel`].
    ///
    /// # Safety
    ///
    /// `raw` is a function of `context`, and its owner keeps its module loaded until every clone of the value is
    /// dropped.
    pub unsafe fn from_raw(context: &Context, raw: CUfunction) -> Result<Self> {
        // SAFETY: the caller's promise.
        unsafe { Self::new(raw, context.clone(), None) }
    }

    /// # Safety
    ///
    /// `raw` is a function of `context`, in `module` or in one that outlives the value.
    pub(crate) unsafe fn new(raw: CUfunction, context: Context, module: Option<Module>) -> Result<Self> {
        let mut kernel = Self { raw, context, module, max_threads: 0, _arguments: PhantomData };
        kernel.check_parameters()?;
        let max = kernel.property(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        kernel.max_threads = u64::from(max.unsigned_abs());
        Ok(kernel)
    }

    /// Compares the kernel's parameters with the types, where the driver can tell (`cuFuncGetParamInfo`).
    fn check_parameters(&self) -> Result<()> {
        let _entered = self.context.enter()?;
        let mut sizes = Vec::new();
        loop {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: the handle lives; the pointers are valid for writes.
            match unsafe { call!(entry::cuFuncGetParamInfo(self.raw, sizes.len(), &raw mut offset, &raw mut size)) } {
                Ok(()) => sizes.push(size),
                Err(Error::MissingFunction(_)) => return Ok(()),
                // There is no parameter of this index: they are counted.
                Err(error) if error.code() == Some(CUresult::CUDA_ERROR_INVALID_VALUE) => break,
                Err(error) => return Err(error),
            }
        }
        if sizes == A::SIZES {
            return Ok(());
        }
        let rule = format!("are {:?} bytes large, and the kernel's parameters {sizes:?}", A::SIZES);
        Err(Error::invalid("arguments", rule))
    }
}

impl<A> Kernel<A> {
    /// CUDA's handle. It is valid while the module is loaded.
    pub fn as_raw(&self) -> CUfunction {
        self.raw
    }

    /// The context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// A property of the kernel (`cuFuncGetAttribute`), by CUDA's enum, which also takes numbers newer than the header.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_VALUE` for a property that the driver does not know.
    pub fn property(&self, property: CUfunction_attribute) -> Result<i32> {
        let _entered = self.context.enter()?;
        let mut value: c_int = 0;
        // SAFETY: the handle lives; the pointer is valid for a write.
        unsafe { call!(cuFuncGetAttribute(&raw mut value, property, self.raw)) }?;
        Ok(value)
    }

    /// Sets a property of the kernel for all its users (`cuFuncSetAttribute`).
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_VALUE` for a property or a value that the driver does not take.
    pub fn set_property(&self, property: CUfunction_attribute, value: i32) -> Result<()> {
        let _entered = self.context.enter()?;
        // SAFETY: the handle lives; the driver checks the value.
        unsafe { call!(cuFuncSetAttribute(self.raw, property, value)) }
    }

    /// Allows clusters of sizes that not every GPU of the architecture supports
    /// (`CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`).
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn set_non_portable_cluster_size_allowed(&self, yes: bool) -> Result<()> {
        self.set_property(CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, yes.into())
    }

    /// Allows that much dynamic shared memory of a block, in bytes (`CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`).
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_VALUE` if the device has not so much.
    pub fn set_max_dynamic_shared_memory(&self, bytes: u32) -> Result<()> {
        let field = "max_dynamic_shared_memory";
        let bytes =
            i32::try_from(bytes).map_err(|_| Error::invalid(field, format!("{bytes} bytes are more than 2 GiB")))?;
        self.set_property(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)
    }

    pub(crate) fn check_shape<L>(&self, config: &LaunchConfig<L>) -> Result<()> {
        config.check_shape(self.max_threads)
    }

    /// The cluster that the kernel was compiled with.
    pub(crate) fn compiled_cluster(&self) -> Option<Dim3> {
        let size = |property| self.property(property).ok().map(i32::unsigned_abs);
        let x = size(CUfunction_attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)?;
        let y = size(CUfunction_attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT)?;
        let z = size(CUfunction_attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)?;
        (x != 0).then_some(Dim3 { x, y: y.max(1), z: z.max(1) })
    }
}
