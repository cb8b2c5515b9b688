//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Run agent workflows drawn as canvases or written as graphs.
#[derive(Debug, Parser)]
#[command(name = "easel", version = crate::VERSION, about, propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "Examples:\n  easel new hello.json && easel run hello.json \"Ada\"\n  easel check my-canvas.json\n  easel components Switch"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a workflow and show its answer.
    Run(RunArguments),
    /// Say what is wrong or doubtful about workflows, without running them.
    Check(CheckArguments),
    /// Run case folders with their scripted worlds and compare what happens with what is expected.
    Test(TestArguments),
    /// Explain a code that the check reports.
    Explain {
        /// The code, as the check prints it.
        code: String,
    },
    /// List the components, or show what one of them takes and gives.
    Components(ComponentsArguments),
    /// Write a workflow in today's form: old shapes rewritten, everything else kept.
    Export {
        /// The workflow.
        file: PathBuf,
    },
    /// Write a small workflow that runs as it is.
    New {
        /// Where to write it.
        #[arg(default_value = "hello.json")]
        file: PathBuf,
    },
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// Arguments of `easel run`.
#[derive(Args, Debug)]
#[command(
    after_help = "Exit codes: 0 done, 1 the run failed, 2 usage, 3 the check refused, 4 waiting for input.\n\n\
Examples:\n  easel run examples/hello.json \"Ada\"\n  easel run canvas.json --model qwen3@ollama \"What is new?\"\n  \
easel run canvas.json --world llm.json --json \"Try it without a model\""
)]
pub struct RunArguments {
    /// The workflow.
    pub file: PathBuf,
    /// What the user says.
    pub query: Option<String>,
    /// An input by name: text, JSON, or @FILE for the text of a file. May be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub input: Vec<String>,
    /// Inputs by name from a JSON file.
    #[arg(long, value_name = "FILE")]
    pub inputs: Option<PathBuf>,
    /// The model that answers where the workflow names none, or one that is not configured: NAME@PROVIDER.
    #[arg(long, value_name = "ID", env = "EASEL_MODEL")]
    pub model: Option<String>,
    /// Settings: models, providers, what tools may reach.
    #[arg(long, value_name = "FILE", env = "EASEL_CONFIG")]
    pub config: Option<PathBuf>,
    /// Answer models and tools from a file instead of the network.
    #[arg(long, value_name = "FILE")]
    pub world: Option<PathBuf>,
    /// Go on talking: each further line of standard input is a turn.
    #[arg(long)]
    pub chat: bool,
    /// The user's id.
    #[arg(long, value_name = "ID")]
    pub user: Option<String>,
    /// A header for MCP servers and tools that declare it. May be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub header: Vec<String>,
    /// What a webhook brings, as JSON or @FILE.
    #[arg(long, value_name = "JSON")]
    pub webhook: Option<String>,
    /// Attempts under way at once. With 1, nodes start in the order of the file.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub concurrency: u32,
    /// Print one JSON object at the end: how it ended, outputs, every attempt, usage.
    #[arg(long)]
    pub json: bool,
    /// Print each event as a line of JSON.
    #[arg(long, conflicts_with = "json")]
    pub events: bool,
}

/// Arguments of `easel check`.
#[derive(Args, Debug)]
pub struct CheckArguments {
    /// The workflows.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// How to write what was found.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// How to write what the check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For code hosts and editors.
    Sarif,
}

/// Arguments of `easel components`.
#[derive(Args, Debug)]
pub struct ComponentsArguments {
    /// The component.
    pub name: Option<String>,
    /// Print the reference page as Markdown.
    #[arg(long)]
    pub markdown: bool,
    /// Print the JSON Schema.
    #[arg(long, conflicts_with = "markdown")]
    pub schema: bool,
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
