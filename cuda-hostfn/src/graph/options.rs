//! How graphs are made executable.

/// How a graph is made executable. [`GraphExec::upload`](super::GraphExec::upload) stands for
/// `CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct InstantiateOptions {
    use_node_priority: bool,
    auto_free_on_launch: bool,
    device_launch: bool,
}

impl InstantiateOptions {
    /// Nodes run with the priority of the stream that the graph is launched into.
    pub const fn new() -> Self {
        Self { use_node_priority: false, auto_free_on_launch: false, device_launch: false }
    }

    /// Nodes run with their own priorities (`CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY`). Without this, a
    /// [`Priority`](crate::Priority) that is set on a node, or was captured with it, is not looked at. All other attributes
    /// of nodes are, whatever the options.
    pub const fn use_node_priority(mut self, yes: bool) -> Self {
        self.use_node_priority = yes;
        self
    }

    /// A launch frees what the graph allocated in the launch before
    /// (`CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`).
    pub const fn auto_free_on_launch(mut self, yes: bool) -> Self {
        self.auto_free_on_launch = yes;
        self
    }

    /// Kernels may launch the graph, too (`CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH`). It can have no host nodes then.
    pub const fn device_launch(mut self, yes: bool) -> Self {
        self.device_launch = yes;
        self
    }

    pub(super) const fn flags(self) -> u64 {
        let Self { use_node_priority, auto_free_on_launch, device_launch } = self;
        auto_free_on_launch as u64 | (device_launch as u64) << 2 | (use_node_priority as u64) << 3
    }
}

#[cfg(test)]
mod tests {
    use super::InstantiateOptions;

    #[test]
    fn flags() {
        let options = InstantiateOptions::new();
        assert_eq!(options.flags(), 0);
        assert_eq!(options.auto_free_on_launch(true).flags(), 1);
        assert_eq!(options.device_launch(true).flags(), 4);
        assert_eq!(options.use_node_priority(true).flags(), 8);
    }
}
