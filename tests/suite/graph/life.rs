//! A life with graphs, of which every call can be made to fail.

use std::sync::atomic::{AtomicUsize, Ordering};

use cuda_hostfn::{Capture, CaptureMode, CaptureStatus, Context, Graph, Result, Stream};

use tests::{Drops, Machine, Value, touch};

/// The driver's functions that a life calls.
pub const FUNCTIONS: &[&str] = &[
    "cuCtxGetCurrent",
    "cuStreamBeginCapture_v2",
    "cuStreamIsCapturing",
    "cuStreamGetCaptureInfo_v2",
    "cuStreamGetCaptureInfo_v3",
    "cuStreamEndCapture",
    "cuLaunchHostFunc",
    "cuUserObjectCreate",
    "cuUserObjectRelease",
    "cuGraphRetainUserObject",
    "cuGraphReleaseUserObject",
    "cuGraphCreate",
    "cuGraphAddHostNode",
    "cuGraphAddEmptyNode",
    "cuGraphAddChildGraphNode",
    "cuGraphChildGraphNodeGetGraph",
    "cuGraphAddDependencies",
    "cuGraphGetNodes",
    "cuGraphNodeGetType",
    "cuGraphGetEdges",
    "cuGraphGetEdges_v2",
    "cuGraphNodeGetDependencies",
    "cuGraphNodeGetDependencies_v2",
    "cuGraphClone",
    "cuGraphNodeFindInClone",
    "cuGraphHostNodeGetParams",
    "cuGraphHostNodeSetParams",
    "cuGraphInstantiateWithFlags",
    "cuGraphUpload",
    "cuGraphLaunch",
    "cuGraphExecHostNodeSetParams",
    "cuGraphExecUpdate",
    "cuGraphExecUpdate_v2",
    "cuStreamSynchronize",
    "cuThreadExchangeStreamCaptureMode",
];

/// A life with graphs: one of everything, and closures that are counted.
pub struct Life<'m> {
    machine: &'m Machine,
    made: AtomicUsize,
    pub drops: Drops,
}

impl<'m> Life<'m> {
    pub fn new(machine: &'m Machine) -> Self {
        Self { machine, made: AtomicUsize::new(0), drops: Drops::default() }
    }

    /// How many closures there were.
    pub fn made(&self) -> usize {
        self.made.load(Ordering::Relaxed)
    }

    fn value(&self) -> Value {
        self.made.fetch_add(1, Ordering::Relaxed);
        self.drops.value()
    }

    fn closure(&self) -> impl FnMut() + Send + 'static {
        let value = self.value();
        move || touch(&value)
    }

    /// What fails, ends it.
    pub fn live(&self) -> Result<()> {
        // Its own, so that nobody else's reference to it hides one that is left.
        let context = Context::primary(self.machine.device)?;
        let stream = Stream::new(&context)?;
        let result = self.live_in(&stream);
        if stream.capture_status().is_ok_and(|status| status != CaptureStatus::None) {
            // The end of the capture failed, and so did the attempt after it.
            drop(stream.end_capture());
        }
        let _ = stream.synchronize();
        result
    }

    fn live_in(&self, stream: &Stream) -> Result<()> {
        let abandoned = Capture::begin(stream, CaptureMode::Relaxed)?;
        stream.host_launch(self.closure())?;
        drop(abandoned);
        let captured = stream.capture(CaptureMode::ThreadLocal, |stream| {
            stream.host_launch(self.closure())?;
            Ok(stream.host_launch(self.closure())?)
        })?;
        let graph = Graph::new(stream.context())?;
        let first = graph.add_host_node(&[], self.closure())?;
        let empty = graph.add_empty_node(&[*first])?;
        let child = graph.add_child_graph_node(&[empty], &captured)?;
        let last = graph.add_host_node(&[], self.closure())?;
        graph.add_dependencies(&[(*child, *last)])?;
        for node in child.child_graph()?.nodes()? {
            if let Some(node) = node.as_host_node()? {
                node.replace(self.closure())?;
            }
        }
        assert_eq!((graph.edges()?.len(), last.dependencies()?.len()), (3, 1));
        let clone = graph.try_clone()?;
        let mut executable = graph.instantiate(Default::default())?;
        executable.upload(stream)?;
        executable.launch(stream)?;
        last.replace(self.closure())?;
        executable.replace_host_node(first, self.closure())?;
        executable.launch(stream)?;
        executable.replace_host_node(first, self.closure())?;
        executable.replace_host_node(last, self.closure())?;
        if let Some(node) = clone.find_in_clone(*first)?.as_host_node()? {
            node.replace(self.closure())?;
        }
        executable.update(&clone)?;
        executable.launch(stream)?;
        drop((graph, executable));
        stream.synchronize()
    }
}
