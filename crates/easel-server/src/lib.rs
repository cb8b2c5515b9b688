//! Easel over HTTP.
