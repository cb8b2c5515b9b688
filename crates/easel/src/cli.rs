//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Run agent workflows drawn as canvases or written as graphs.
#[derive(Debug, Parser)]
#[command(version, about, propagate_version = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run case folders with their scripted worlds and compare what happens with what is expected.
    Test(TestArguments),
}

/// Arguments of `easel test`.
#[derive(Args, Debug)]
pub struct TestArguments {
    /// Case folders.
    #[arg(required = true, value_name = "CASE")]
    pub cases: Vec<PathBuf>,
    /// Write what happened to this file, in the form of expected.json.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// How closely to compare: 1 messages and nodes, 2 also outputs and variables, 3 also model requests.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=3))]
    pub level: u8,
}
