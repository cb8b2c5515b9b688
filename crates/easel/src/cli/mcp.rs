//! What one types for MCP servers.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::world::perhaps_a_path;

/// What to do with MCP servers.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Servers are set up in easel.toml: a program with `command` and `args`, or an address with `url`.

Examples:
  easel mcp list
  easel mcp list files
  easel mcp call files read_text_file path=notes.md
  easel mcp call weather forecast --arguments '{\"city\": \"Oslo\", \"days\": 3}'")]
pub enum McpCommand {
    /// List the servers, or the tools of one.
    List(ListMcp),
    /// Call a tool and print what it answers.
    Call(CallMcp),
    /// Sign in to a server that wants to know who asks, in a browser.
    Login(LoginMcp),
    /// Forget what came of signing in.
    Logout(LogoutMcp),
}

/// Where the servers are set up.
#[derive(Args, Clone, Debug, Default)]
pub struct SettingsArguments {
    /// Settings: which servers there are. Without it ./easel.toml is read if it is there.
    #[arg(long, value_name = "FILE", env = "EASEL_CONFIG", value_hint = ValueHint::FilePath, value_parser = perhaps_a_path())]
    pub config: Option<PathBuf>,
}

/// Arguments of `easel mcp list`.
#[derive(Args, Debug)]
pub struct ListMcp {
    /// The server whose tools are to be listed; without it the servers are.
    pub server: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub settings: SettingsArguments,
}

/// Arguments of `easel mcp login`.
#[derive(Args, Debug)]
pub struct LoginMcp {
    /// The server.
    pub server: String,
    /// The port of this machine that the browser comes back to; 0 is a free one.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    #[command(flatten)]
    pub settings: SettingsArguments,
}

/// Arguments of `easel mcp logout`.
#[derive(Args, Debug)]
pub struct LogoutMcp {
    /// The server.
    pub server: String,
}

/// Arguments of `easel mcp call`.
#[derive(Args, Debug)]
pub struct CallMcp {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// Its arguments, one by one.
    #[arg(value_name = "NAME=VALUE", value_parser = super::kb::pair)]
    pub given: Vec<(String, String)>,
    /// Its arguments as one JSON object.
    #[arg(long, value_name = "JSON", conflicts_with = "given")]
    pub arguments: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub settings: SettingsArguments,
}
