//! Rules that need more than one value: its context, or the rest of the launch.

use super::{ClusterDimension, Known, PreferredClusterDimension};
use crate::{Context, Dim3, Error, Priority, Result};

/// What attributes are checked against before the driver sees them.
#[derive(Debug)]
pub struct Rules<'a> {
    context: &'a Context,
    pub(super) clusters: Clusters,
}

impl<'a> Rules<'a> {
    #[inline]
    pub(crate) fn new(context: &'a Context) -> Self {
        Self { context, clusters: Clusters::default() }
    }

    /// Checks a priority against the context's range.
    pub(super) fn priority(&self, priority: Priority) -> Result<()> {
        self.context.priority_range()?.check(priority)
    }

    /// Checks the size of an access policy window against the device's limit.
    pub(super) fn window(&self, bytes: usize) -> Result<()> {
        let most = self.context.max_access_policy_window()?;
        if bytes <= most {
            return Ok(());
        }
        Err(Error::invalid("AccessPolicyWindow.bytes", format!("{bytes} is more than the device's {most}")))
    }

    /// Checks what concerns the whole launch, after its attributes. `compiled` tells the cluster that the kernel was
    /// compiled with, and is asked only where that matters.
    #[inline]
    pub(crate) fn finish(self, grid: Dim3, compiled: impl FnOnce() -> Option<Dim3>) -> Result<()> {
        if self.clusters.are_none() { Ok(()) } else { self.clusters.check(grid, compiled) }
    }
}

/// The cluster attributes of a launch, where they are set and this crate may judge them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clusters {
    pub cluster: Option<Dim3>,
    pub preferred: Option<Dim3>,
    /// A raw attribute said something about clusters: the driver decides.
    is_raw: bool,
}

impl Clusters {
    /// The launch has no such attribute.
    #[inline]
    fn are_none(&self) -> bool {
        self.cluster.is_none() && self.preferred.is_none()
    }

    /// The driver is told `id` past this crate.
    pub(super) fn overridden(&mut self, id: u32) {
        self.is_raw |= [ClusterDimension::ID, PreferredClusterDimension::ID].contains(&id);
    }

    fn check(self, grid: Dim3, compiled: impl FnOnce() -> Option<Dim3>) -> Result<()> {
        if self.is_raw {
            return Ok(());
        }
        if let Some(cluster) = self.cluster {
            multiple("grid", grid, "ClusterDimension", cluster)?;
        }
        let Some(preferred) = self.preferred else { return Ok(()) };
        let Some(cluster) = self.cluster.or_else(compiled) else {
            return Err(Error::invalid("PreferredClusterDimension", "needs a ClusterDimension beside it"));
        };
        multiple("PreferredClusterDimension", preferred, "ClusterDimension", cluster)?;
        multiple("grid", grid, "PreferredClusterDimension", preferred)
    }
}

/// Checks that `whole` is a multiple of `part` in each dimension.
fn multiple(field: &'static str, whole: Dim3, of: &str, part: Dim3) -> Result<()> {
    let is_multiple = |whole: u32, part: u32| part != 0 && whole.is_multiple_of(part);
    if is_multiple(whole.x, part.x) && is_multiple(whole.y, part.y) && is_multiple(whole.z, part.z) {
        return Ok(());
    }
    Err(Error::invalid(field, format!("{whole} is not a multiple of the {of} {part} in each dimension")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(grid: [u32; 3], cluster: Option<[u32; 3]>, preferred: Option<[u32; 3]>) -> Result<(), String> {
        let dim = |dim: Option<[u32; 3]>| dim.map(Dim3::from);
        let clusters = Clusters { cluster: dim(cluster), preferred: dim(preferred), is_raw: false };
        clusters.check(grid.into(), || None).map_err(|error| error.to_string())
    }

    #[test]
    fn the_cluster_divides_the_grid() {
        assert_eq!(check([15, 1, 1], None, None), Ok(()));
        assert_eq!(check([16, 2, 1], Some([4, 2, 1]), None), Ok(()));
        let error = "grid: (15, 1, 1) is not a multiple of the ClusterDimension (2, 1, 1) in each dimension";
        assert_eq!(check([15, 1, 1], Some([2, 1, 1]), None), Err(error.into()));
    }

    #[test]
    fn the_preferred_cluster_is_a_multiple_of_the_cluster_and_divides_the_grid() {
        assert_eq!(check([16, 1, 1], Some([2, 1, 1]), Some([8, 1, 1])), Ok(()));
        let error = "PreferredClusterDimension: needs a ClusterDimension beside it";
        assert_eq!(check([16, 1, 1], None, Some([8, 1, 1])), Err(error.into()));
        let error = "PreferredClusterDimension: (3, 1, 1) is not a multiple of the ClusterDimension (2, 1, 1) in each dimension";
        assert_eq!(check([12, 1, 1], Some([2, 1, 1]), Some([3, 1, 1])), Err(error.into()));
        let error = "grid: (16, 1, 1) is not a multiple of the PreferredClusterDimension (6, 1, 1) in each dimension";
        assert_eq!(check([16, 1, 1], Some([2, 1, 1]), Some([6, 1, 1])), Err(error.into()));
    }

    #[test]
    fn a_compiled_cluster_counts() {
        let clusters = Clusters { preferred: Some([4, 1, 1].into()), ..Clusters::default() };
        assert!(clusters.check([16, 1, 1].into(), || Some([2, 1, 1].into())).is_ok());
    }

    #[test]
    fn raw_attributes_are_left_to_the_driver() {
        let mut clusters = Clusters { cluster: Some([2, 1, 1].into()), ..Clusters::default() };
        clusters.overridden(8);
        assert!(clusters.check([15, 1, 1].into(), || None).is_err());
        clusters.overridden(4);
        assert!(clusters.check([15, 1, 1].into(), || None).is_ok());
    }
}
