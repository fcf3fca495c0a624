//! The audit as people run it: the built program on real headers, on small ones of our own, and on what is no header.

mod bad_input;
mod real;
mod run;
mod synthetic;
