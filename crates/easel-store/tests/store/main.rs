//! What a store keeps, against both databases.
#![allow(clippy::unwrap_used)]

mod agents;
mod bench;
mod crashes;
mod fixtures;
mod journals;
mod keys_and_files;
mod memories;
mod runs;
mod sessions;
mod several;
mod stores;
