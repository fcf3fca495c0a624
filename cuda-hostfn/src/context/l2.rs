//! The part of the L2 cache that accesses may be made to stay in.

use crate::error::call;
use crate::sys::CUdevice_attribute;
use crate::{Context, Result};

impl Context {
    /// How many bytes an [`AccessPolicyWindow`](crate::attribute::AccessPolicyWindow) may have
    /// (`CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE`); 0 on a device without such windows. Asked once, then
    /// remembered.
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn max_access_policy_window(&self) -> Result<usize> {
        if let Some(&bytes) = self.0.max_window.get() {
            return Ok(bytes);
        }
        let property = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE;
        let bytes = self.device().property(property)?;
        Ok(*self.0.max_window.get_or_init(|| usize::try_from(bytes).unwrap_or(0)))
    }

    /// Lets go of every line that [persisting](crate::attribute::AccessProperty::Persisting) accesses keep in the L2
    /// cache (`cuCtxResetPersistingL2Cache`). Nothing else does, not even the end of the work that asked for it.
    ///
    /// # Errors
    ///
    /// What the driver answers.
    pub fn reset_persisting_l2_cache(&self) -> Result<()> {
        let _entered = self.enter()?;
        // SAFETY: the context is current.
        unsafe { call!(cuCtxResetPersistingL2Cache()) }
    }
}
