//! Easel over HTTP.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod mcp;
pub mod telemetry;
