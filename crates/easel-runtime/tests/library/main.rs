//! What programs do that embed Easel.
#![allow(clippy::unwrap_used)]

mod breaker;
mod cancelling;
mod conversations;
mod events;
mod graph_control;
mod graph_secrets;
mod graphs;
mod journals;
mod mcp;
mod own;
mod recovery;
mod secrets;
mod sharing;
mod tools;
