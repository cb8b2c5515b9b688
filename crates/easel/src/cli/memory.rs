//! What one types for memories.

use clap::{Args, Subcommand};

use crate::data::DataArguments;

/// What to do with memories.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Messages with `memory_ids` keep what was said, for each user and agent apart; Retrieval from
memories finds it again.

Examples:
  easel memory list --user ada
  easel memory delete 0198f2c4…
  easel memory delete --user ada --agent \"My assistant\"")]
pub enum MemoryCommand {
    /// List what is remembered, the newest first.
    List(ListMemory),
    /// Forget exchanges, by their ids or by whose they are.
    Delete(DeleteMemory),
}

/// Which memories.
#[derive(Args, Debug)]
pub struct MemoryArguments {
    /// Of this owner.
    #[arg(long)]
    pub owner: Option<String>,
    /// With this agent: its id, title or name, or the file that was run.
    #[arg(long)]
    pub agent: Option<String>,
    /// Of this user; blank for those whom nobody knows.
    #[arg(long)]
    pub user: Option<String>,
    /// In the memory of this name.
    #[arg(long)]
    pub memory: Option<String>,
    #[command(flatten)]
    pub data: DataArguments,
}

/// Arguments of `easel memory list`.
#[derive(Args, Debug)]
pub struct ListMemory {
    #[command(flatten)]
    pub which: MemoryArguments,
    /// How many at most.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `easel memory delete`.
#[derive(Args, Debug)]
pub struct DeleteMemory {
    /// The exchanges.
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    #[command(flatten)]
    pub which: MemoryArguments,
}
