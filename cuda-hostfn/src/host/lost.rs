//! Contexts that are lost: the driver takes a host function, says that all is well, and never calls it.
//!
//! A fault takes the driver some hundred milliseconds to notice, and it tells nobody. So who waits asks: for an event
//! that was never recorded. That takes about two microseconds, needs no stream that might be gone, and disturbs no
//! capture if the thread's mode allows it.

use super::reclaim::Relaxed;
use super::record::Header;
use crate::sys::CUresult;
use crate::{Context, Error, EventOptions, Result, entry};

impl Context {
    /// If the context is lost: gives up what is in its streams and did not start.
    pub(super) fn give_up_lost(&self) {
        if self.lane().outstanding() > 0
            && let Some(why) = self.fault()
        {
            for record in self.lane().give_up(why) {
                // SAFETY: just cancelled and taken out.
                unsafe { Header::lose(record) };
            }
        }
    }

    /// Why work in the context can no longer be done.
    fn fault(&self) -> Option<Error> {
        let error = self.ask().err()?;
        let says_nothing = matches!(
            error.code()?,
            // Memory is short; or this is a host function that the crate does not know of.
            CUresult::CUDA_ERROR_OUT_OF_MEMORY | CUresult::CUDA_ERROR_NOT_PERMITTED
        );
        if says_nothing { None } else { Some(error) }
    }

    fn ask(&self) -> Result<()> {
        // A context that was reset and made again has the same address.
        if let Some(id) = self.id()
            && entry::context_id(self.as_raw()) != Some(id)
        {
            return crate::error::check("cuCtxGetId", CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
        }
        let _relaxed = Relaxed::new();
        EventOptions::new().disable_timing(true).create(self)?.is_complete().map(drop)
    }
}
