//! Where models and tools are, as one types it.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueHint};

/// Where models and tools are.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Models and tools")]
pub struct WorldArguments {
    /// The model that answers where the workflow names none, or one that is not configured: NAME@PROVIDER.
    #[arg(long, value_name = "ID", env = "EASEL_MODEL")]
    pub model: Option<String>,
    /// Where --model is: an OpenAI-compatible server.
    #[arg(long, value_name = "URL", env = "EASEL_BASE_URL")]
    pub base_url: Option<String>,
    /// Settings: models, providers, what tools may reach. Without it ./easel.toml is read if it is there.
    #[arg(long, value_name = "FILE", env = "EASEL_CONFIG", value_hint = ValueHint::FilePath, value_parser = perhaps_a_path())]
    pub config: Option<PathBuf>,
    /// Answer models and tools from a file instead of the network. With --model, the tools only.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub world: Option<PathBuf>,
}

impl WorldArguments {
    /// The model that is named.
    pub fn model(&self) -> Option<&str> {
        filled(&self.model)
    }

    /// Where it is.
    pub fn base_url(&self) -> Option<&str> {
        filled(&self.base_url)
    }
}

/// What is blank is not given: a variable of the environment is often blanked to take it away.
fn filled(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.trim().is_empty())
}

/// Takes a path, a blank one too: see [`filled`].
pub(super) fn perhaps_a_path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}
