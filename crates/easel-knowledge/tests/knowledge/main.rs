//! Knowledge bases as people use them: their documents, what comes in, what is found.
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of these tests stop a test as its own lines do"
)]

mod adding;
mod files;
mod formats;
mod pipeline;
mod quality;
mod searching;
