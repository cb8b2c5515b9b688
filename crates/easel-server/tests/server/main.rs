//! A server as its clients see it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod client;
mod clients;
mod durable;
mod host;
mod mcp;
mod openai;
mod openapi;
mod ragflow;
mod security;
mod several;
mod slow;
mod support;
mod taking_up;
mod telemetry;
mod templates;
mod unknown;
mod v1;
mod webhook;
