//! The `easel` command.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod agents;
mod archive;
mod case;
mod check;
mod cli;
mod columns;
mod components;
mod config;
mod convert;
mod crash;
mod data;
mod document;
mod documents;
mod exit;
mod explain;
mod import;
mod kb;
mod keyring;
mod keys;
mod lift;
mod mcp;
mod memory;
mod new;
mod out;
mod problem;
mod python;
mod reach;
mod read;
mod receipt;
mod requirements;
mod run;
mod runs;
mod secrets;
mod serve;
mod snippet;
mod source;
mod wrap;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use cli::{Cli, Command};
use exit::Exit;
use problem::Problem;

/// The version, with the commit it was built from where that is known.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("EASEL_COMMIT"), ")");

/// Runs and canvases are many small values, which it takes and gives back sooner than the system's allocator, and in a
/// time that does not grow with how many there are (`benches/README.md`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What this program is started with to become a worker of the sandbox. Not for people.
const WORKER: &str = "worker";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|verb| verb == WORKER) {
        let mut arguments = arguments.peekable();
        if arguments.next_if(|kind| kind == crash::CRASH_RUN).is_some() {
            return crash::crash_run(arguments).into();
        }
        return easel_sandbox::worker::main(arguments);
    }
    let told = |problem: Problem| {
        problem.tell();
        problem.exit()
    };
    let exit = obey(Cli::parse().command).unwrap_or_else(told);
    match out::lost() {
        None => exit.into(),
        Some(why) => {
            let lost = Problem::usage("Standard output cannot be written.").because(why);
            told(lost).into()
        }
    }
}

fn obey(command: Command) -> Result<Exit, Problem> {
    match command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Serve(arguments) => serve::serve(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Test(arguments) => case::test(&arguments),
        Command::CrashTest(arguments) => crash::crash_test(&arguments),
        Command::Explain { code } => explain::explain(code.as_deref()),
        Command::Components(arguments) => components::show(&arguments),
        Command::Export { file } => document::export(&file),
        Command::Pack(arguments) => archive::pack(&arguments),
        Command::Unpack(arguments) => archive::unpack(&arguments),
        Command::Requirements(arguments) => requirements::requirements(&arguments),
        Command::Convert(arguments) => convert::convert(&arguments),
        Command::Schema => document::schema(),
        Command::Secrets(command) => secrets::obey(&command),
        Command::Runs(command) => runs::obey(&command),
        Command::Agents(command) => agents::obey(&command),
        Command::Keys(command) => keys::obey(&command),
        Command::Kb(command) => kb::obey(&command),
        Command::Mcp(command) => mcp::obey(&command),
        Command::Memory(command) => memory::obey(&command),
        Command::Receipt(arguments) => receipt::receipt(&arguments),
        Command::Import(arguments) => import::import(&arguments),
        Command::New(arguments) => new::new(&arguments),
        Command::Completions { shell } => {
            let mut command = Cli::command();
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut command, "easel", &mut text);
            out::print(&String::from_utf8_lossy(&text));
            Ok(Exit::Done)
        }
    }
}
