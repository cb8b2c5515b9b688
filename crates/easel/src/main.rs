//! The `easel` command.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod case;
mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match cli.command {
        cli::Command::Test(arguments) => case::test(&arguments),
    }
}
