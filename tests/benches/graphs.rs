//! What closures in graphs cost over a C function with a pointer (`cuGraphAddHostNode`), in rounds in which all take turns:
//! the time of a call when a graph with many host nodes in a row is replayed, and when a graph with one is, many times.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cuda_hostfn::sys::{CUgraphExec, CUresult, CUstream, cuGraphLaunch, cuStreamSynchronize};
use cuda_hostfn::{CaptureMode, Context, Device, Graph, GraphExec, Node, Result, Stream, host};

const ROUNDS: usize = 200;
const WARM_UP: usize = 10;

/// Calls of a round: nodes of the long graph, launches of the short one.
const CALLS: usize = 200;

static NUMBER: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" fn add(number: *mut c_void) {
    // SAFETY: a static.
    unsafe { &*number.cast::<AtomicU64>() }.fetch_add(1, Ordering::Relaxed);
}

fn count() {
    NUMBER.fetch_add(1, Ordering::Relaxed);
}

fn count_with(number: &Arc<AtomicU64>) -> impl FnMut() + Send + 'static {
    let number = number.clone();
    move || {
        number.fetch_add(1, Ordering::Relaxed);
    }
}

/// How a graph gets its nodes.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Raw,
    Added,
    AddedWithArc,
    Captured,
    Replaced,
}

const VARIANTS: [(&str, Kind); 6] = [
    ("raw", Kind::Raw),
    ("raw again", Kind::Raw),
    ("add_host_node", Kind::Added),
    ("add_host_node, captures an Arc", Kind::AddedWithArc),
    ("captured host_launch", Kind::Captured),
    ("replace_host_node", Kind::Replaced),
];

fn graph(stream: &Stream, kind: Kind, nodes: usize, number: &Arc<AtomicU64>) -> Result<GraphExec> {
    if kind == Kind::Captured {
        let capture = |stream: &cuda_hostfn::StreamRef| (0..nodes).try_for_each(|_| Ok(stream.host_launch(count)?));
        return stream.capture(CaptureMode::ThreadLocal, capture)?.instantiate(Default::default());
    }
    let graph = Graph::new(stream.context())?;
    let mut row: Vec<Node<'_>> = Vec::with_capacity(nodes);
    for place in 0..nodes {
        let after = &row[place.saturating_sub(1)..];
        let data = (&raw const NUMBER).cast_mut().cast();
        let node = match kind {
            // SAFETY: a static.
            Kind::Raw => unsafe { graph.add_host_node_raw(after, Some(add), data) }?,
            Kind::AddedWithArc => graph.add_host_node(after, count_with(number))?,
            Kind::Added | Kind::Captured | Kind::Replaced => graph.add_host_node(after, count)?,
        };
        row.push(node.into());
    }
    let mut executable = graph.instantiate(Default::default())?;
    if kind == Kind::Replaced {
        for node in row {
            if let Some(node) = node.as_host_node()? {
                executable.replace_host_node(node, count)?;
            }
        }
    }
    Ok(executable)
}

/// The raw one is launched by the driver's function as it is.
fn launch(executable: &GraphExec, kind: Kind, stream: &Stream) {
    if kind == Kind::Raw {
        let (raw, stream): (CUgraphExec, CUstream) = (executable.as_raw(), stream.as_raw());
        // SAFETY: both handles live.
        assert_eq!(unsafe { cuGraphLaunch(raw, stream) }, CUresult::CUDA_SUCCESS);
    } else {
        executable.launch(stream).expect("launched");
    }
}

fn measure(executable: &GraphExec, kind: Kind, launches: usize, stream: &Stream) -> Duration {
    let start = Instant::now();
    for _ in 0..launches {
        launch(executable, kind, stream);
    }
    // SAFETY: the handle lives.
    assert_eq!(unsafe { cuStreamSynchronize(stream.as_raw()) }, CUresult::CUDA_SUCCESS);
    let time = start.elapsed();
    host::reclaim().expect("an ordinary thread");
    time
}

fn compare(title: &str, stream: &Stream, nodes: usize, launches: usize) -> Result<()> {
    let number = Arc::new(AtomicU64::new(0));
    let graphs = VARIANTS.map(|(_, kind)| graph(stream, kind, nodes, &number));
    let graphs = graphs.into_iter().collect::<Result<Vec<_>>>()?;
    let mut samples: [Vec<f64>; VARIANTS.len()] = Default::default();
    for round in 0..ROUNDS + WARM_UP {
        for turn in 0..VARIANTS.len() {
            let variant = (round + turn) % VARIANTS.len();
            let time = measure(&graphs[variant], VARIANTS[variant].1, launches, stream);
            if round >= WARM_UP {
                samples[variant].push(time.as_secs_f64() * 1e9 / CALLS as f64);
            }
        }
    }
    println!("{title:44} {:>18}   against raw: min, median", "ns a call: min, median");
    let numbers = samples.map(|mut times| {
        times.sort_by(f64::total_cmp);
        (times[0], times[times.len() / 2])
    });
    let (raw_min, raw_median) = numbers[0];
    for ((name, _), (min, median)) in VARIANTS.iter().zip(numbers) {
        println!("{name:44} {:>22}   {:.3} {:.3}", format!("{min:.0} {median:.0}"), min / raw_min, median / raw_median);
    }
    Ok(())
}

fn main() {
    let context = match Device::get(0).and_then(Context::primary) {
        Ok(context) => context,
        Err(error) => return println!("did not run: {error}"),
    };
    let stream = Stream::new(&context).expect("a stream");
    compare("a graph of 200 host nodes in a row", &stream, CALLS, 1).expect("measured");
    compare("a graph of one host node, launched 200 times", &stream, 1, CALLS).expect("measured");
}
