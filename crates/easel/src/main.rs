//! The `easel` command.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod case;
mod check;
mod cli;
mod components;
mod config;
mod document;
mod run;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use cli::{Cli, Command};

/// The version, with the commit it was built from where that is known.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("EASEL_COMMIT"), ")");

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Test(arguments) => case::test(&arguments),
        Command::Explain { code } => check::explain(&code),
        Command::Components(arguments) => components::show(&arguments),
        Command::Export { file } => document::export(&file),
        Command::New { file } => document::new(&file),
        Command::Completions { shell } => {
            let mut command = Cli::command();
            clap_complete::generate(shell, &mut command, "easel", &mut std::io::stdout());
            ExitCode::SUCCESS
        }
    }
}
