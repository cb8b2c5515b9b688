//! A server as its clients see it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod client;
mod durable;
mod host;
mod mcp;
mod openapi;
mod security;
mod slow;
mod ragflow;
mod support;
mod taking_up;
mod telemetry;
mod templates;
mod v1;
