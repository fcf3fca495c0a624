//! The audit as people run it: the built program on real headers, on small ones of our own, and on what is no header.

mod bad_input;
mod formats;
#[cfg(unix)]
mod live;
mod properties;
mod real;
mod record;
mod records;
mod reference;
mod run;
mod synthetic;
