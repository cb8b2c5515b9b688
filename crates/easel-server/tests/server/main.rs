//! A server as its clients see it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod host;
mod mcp;
mod support;
mod taking_up;
mod telemetry;
mod templates;
