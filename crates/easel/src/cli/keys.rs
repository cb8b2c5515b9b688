//! What one types for API keys.

use clap::{Args, Subcommand};
use easel_server::auth::{LOCAL, Scope};

use super::Age;
use crate::data::DataArguments;

/// What to do with API keys.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Once there is a key, every request to the server needs one. A key sees what belongs to its owner.

Examples:
  easel keys new ci --scopes read,run
  easel keys new ada --owner ada --expires 90d
  easel keys revoke easel_Ab12cd")]
pub enum KeysCommand {
    /// Make a key. It is shown once.
    New(NewKey),
    /// List keys, without what opens the door.
    List(ListKeys),
    /// Revoke a key. It opens nothing from then on.
    Revoke(RevokeKey),
}

/// Arguments of `easel keys new`.
#[derive(Args, Debug)]
pub struct NewKey {
    /// What people call it.
    pub name: String,
    /// On whose behalf it acts.
    #[arg(long, default_value = LOCAL)]
    pub owner: String,
    /// What it may be used for: read, run, write, admin. Without this, all but admin.
    #[arg(long, alias = "scope", value_name = "SCOPE", value_delimiter = ',', value_parser = scope)]
    pub scopes: Vec<Scope>,
    /// After which time it opens nothing: 12h, 90d.
    #[arg(long, value_name = "AGE")]
    pub expires: Option<Age>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArguments,
}

fn scope(name: &str) -> Result<Scope, String> {
    Scope::named(name).ok_or_else(|| "use read, run, write or admin".to_owned())
}

/// Arguments of `easel keys list`.
#[derive(Args, Debug)]
pub struct ListKeys {
    /// Those of this owner.
    #[arg(long)]
    pub owner: Option<String>,
    /// Those that are revoked or expired too.
    #[arg(long)]
    pub all: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArguments,
}

/// Arguments of `easel keys revoke`.
#[derive(Args, Debug)]
pub struct RevokeKey {
    /// Its id, its name, or how it begins.
    pub key: String,
    #[command(flatten)]
    pub data: DataArguments,
}
