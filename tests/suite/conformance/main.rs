//! Walks through what is simulated, area by area, through cuda-sys as programs do.

mod common;

mod attributes;
mod by_name;
mod capture;
mod events;
mod failures;
mod faults;
mod graphs;
mod host_functions;
mod many_threads;
mod streams;
mod user_objects;
