//! A server as its clients see it.

mod host;
mod support;
