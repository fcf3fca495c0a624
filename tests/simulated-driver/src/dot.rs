//! Graphs as text, in the manner of a real driver's `cuGraphDebugDotPrint`.

use std::fmt::Write;

use crate::abi::Handle;
use crate::graph::Kind;
use crate::state::State;

pub(crate) fn of(state: &State, graph: Handle) -> String {
    let mut text = "digraph dot {\n".to_owned();
    write_graph(state, graph, &mut text);
    text.push_str("}\n");
    text
}

fn write_graph(state: &State, handle: Handle, text: &mut String) {
    let Some(graph) = state.graphs.get(&handle) else { return };
    let name = |place: usize| format!("graph_{}_node_{place}", handle.number());
    let number = handle.number();
    let _ = writeln!(text, "subgraph cluster_{number} {{\nlabel=\"graph_{number}\" graph[style=\"dashed\"];");
    for (place, node) in graph.nodes.iter().enumerate() {
        let Some(node) = state.nodes.get(node) else { continue };
        let what = match &node.kind {
            Kind::Kernel(launch) => format!("KERNEL\n| {}", launch.name),
            Kind::Host { function, data } => format!("HOST\n| {{{function:?} | {:?}}}", data.0),
            Kind::Copy(copy) => format!("MEMCPY\n| {} bytes", copy.length),
            Kind::Fill(fill) => format!("MEMSET\n| {} × {} bytes", fill.count, fill.pattern.len()),
            Kind::Empty => "EMPTY".to_owned(),
            Kind::Child(child) => format!("GRAPH\n| graph_{}", child.number()),
            Kind::RecordEvent(_) => "EVENT_RECORD".to_owned(),
            Kind::WaitEvent(_) => "EVENT_WAIT".to_owned(),
            Kind::Operations(_) => "MEM_OP".to_owned(),
        };
        let _ = writeln!(text, "\"{}\"[style=\"bold\" shape=\"record\" label=\"{{{what}}}\"];", name(place));
    }
    let place = |node: Handle| graph.nodes.iter().position(|known| *known == node).unwrap_or_default();
    for edge in &graph.edges {
        let _ = writeln!(text, "\"{}\" -> \"{}\";", name(place(edge.from)), name(place(edge.to)));
    }
    text.push_str("}\n");
    for node in &graph.nodes {
        if let Some(Kind::Child(child)) = state.nodes.get(node).map(|node| &node.kind) {
            write_graph(state, *child, text);
        }
    }
}
