//! What a thread is doing on behalf of this crate.

use std::cell::Cell;

thread_local! {
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
    static RECLAIMING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is the driver's and runs a host function of this crate. CUDA may not be called there: every
/// function of this crate that would answers [`Error::CalledFromHostFunction`](crate::Error::CalledFromHostFunction),
/// and handles that are dropped there are destroyed later, by an ordinary thread.
///
/// Functions given to [`StreamRef::host_launch_raw`](crate::StreamRef::host_launch_raw) with a pointer are called by
/// the driver itself and are not known here.
#[inline]
pub fn in_host_function() -> bool {
    IN_HOST_FUNCTION.get()
}

/// Runs user code on the driver's thread.
#[inline]
pub(super) fn host_function<R>(run: impl FnOnce() -> R) -> R {
    flagged(&IN_HOST_FUNCTION, run)
}

/// Runs `reclaim`, unless this thread is in the middle of that.
pub(super) fn reclaiming<R>(reclaim: impl FnOnce() -> R) -> Option<R> {
    if RECLAIMING.get() { None } else { Some(flagged(&RECLAIMING, reclaim)) }
}

#[inline]
fn flagged<R>(flag: &'static std::thread::LocalKey<Cell<bool>>, run: impl FnOnce() -> R) -> R {
    struct Reset(&'static std::thread::LocalKey<Cell<bool>>, bool);
    impl Drop for Reset {
        fn drop(&mut self) {
            self.0.set(self.1);
        }
    }
    let _reset = Reset(flag, flag.replace(true));
    run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_go_back_also_after_a_panic() {
        assert!(!in_host_function());
        let result = std::panic::catch_unwind(|| host_function(|| assert!(!in_host_function())));
        assert!(result.is_err() && !in_host_function());
        assert!(reclaiming(|| reclaiming(|| ()).is_none()).unwrap());
    }
}
