//! What the check says about canvases.

mod anything;
mod codes;
mod documents;
mod missing;
