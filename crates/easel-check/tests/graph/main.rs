//! What the check says about graphs.
#![expect(
    clippy::unwrap_used,
    reason = "a test whose document cannot be made should stop"
)]

mod anything;
mod codes;
mod documents;
mod rules;
