//! What one types for agents.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use easel_server::auth::LOCAL;

use crate::data::DataArguments;

/// What to do with agents.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
An agent is named by its id, its title in any case, or the name of its graph. It has a draft, and
versions of which some were released; clients get the newest released one.

Examples:
  easel agents import agents/*.json --publish
  easel agents diff \"Support triage\"
  easel agents versions \"Support triage\"
  easel agents rollback \"Support triage\" 3 --publish
  easel agents export \"Support triage\" -o support-triage.json")]
pub enum AgentsCommand {
    /// List agents.
    List(ListAgents),
    /// Take workflows in from files: new ones are made, known ones are brought up to date, and what changed is told.
    Import(ImportAgents),
    /// Write an agent as a file, with names of secrets in place of their values.
    Export(ExportAgent),
    /// Release the draft: from then on clients get it.
    Publish(PublishAgent),
    /// List the versions of an agent, the newest first.
    Versions(VersionsOfAgent),
    /// Make an earlier version the draft again.
    Rollback(RollbackAgent),
    /// Say what differs between two agents, versions or files, node by node.
    Diff(DiffAgents),
    /// Delete an agent with its versions, conversations and runs.
    Delete(DeleteAgent),
}

/// Arguments of `easel agents list`.
#[derive(Args, Debug)]
pub struct ListAgents {
    /// Of this owner.
    #[arg(long)]
    pub owner: Option<String>,
    /// With this text in the title.
    #[arg(long)]
    pub text: Option<String>,
    /// Only those that are released.
    #[arg(long)]
    pub released: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArguments,
}

/// Who may see an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sharing {
    /// Its owner.
    Me,
    /// All who share a team with its owner.
    Team,
}

/// Arguments of `easel agents import`.
#[derive(Args, Debug)]
#[command(after_help = "\
A file is a canvas (.json), by itself or in an export with title and dsl, or a graph: .yaml, a folder
with workflow.yaml, or its .zip. It belongs to the agent with the id that stands in the file, else to
the one with its title, whatever the case; a graph to the one of its name. The title stands in the
file, or is the file's name. Credentials that are written out go into the vault, as with
`easel import`; the file stays as it is.

All files are checked before anything is written. Nothing is asked, so this works in CI.

Exit codes: 0 all are in, changed or not; 2 a file cannot be read, or is nobody's for sure; 3 the
check refuses one, and none is taken in.

Examples:
  easel agents import triage.json
  easel agents import agents/*.json --publish
  easel agents import triage.json --dry-run --json")]
pub struct ImportAgents {
    /// The files.
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,
    /// The agent that is brought up to date, by id or title. For one file.
    #[arg(long)]
    pub agent: Option<String>,
    /// The title it gets. For one file.
    #[arg(long)]
    pub title: Option<String>,
    /// Whose agents they are.
    #[arg(long, default_value = LOCAL)]
    pub owner: String,
    /// Who may see them; new ones only their owner, unless given.
    #[arg(long, value_enum)]
    pub permission: Option<Sharing>,
    /// Release them.
    #[arg(long)]
    pub publish: bool,
    /// Say what would change, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArguments,
}

/// Which agent.
#[derive(Args, Debug)]
pub struct OneAgent {
    /// The agent: its id, title or name.
    pub agent: String,
    /// Whose it is, where several have that title.
    #[arg(long)]
    pub owner: Option<String>,
    #[command(flatten)]
    pub data: DataArguments,
}

/// Arguments of `easel agents export`.
#[derive(Args, Debug)]
#[command(after_help = "\
A canvas is written with its title, so that `easel agents import` finds it again; `easel run` and
`easel check` read the file too. A graph is written as YAML, a package as its archive. A version is
named behind an @: @released, or a number from `easel agents versions`; without it the draft is meant.

Examples:
  easel agents export \"Support triage\" -o triage.json
  easel agents export \"Support triage@released\"")]
pub struct ExportAgent {
    #[command(flatten)]
    pub which: OneAgent,
    /// Where to write it; without this to standard output.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// The canvas alone, without its title.
    #[arg(long)]
    pub bare: bool,
}

/// Arguments of `easel agents publish`.
#[derive(Args, Debug)]
pub struct PublishAgent {
    #[command(flatten)]
    pub which: OneAgent,
    /// The title of the version.
    #[arg(long)]
    pub title: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `easel agents versions`.
#[derive(Args, Debug)]
pub struct VersionsOfAgent {
    #[command(flatten)]
    pub which: OneAgent,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `easel agents rollback`.
#[derive(Args, Debug)]
pub struct RollbackAgent {
    #[command(flatten)]
    pub which: OneAgent,
    /// The version: its number in `easel agents versions`, its id, or released.
    #[arg(value_name = "VERSION")]
    pub to: String,
    /// Release it again.
    #[arg(long)]
    pub publish: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `easel agents diff`.
#[derive(Args, Debug)]
#[command(after_help = "\
Each side is a file, or an agent with or without @VERSION: @draft, @released, or a number from
`easel agents versions`. Without a second side, what is released is compared with the draft.

Exit codes: 0 they are the same, 1 they differ, 2 one cannot be read.

Examples:
  easel agents diff \"Support triage\"
  easel agents diff \"Support triage@3\" \"Support triage@draft\"
  easel agents diff \"Support triage\" support-triage.json")]
pub struct DiffAgents {
    /// The older side.
    pub from: String,
    /// The newer side.
    pub to: Option<String>,
    /// Whose agents they are, where several have a title.
    #[arg(long)]
    pub owner: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArguments,
}

/// Arguments of `easel agents delete`.
#[derive(Args, Debug)]
pub struct DeleteAgent {
    #[command(flatten)]
    pub which: OneAgent,
    /// Keep its conversations and runs.
    #[arg(long)]
    pub keep_runs: bool,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
}
