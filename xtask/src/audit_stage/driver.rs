//! Whether there may be a driver to ask: a look that costs nothing, so that machines without one build no probe. The
//! probe itself tells what is missing.

use std::path::Path;

/// As cuda-sys has it: the library to load instead of the installed driver.
const OVERRIDE: &str = "CUDA_SYS_DRIVER";

/// What the driver's kernel module makes: on ordinary Linux, under WSL, on Tegra.
const DEVICES: [&str; 3] = ["/dev/nvidiactl", "/dev/dxg", "/dev/nvmap"];

pub(super) fn may_be_here() -> bool {
    let is_named = std::env::var_os(OVERRIDE).is_some_and(|library| !library.is_empty());
    is_named || cfg!(windows) || DEVICES.iter().any(|device| Path::new(device).exists())
}
