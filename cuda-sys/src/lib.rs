#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

#[macro_use]
mod entry_points;
pub mod driver;
mod layout;

mod bindings;
pub use bindings::*;
