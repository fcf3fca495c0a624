//! The driver of this machine, found as cuda-sys finds it, by the same files.

pub(crate) mod ask;
#[allow(dead_code, reason = "cuda-sys uses the rest")]
#[path = "../../cuda-sys/src/driver/error.rs"]
mod error;
#[path = "../../cuda-sys/src/driver/open.rs"]
mod open;
#[cfg_attr(unix, path = "../../cuda-sys/src/driver/unix.rs")]
#[cfg_attr(windows, path = "../../cuda-sys/src/driver/windows.rs")]
#[allow(dead_code, reason = "cuda-sys uses the rest")]
mod os;

use std::path::Path;

pub(crate) use open::OVERRIDE;

/// What the driver's kernel module makes: on ordinary Linux, under WSL, on Tegra.
pub(crate) const DEVICE_FILES: [&str; 3] = ["/dev/nvidiactl", "/dev/dxg", "/dev/nvmap"];

/// Whether there may be a driver to ask: a look that costs nothing, so that machines without one build no probe. The
/// probe itself tells what is missing.
pub(crate) fn may_be_here() -> bool {
    let is_named = std::env::var_os(OVERRIDE).is_some_and(|library| !library.is_empty());
    is_named || cfg!(windows) || DEVICE_FILES.iter().any(|file| Path::new(file).exists())
}
