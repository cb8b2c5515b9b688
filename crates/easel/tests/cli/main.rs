//! The `easel` command as people and scripts use it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agents;
mod chat;
mod check;
mod code;
mod convert;
mod crash;
mod databases;
mod documents;
mod easel;
mod graphs;
mod help;
mod kb;
mod load;
mod mcp;
mod memory;
mod model;
mod package;
mod pages;
mod pipeline;
mod python;
mod run;
mod runs;
mod sample_documents;
mod scripts;
mod search;
mod secrets;
mod served;
mod several;
#[cfg(target_os = "linux")]
mod terminal;
mod test;
