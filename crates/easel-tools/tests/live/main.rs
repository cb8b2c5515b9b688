//! The live capabilities as workflows use them, against servers on this machine.
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of these tests stop a test as its own lines do"
)]

mod asking;
mod http;
mod providers;
mod proxy;
mod sandbox;
mod search;
mod server;
mod strangers;
mod tavily;
