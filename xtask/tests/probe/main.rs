//! `attribute-probe` as a program: without a driver, with a made-up one that can crash, hang and break, and with the
//! simulated one.

mod faults;
mod program;
mod record;
mod simulated;
