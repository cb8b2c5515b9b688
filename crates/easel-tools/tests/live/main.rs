//! The live capabilities as workflows use them, against servers on this machine.

mod http;
mod server;
mod tavily;
