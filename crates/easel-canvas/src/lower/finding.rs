//! What lowering can find wrong with a canvas's parameters.

use std::sync::Arc;

/// Something about a node's parameters that its author should know.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// There is no such component. The node fails if it is reached.
    UnknownComponent {
        /// The node.
        node: Arc<str>,
        /// The name in the file.
        component: Arc<str>,
    },
    /// A parameter has a wrong value, is missing, or is read by nothing.
    Parameter {
        /// The node.
        node: Arc<str>,
        /// What is wrong; its path counts from the node's parameters.
        finding: easel_catalog::Finding,
    },
    /// A parameter that must name a value does not.
    NoReference {
        /// The node.
        node: Arc<str>,
        /// Where, from the node's parameters.
        path: String,
        /// What stands there.
        text: Arc<str>,
    },
    /// A comparison nobody knows; it is never true.
    UnknownOperator {
        /// The node.
        node: Arc<str>,
        /// Where, from the node's parameters.
        path: String,
        /// What stands there.
        operator: Arc<str>,
    },
    /// A default value and a goto are both filled in, and the method is neither; goto wins.
    TwoWaysAfterFailure {
        /// The node.
        node: Arc<str>,
    },
    /// A loop variable that lacks a part; it starts with the empty value of its type.
    IncompleteVariable {
        /// The loop.
        node: Arc<str>,
        /// The variable.
        variable: Arc<str>,
    },
}
