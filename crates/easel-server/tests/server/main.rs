//! A server as its clients see it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod host;
mod mcp;
mod ragflow;
mod support;
mod telemetry;
mod templates;
