//! The server as its clients see it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod mcp;
