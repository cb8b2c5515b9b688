//! What the codes of graphs mean, a file a theme. Every example is a graph that has what its code names.

pub(crate) mod format;
pub(crate) mod functions;
pub(crate) mod models;
pub(crate) mod routers;
pub(crate) mod texts;
pub(crate) mod tools;
pub(crate) mod wiring;
