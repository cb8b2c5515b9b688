//! What each code means, in words: one file a theme.

pub(crate) mod edges;
pub(crate) mod graph;
pub(crate) mod loops;
pub(crate) mod nodes;
pub(crate) mod references;
pub(crate) mod rewrites;
pub(crate) mod secrets;
