//! The rules, a file a theme.

pub(crate) mod branches;
pub(crate) mod duplicates;
mod flow;
pub(crate) mod inputs;
pub(crate) mod missing;
pub(crate) mod models;
pub(crate) mod parameters;
pub(crate) mod ports;
pub(crate) mod rewrites;
pub(crate) mod secrets;
pub(crate) mod structure;
pub(crate) mod wiring;

pub(crate) use structure::listed;
