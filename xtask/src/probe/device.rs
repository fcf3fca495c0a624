//! The device that is asked: opening it, and what it says of itself.

use std::ffi::c_int;
use std::fs;

use super::cuda::{Context, Device, Failed, Kernel, Module};
use super::limits::{Feature, Limits};
use super::samples::BLOCKS;

/// Below it, a driver of today knows the device no more, and the kernels are not for it.
pub(super) const OLDEST: (c_int, c_int) = (7, 5);

pub(super) fn compute_capability(device: Device) -> Result<(c_int, c_int), Failed> {
    const MAJOR: u32 = 75;
    const MINOR: u32 = 76;
    Ok((device.attribute(MAJOR)?, device.attribute(MINOR)?))
}

/// What the device says it lacks. A driver that does not know the question does not have the feature either.
pub(super) fn lacks(device: Device) -> Vec<Feature> {
    let lacks = |feature: &Feature| {
        let (attribute, least) = feature.device_attribute();
        device.attribute(attribute).unwrap_or(0) < least
    };
    Feature::ALL.into_iter().filter(lacks).collect()
}

/// Kernels of both kinds; one that allows any cluster only where the device takes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernels<'module> {
    pub(super) portable: Kernel<'module>,
    pub(super) any_cluster: Result<Kernel<'module>, Failed>,
}

impl<'module> Kernels<'module> {
    pub(super) fn of(module: &'module Module<'module>) -> Result<Self, Failed> {
        Ok(Self { portable: module.portable()?, any_cluster: module.any_cluster() })
    }
}

pub(super) fn limits(device: Device, context: &Context, kernels: &Kernels<'_>) -> Result<Limits, Failed> {
    const MAX_ACCESS_POLICY_WINDOW_SIZE: u32 = 109;
    const MEM_SYNC_DOMAIN_COUNT: u32 = 126;
    // What the architecture promises, where the device cannot be asked.
    const PORTABLE_CLUSTER: u32 = 8;
    const LARGEST_CLUSTER: u32 = 16;
    let (least_priority, greatest_priority) = context.priorities()?;
    let size = |kernel: Result<Kernel<'_>, Failed>| kernel.ok()?.largest_cluster(BLOCKS).ok().filter(|size| *size > 0);
    Ok(Limits {
        least_priority,
        greatest_priority,
        access_window: device
            .attribute(MAX_ACCESS_POLICY_WINDOW_SIZE)
            .ok()
            .and_then(|b| b.try_into().ok())
            .unwrap_or(0),
        memory_domains: device.attribute(MEM_SYNC_DOMAIN_COUNT).ok().and_then(|n| n.try_into().ok()).unwrap_or(1),
        portable_cluster: size(Ok(kernels.portable)).unwrap_or(PORTABLE_CLUSTER),
        largest_cluster: size(kernels.any_cluster).unwrap_or(LARGEST_CLUSTER),
    })
}

/// The version of the kernel module, such as `580.159.04`.
pub(super) fn kernel_driver() -> Option<String> {
    let stated = fs::read_to_string("/proc/driver/nvidia/version").ok();
    let stated = stated.as_deref().and_then(version_in);
    stated.or_else(|| version_in(&fs::read_to_string("/sys/module/nvidia/version").ok()?))
}

/// The first word of the form `580.159.04` or `535.98`.
fn version_in(text: &str) -> Option<String> {
    let is_version = |word: &&str| {
        let parts: Vec<&str> = word.split('.').collect();
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        (2..=3).contains(&parts.len()) && parts.iter().all(is_number)
    };
    text.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_modules_version_is_found_in_what_the_system_says() {
        for (text, version) in [
            (
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Release Build\nGCC version: 12.2.0",
                "580.159.04",
            ),
            (
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.98  Release Build  (builder@host)",
                "535.98",
            ),
            ("580.159.04\n", "580.159.04"),
        ] {
            assert_eq!(version_in(text).as_deref(), Some(version));
        }
        assert_eq!(version_in("no version here. x86_64 1.a 7"), None);
    }
}
