//! A server as its clients see it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod client;
mod clients;
mod durable;
mod host;
mod mcp;
mod openapi;
mod security;
mod slow;
mod support;
mod telemetry;
mod templates;
mod v1;
