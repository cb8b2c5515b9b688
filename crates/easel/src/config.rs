//! `easel.toml`, the environment and flags: which models there are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use easel_runtime::models::config::{ModelsConfig, ProviderConfig, ProviderKind};
use easel_runtime::models::{ChatModel, Registry};
use easel_runtime::secrets::{Environment, Provider};
use easel_runtime::tools::guard::Allow;
use easel_runtime::tools::live::{self, HttpConfig, SearchConfig};
use easel_runtime::tools::World;
use indexmap::IndexMap;
use serde::Deserialize;

/// `easel.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Which model answers to which id.
    pub models: ModelsConfig,
    /// Where models are and how to speak to them.
    pub providers: IndexMap<String, ProviderConfig>,
    /// What HTTP requests of workflows may reach.
    pub http: HttpSettings,
}

/// `[http]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpSettings {
    /// Hosts and networks that may be reached beyond the public internet (`127.0.0.1:8080`, `10.0.0.0/8`).
    pub allow: Vec<String>,
    /// The deployment's own proxy.
    pub proxy: Option<String>,
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The file is not as it should be.
    #[error("{} is not a settings file Easel understands: {error}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// Where and why.
        error: Box<toml::de::Error>,
    },
    /// What it says about models does not fit together.
    #[error("the settings of models do not fit together: {0}")]
    Models(String),
    /// What it says about HTTP cannot be used.
    #[error("the settings of [http] cannot be used: {0}")]
    Http(String),
}

/// The file that is read when no other is named.
const USUAL: &str = "easel.toml";

impl Config {
    /// Reads the named file, else `easel.toml` here if there is one; then adds providers whose keys are in the environment.
    pub fn read(named: Option<&Path>) -> Result<Config, ConfigError> {
        let path = match named {
            Some(path) => Some(path.to_owned()),
            None => Some(PathBuf::from(USUAL)).filter(|path| path.exists()),
        };
        let mut config = match path {
            Some(path) => Config::from_file(path)?,
            None => Config::default(),
        };
        config.add_usual_providers();
        Ok(config)
    }

    fn from_file(path: PathBuf) -> Result<Config, ConfigError> {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => return Err(ConfigError::File { path, error }),
        };
        toml::from_str(&text).map_err(|error| ConfigError::Form {
            path,
            error: Box::new(error),
        })
    }

    /// Providers that need no settings: their key, or their address, is in the environment under its usual name.
    fn add_usual_providers(&mut self) {
        let set = |name: &str| std::env::var(name).ok().filter(|v| !v.trim().is_empty());
        let usual = [
            ("openai", ProviderKind::OpenAi, "OPENAI_API_KEY", "OPENAI_BASE_URL"),
            ("anthropic", ProviderKind::Anthropic, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
            ("gemini", ProviderKind::Gemini, "GEMINI_API_KEY", "GEMINI_BASE_URL"),
            ("ollama", ProviderKind::Ollama, "OLLAMA_API_KEY", "OLLAMA_HOST"),
        ];
        for (name, kind, key, address) in usual {
            let (key_set, address) = (set(key).is_some(), set(address));
            if self.providers.contains_key(name) || (!key_set && address.is_none()) {
                continue;
            }
            let mut provider = ProviderConfig::new(kind);
            provider.key = key_set.then(|| key.to_owned());
            provider.base_url = address;
            self.providers.insert(name.to_owned(), provider);
        }
    }

    /// The models. `model` answers where a workflow names none, or one that is not there.
    pub fn models(&self, model: Option<&str>) -> Result<Arc<dyn ChatModel>, ConfigError> {
        let mut names = self.models.clone();
        if let Some(model) = model {
            names.default = Some(model.to_owned());
            names.fallback = Some(model.to_owned());
        }
        let secrets: Arc<dyn Provider> = Arc::new(Environment);
        let registry = Registry::from_config(names, &self.providers, &secrets);
        match registry {
            Ok(registry) => Ok(Arc::new(registry)),
            Err(error) => Err(ConfigError::Models(error.to_string())),
        }
    }

    /// The tools that reach out.
    pub fn world(&self) -> Result<World, ConfigError> {
        let entries = self.http.allow.iter().map(String::as_str);
        let allow = Allow::parse(entries).map_err(|e| ConfigError::Http(e.to_string()))?;
        let http = HttpConfig {
            allow,
            proxy: self.http.proxy.clone(),
            ..HttpConfig::default()
        };
        live::world(http, SearchConfig::default()).map_err(|e| ConfigError::Http(e.to_string()))
    }
}
