//! The guide's pages, each the documentation of an empty module, so that their code is compiled with the doctests.

#[doc = include_str!("../../docs/guide/attributes.md")]
mod attributes {}

#[doc = include_str!("../../docs/guide/coming-from.md")]
mod coming_from {}

#[doc = include_str!("../../docs/guide/dependents.md")]
mod dependents {}

#[doc = include_str!("../../docs/guide/fleet.md")]
mod fleet {}

#[doc = include_str!("../../docs/guide/executor.md")]
mod executor {}

#[doc = include_str!("../../docs/guide/finding.md")]
mod finding {}

#[doc = include_str!("../../docs/guide/graphs.md")]
mod graphs {}

#[doc = include_str!("../../docs/guide/host-functions.md")]
mod host_functions {}

#[doc = include_str!("../../docs/guide/troubleshooting.md")]
mod troubleshooting {}

#[doc = include_str!("../../docs/guide/README.md")]
mod start {}

#[doc = include_str!("../../README.md")]
mod readme {}
