//! A real browser for workflows: Chromium, driven over its DevTools protocol.
//!
//! [`Browsers`] opens one for each use, with a profile of its own that is gone afterwards. Easel and the browser talk through a pipe,
//! so that nobody else on the machine can drive it. All that the browser asks of the network, whatever part of it asks, goes through a
//! gateway of ours, which dials what the [guard](easel_tools::guard) lets it dial; the browser itself can resolve no name. Files of the machine
//! are out of its reach: pages cannot lead to them, and Easel opens `http` and `https` only.
//!
//! The protocol is spoken here and not by a library: a dozen of its seven hundred calls are needed, and those libraries listen on a
//! port, which any program on the machine could use.
#![cfg(unix)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod downloads;
mod gateway;
mod launch;
mod page;
mod pipe;

pub use launch::{BrowserConfig, Browsers, find_program};
