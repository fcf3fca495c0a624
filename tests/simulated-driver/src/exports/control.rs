//! What the real driver does not export: how tests control this one. [`crate::client`] is the way to call it.

use std::ffi::{CStr, c_char, c_int};

use crate::control;

/// Does what a line of text says; −1 if it says nothing that is known.
///
/// # Safety
///
/// The command is a C string.
#[unsafe(export_name = "simulated_driver_command")]
unsafe extern "C" fn command(text: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    match text.to_str().ok().and_then(control::command) {
        Some(()) => 0,
        None => -1,
    }
}

/// A counter's value; −1 if there is none of that name.
///
/// # Safety
///
/// The name is a C string.
#[unsafe(export_name = "simulated_driver_counter")]
unsafe extern "C" fn counter(name: *const c_char) -> i64 {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_str().ok().and_then(control::counter).and_then(|value| i64::try_from(value).ok()).unwrap_or(-1)
}
