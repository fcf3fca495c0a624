//! A simulated `libcuda`, for suites that have to run where there is no GPU, and to see what happens when one fails.
//!
//! The shared library exports the names of the real one and is loaded by cuda-sys's ordinary loader. A suite takes it
//! by [`simulated_driver_client::load`]; whoever wants to run a program on it, by
//! `CUDA_SYS_DRIVER=$(cargo run -qp simulated-driver-client --example library 13.0)`. Each version is a library of its
//! own, with the names that drivers of that version export. The client makes calls fail, devices fault and streams run
//! in disorder, and counts what is alive.
//!
//! # What is simulated
//!
//! One device; its primary context and created ones; streams, the legacy and the per-thread ones among them, with the
//! order that they keep; events; kernels by name; memory, which is the host's; stream memory operations, which look at
//! it now and then while they wait; host functions and callbacks on one thread; capture in all modes; graphs with
//! kernel, host, empty, child, event, copy and fill nodes, and memory operations where they were captured; executable
//! graphs; user objects with destructors on a thread of the driver's. Attributes answer as a real machine did: its
//! record is read, and nothing else says which place takes which id. For values that were not sampled there is the one
//! rule in `attributes.rs`.
//!
//! Work is done by one thread, a piece at a time, the oldest first unless [`simulated_driver_client::Client::schedule`] says otherwise.
//!
//! # Where a real driver differs
//!
//! * Handles are numbers that are never given out twice: one that is destroyed or foreign is `CUDA_ERROR_INVALID_HANDLE`
//!   (contexts: `INVALID_CONTEXT`; graphs, nodes and user objects: `INVALID_VALUE`), where a real driver may crash. So is
//!   adding a kernel node without a current context: `INVALID_CONTEXT`.
//! * Every version takes the attributes that the recorded machine's driver, of CUDA 13.0, takes.
//! * A kernel without a meaning here does nothing. Memory is checked in the kernels that have one, not in copies.
//! * A fault is noticed by calls that wait or ask, and by enqueueing only if that was asked for; a real one, some time.
//! * Destructors of user objects run on a thread of the driver's, but for those of an invalid capture; a real driver runs
//!   them on the calling thread where nothing is pending.
//! * `cuStreamSetAttribute` without a current context is `INVALID_VALUE`; some drivers take it.
//! * A fault reaches all streams at once; on a real device others may go on for a moment.
//! * Streams that wait at a memory operation hold up no other, as many as there are, unless
//!   [`simulated_driver_client::Client::share_connections`] says so.
//! * Not there: atomic memory operations, functions that make or change nodes of memory operations, memory pools, arrays,
//!   several devices, `cuGetProcAddress`, libraries.

mod abi;
mod argument;
mod attributes;
mod capture;
mod context;
mod control;
mod device;
mod dot;
mod error_names;
mod event;
mod exec;
mod exports;
mod faults;
mod gate;
mod graph;
mod host_functions;
mod kernels;
mod launch;
mod memory;
mod memory_operations;
mod module;
mod node;
mod record;
mod state;
mod stream;
mod threads;
mod user_object;
mod version;
mod work;
mod worker;
