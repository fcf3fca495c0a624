//! `attribute-probe` as a program: without a driver, and with a made-up one that can crash, hang and break.

mod faults;
mod program;
mod record;
