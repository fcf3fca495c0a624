//! What the real driver does not export: how tests control this one. The package `simulated-driver-client` calls it.

use std::ffi::{CStr, c_char, c_int};

use crate::control;

/// Does what a [`Command`](simulated_driver_client::protocol::Command) says; −1 if it is none, or cannot be done.
///
/// # Safety
///
/// The command is a C string.
#[unsafe(export_name = "simulated_driver_command")]
unsafe extern "C" fn command(text: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    match serde_json::from_slice(text.to_bytes()).ok().and_then(control::command) {
        Some(()) => 0,
        None => -1,
    }
}

/// The value of a [`Counter`](simulated_driver_client::protocol::Counter); −1 if it is none.
///
/// # Safety
///
/// The counter is a C string.
#[unsafe(export_name = "simulated_driver_counter")]
unsafe extern "C" fn counter(text: *const c_char) -> i64 {
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    let value = serde_json::from_slice(text.to_bytes()).ok().and_then(control::counter);
    value.and_then(|value| i64::try_from(value).ok()).unwrap_or(-1)
}
