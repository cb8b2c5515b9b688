//! Canvases as graphs and graphs as canvases.
//!
//! Converted is what both dialects say, and say alike. Everything else is in the report, one [`Loss`] for each key of
//! each node, with why: what was left out, and what was written in another way. Nothing is dropped in silence. To hold
//! itself to that, a conversion converts its own result back and reports whatever came back otherwise. So converting
//! there and back gives what was converted, but for what the report names.
//!
//! | canvas | graph |
//! |---|---|
//! | fields of Begin, `sys.query` | declared inputs, `query` |
//! | Agent, LLM | `base`; with tools `react` |
//! | Switch | a router with `cases` |
//! | Categorize | a router with `routes` |
//! | Iteration | `map` |
//! | Message at the end | `output` |
//! | `exception_goto` | `on_error` |
//! | `max_retries` | `policy.retries` |
//! | `{Agent:x@content}` | `{x}`; from a node that is no dependency, `{vars.x}` |
//!
//! ```
//! use easel_catalog::Catalog;
//!
//! let canvas = br#"{"components": {
//!     "begin": {"obj": {"component_name": "Begin", "params": {"mode": "task"}}, "downstream": ["Agent:poet"], "upstream": []},
//!     "Agent:poet": {"obj": {"component_name": "Agent", "params": {"prompts": [{"role": "user", "content": "On {sys.query}."}]}},
//!                    "downstream": [], "upstream": ["begin"]}
//! }}"#;
//! let canvas = easel_canvas::document::Document::read(canvas)?;
//! let converted = easel_convert::to_graph(&canvas, Catalog::builtin())?;
//! assert!(converted.value.to_yaml().contains("instructions: On {query}."));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod compare;
mod condition;
mod edges;
mod names;
mod text;
mod to_canvas;
mod to_graph;

use std::fmt;

use easel_canvas::document::Document as Canvas;
use easel_canvas::normalise::normalise;
use easel_catalog::Catalog;
use easel_core::Value;
use easel_graph::document::Document as Graph;
use serde::Serialize;

/// A workflow in the other dialect, and what of it is not there.
#[derive(Clone, Debug)]
pub struct Converted<T> {
    /// The workflow.
    pub value: T,
    /// What was not carried over, or not as it was, by node in the order of the file. Empty: all was.
    pub losses: Vec<Loss>,
}

/// Something that a conversion does not carry over, or not as it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Loss {
    /// The id of the node in the file that was converted; empty for the workflow itself.
    pub node: String,
    /// The key or parameter; empty for the whole node.
    pub key: String,
    /// What became of it and why, as one sentence.
    pub why: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.node.as_str(), self.key.as_str()) {
            ("", "") => write!(f, "{}", self.why),
            ("", key) => write!(f, "{key}: {}", self.why),
            (node, "") => write!(f, "{node}: {}", self.why),
            (node, key) => write!(f, "{node} {key}: {}", self.why),
        }
    }
}

/// What was not carried over, while a conversion goes on. Each key of each node once.
#[derive(Debug, Default)]
pub(crate) struct Losses(Vec<Loss>);

impl Losses {
    pub(crate) fn say(&mut self, node: &str, key: &str, why: impl Into<String>) {
        if !self.has(node, key) {
            self.0.push(Loss {
                node: node.to_owned(),
                key: key.to_owned(),
                why: why.into(),
            });
        }
    }

    /// Whether something was said about a key, or about its whole node.
    pub(crate) fn has(&self, node: &str, key: &str) -> bool {
        let about = |loss: &Loss| loss.node == node && (loss.key == key || loss.key.is_empty());
        self.0.iter().any(about)
    }

    /// Whether something was said about a part of a key (`cases[0]` of `cases`).
    pub(crate) fn has_under(&self, node: &str, key: &str) -> bool {
        let under = |loss: &Loss| {
            let rest = loss.key.strip_prefix(key);
            loss.node == node && rest.is_some_and(|rest| rest.starts_with(['.', '[', ' ']))
        };
        self.0.iter().any(under)
    }
}

/// Why there is no converted workflow.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// The graph that came out is beyond what is read.
    #[error("the graph that comes out cannot be read: {0}")]
    Graph(#[from] easel_graph::error::ReadError),
    /// The canvas that came out is beyond what is read.
    #[error("the canvas that comes out cannot be read: {0}")]
    Canvas(#[from] easel_canvas::error::ReadError),
}

/// A canvas as a graph.
///
/// # Errors
/// What comes out is larger or deeper than what is read.
pub fn to_graph(canvas: &Canvas, catalog: &Catalog) -> Result<Converted<Graph>, ConvertError> {
    let canvas = normalise(canvas).document;
    let mut losses = Losses::default();
    let graph = to_graph::graph(&canvas, catalog, &mut losses);
    let value = Graph::from_value(&Value::from(graph))?;
    let back = to_canvas::canvas(&value, catalog, &mut Losses::default());
    let back = Canvas::from_value(Value::from(back))?;
    compare::canvases(&canvas, &back, catalog, &mut losses);
    Ok(Converted {
        value,
        losses: losses.0,
    })
}

/// A graph as a canvas.
///
/// # Errors
/// What comes out is larger or deeper than what is read.
pub fn to_canvas(graph: &Graph, catalog: &Catalog) -> Result<Converted<Canvas>, ConvertError> {
    let mut losses = Losses::default();
    let canvas = to_canvas::canvas(graph, catalog, &mut losses);
    let value = Canvas::from_value(Value::from(canvas))?;
    let back = to_graph::graph(&value, catalog, &mut Losses::default());
    let back = Graph::from_value(&Value::from(back))?;
    compare::graphs(graph, &back, &mut losses);
    Ok(Converted {
        value,
        losses: losses.0,
    })
}

#[cfg(test)]
mod tests;
