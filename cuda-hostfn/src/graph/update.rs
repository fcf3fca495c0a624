//! Executable graphs that take over another graph's nodes.

use std::error::Error as StdError;
use std::fmt;

use super::{Graph, GraphExec, Node, calls};
use crate::sys::CUgraphExecUpdateResult;
use crate::{Error, Result, host};

impl GraphExec {
    /// Takes over what the nodes of `graph` do, which has to be of the same shape as the graph that this was made from
    /// (`cuGraphExecUpdate`). Launches that are pending run as they were.
    ///
    /// The closures of `graph` are owned here as well from now on. Those that were are given up, and so is what
    /// [`replace_host_node`](Self::replace_host_node) has set, when launches that are pending are done.
    ///
    /// # Errors
    ///
    /// [`UpdateError`] says why the driver refuses, and at which node of `graph`. The executable graph is then as it was.
    pub fn update<'g>(&mut self, graph: &'g Graph) -> Result<(), UpdateError<'g>> {
        let _entered = self.context().enter()?;
        let exec = self.as_raw();
        // SAFETY: the handles live, and the context is current.
        let update = || match unsafe { calls::update(exec, graph.as_raw()) }? {
            None => Ok(Ok(())),
            Some(refused) => Ok(Err(refused)),
        };
        // SAFETY: the graph lives, and an update gives its references to the executable graph.
        let (refused, kept) = unsafe { host::with_keeper(graph.as_raw(), update) }?;
        match refused {
            Ok(()) => {
                self.keep(kept);
                Ok(())
            }
            Err(calls::Refused { why, node }) => {
                let node = (!node.is_null()).then(|| Node::new(graph, node));
                Err(UpdateError { error: Error::UpdateRefused(UpdateRefusal::of(why)), node })
            }
        }
    }
}

/// Why an executable graph cannot take over a graph (`CUgraphExecUpdateResult`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UpdateRefusal {
    /// Nodes or edges are more, fewer or others than they were.
    TopologyChanged,
    /// A node is of another kind.
    NodeTypeChanged,
    /// A node has another kernel, which this driver cannot do.
    FunctionChanged,
    /// A node's parameters changed in a way that cannot be updated.
    ParametersChanged,
    /// A node is such that it cannot be updated.
    NotSupported,
    /// A node has a kernel of another context, or one that needs something else of the device.
    UnsupportedFunctionChange,
    /// A node's attributes changed in a way that cannot be updated.
    AttributesChanged,
    /// What the error says; the driver tells no more. With the number that it gave.
    Other(i32),
}

impl UpdateRefusal {
    fn of(result: CUgraphExecUpdateResult) -> Self {
        match result {
            CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED => Self::TopologyChanged,
            CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED => Self::NodeTypeChanged,
            CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED => Self::FunctionChanged,
            CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED => Self::ParametersChanged,
            CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED => Self::NotSupported,
            CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE => {
                Self::UnsupportedFunctionChange
            }
            CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED => Self::AttributesChanged,
            CUgraphExecUpdateResult(other) => Self::Other(i32::try_from(other).unwrap_or(i32::MAX)),
        }
    }
}

impl fmt::Display for UpdateRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TopologyChanged => "its nodes or edges are others",
            Self::NodeTypeChanged => "a node is of another kind",
            Self::FunctionChanged => "a node has another kernel, which this driver cannot do",
            Self::ParametersChanged => "a node's parameters changed in a way that cannot be updated",
            Self::NotSupported => "a node is such that it cannot be updated",
            Self::UnsupportedFunctionChange => "a node has a kernel that needs something else of the device",
            Self::AttributesChanged => "a node's attributes changed in a way that cannot be updated",
            Self::Other(number) => return write!(f, "the driver's reason has the number {number}"),
        })
    }
}

/// An update that did not happen: why, and where.
///
/// `?` in a function that returns [`Result`](crate::Result) keeps the error and drops the node. In others, such as those with a
/// `Box<dyn Error>`, `.map_err(cuda_hostfn::Error::from)?` does.
#[derive(Debug)]
pub struct UpdateError<'g> {
    error: Error,
    node: Option<Node<'g>>,
}

impl<'g> UpdateError<'g> {
    /// Why: [`Error::UpdateRefused`], or what else went wrong.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// Why the driver refuses, if it does.
    pub fn refusal(&self) -> Option<UpdateRefusal> {
        match self.error {
            Error::UpdateRefused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// The node of the new graph at fault, if the driver names one. It may be one of a child graph.
    pub fn node(&self) -> Option<Node<'g>> {
        self.node
    }
}

impl fmt::Display for UpdateError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl StdError for UpdateError<'_> {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.error.source()
    }
}

impl From<Error> for UpdateError<'_> {
    fn from(error: Error) -> Self {
        Self { error, node: None }
    }
}

impl From<UpdateError<'_>> for Error {
    fn from(error: UpdateError<'_>) -> Self {
        error.error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_behind_is_the_source() {
        let error = UpdateError::from(Error::Lost(Error::Capturing.into()));
        assert_eq!(error.source().map(ToString::to_string), Some(Error::Capturing.to_string()));
    }
}
