//! A client of MCP servers: programs that are spoken to by their standard input and output, and servers of streamable HTTP.
//!
//! [`McpClients`] connects when a tool is first asked for, keeps the connection for the conversation it belongs to and
//! lets go of it when nobody has used it for a while. It speaks the revision 2026-07-28 of the protocol, and those before
//! it that begin with `initialize`. Which values a connection is made with (headers, variables of an environment) is up to
//! whoever comes: two visits with different values never share one.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod clients;
mod connection;
mod content;
mod greeting;
mod pool;
mod program;
mod sign_in;
mod trouble;

pub use clients::McpClients;
pub use sign_in::{Credentials, SignIn};
