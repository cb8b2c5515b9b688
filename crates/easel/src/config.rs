//! `easel.toml`, the environment and flags: which models there are, and what tools may reach.

use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(unix)]
use easel_browser::{BrowserConfig, Browsers};
use easel_mail::{MailConfig, Mailer};
use easel_mcp::McpClients;
use easel_runtime::check::Place;
use easel_runtime::models::config::{ModelsConfig, ProviderConfig, ProviderKind};
use easel_runtime::models::{ChatModel, Registry};
use easel_runtime::secrets::Resolver;
use easel_runtime::tools::World;
use easel_runtime::tools::code::CodeRunner;
use easel_runtime::tools::guard::Allow;
use easel_runtime::tools::live::{self, HttpConfig, LiveHttp, RemoteSandbox};
use easel_runtime::{BreakerSettings, SandboxedCode};
use easel_server::telemetry::TraceSettings;
use easel_sql::{DatabaseConfig, Databases};
use indexmap::IndexMap;
use serde::Deserialize;

use crate::cli::WorldArguments;
use crate::keyring;
use crate::mcp::InVault;
use crate::problem::{Problem, sentence};
use crate::python::PythonSettings;
use crate::read;

mod breaker;
mod mcp;
mod search;

pub use breaker::BreakerTable;
pub use mcp::McpSettings;
pub use search::SearchSettings;

/// `easel.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Which model answers to which id.
    pub models: ModelsConfig,
    /// Where models are and how to speak to them.
    pub providers: IndexMap<String, ProviderConfig>,
    /// What HTTP requests of workflows may reach.
    pub http: HttpSettings,
    /// Which databases workflows may ask.
    pub sql: SqlSettings,
    /// How workflows send mail.
    pub mail: MailSettings,
    /// Where the Python of graphs runs, and the scripts of code nodes.
    pub python: PythonSettings,
    /// Where else the scripts of code nodes run.
    pub code: CodeSettings,
    /// Where the traces of a server go.
    pub telemetry: TelemetrySettings,
    /// The web browsers of workflows.
    pub browser: BrowserSettings,
    /// When services that fail again and again are left alone.
    pub breaker: Option<BreakerTable>,
    /// How search providers are asked.
    pub search: SearchSettings,
    /// Which MCP servers there are.
    pub mcp: McpSettings,
    /// The folder of the file: what it names is looked for there.
    #[serde(skip)]
    folder: PathBuf,
}

/// `[telemetry]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetrySettings {
    /// The collector that takes traces by OTLP over HTTP, without `/v1/traces`; without it there are none.
    pub otlp_endpoint: Option<String>,
    /// The name of the service; `easel` unless told.
    pub service_name: Option<String>,
    /// The share of traces that are kept, 0 to 1; all unless told.
    pub trace_share: Option<f64>,
}

impl TelemetrySettings {
    /// Where traces go, by the file and the variables of OpenTelemetry.
    pub fn traces(&self) -> Option<TraceSettings> {
        let file = self.otlp_endpoint.as_deref().map(|collector| {
            let mut traces = TraceSettings::to(collector);
            if let Some(service) = &self.service_name {
                traces.service.clone_from(service);
            }
            if let Some(share) = self.trace_share {
                traces.share = share.clamp(0.0, 1.0);
            }
            traces
        });
        TraceSettings::of(file, |name| std::env::var(name).ok())
    }
}

/// `[http]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpSettings {
    /// Hosts and networks that may be reached beyond the public internet (`127.0.0.1:8080`, `10.0.0.0/8`).
    pub allow: Vec<String>,
    /// The deployment's own proxy.
    pub proxy: Option<String>,
}

/// `[sql]`. Hosts of databases are allowed as hosts of HTTP are, under `allow` in `[http]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SqlSettings {
    /// The folder whose SQLite files workflows may read; without it they may read none.
    pub files: Option<PathBuf>,
}

/// `[mail]`. Hosts of mail servers are allowed as hosts of HTTP are, under `allow` in `[http]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MailSettings {
    /// Hosts that may be spoken to without encryption, where they offer none.
    pub plain: Vec<String>,
    /// Files with certificates in PEM that are trusted beside the public ones.
    pub certificates: Vec<PathBuf>,
}

/// `[browser]`. What browsers reach is allowed under `allow` in `[http]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BrowserSettings {
    /// The program; without it the one that is found, if one is installed.
    pub program: Option<PathBuf>,
    /// Whether the browser shuts its pages in by means of the system.
    pub sandbox: bool,
    /// Browsers open at once.
    pub at_once: usize,
}

impl Default for BrowserSettings {
    fn default() -> BrowserSettings {
        BrowserSettings {
            program: None,
            sandbox: true,
            at_once: 2,
        }
    }
}

/// `[code]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CodeSettings {
    /// The address of a sandbox as RAGFlow installations have it (`http://sandbox:9385`): all scripts of code nodes run there.
    pub sandbox: Option<String>,
}

/// The file that is read when no other is named.
const USUAL: &str = "easel.toml";

/// The provider that `--base-url` makes.
const FLAGGED: &str = "--base-url";

/// Providers that need no settings: kind, and where their key and their address are in the environment.
const WELL_KNOWN: [(&str, ProviderKind, &str, &str); 4] = [
    (
        "openai",
        ProviderKind::OpenAi,
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
    ),
    (
        "anthropic",
        ProviderKind::Anthropic,
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
    ),
    (
        "gemini",
        ProviderKind::Gemini,
        "GEMINI_API_KEY",
        "GEMINI_BASE_URL",
    ),
    (
        "ollama",
        ProviderKind::Ollama,
        "OLLAMA_API_KEY",
        "OLLAMA_HOST",
    ),
];

/// The address of Ollama's API as its own programs read it from the environment: `localhost:11434` will do, a port that is
/// not named is 11434, and a server that listens everywhere is asked here.
fn ollama_address(host: &str) -> String {
    let (scheme, rest) = match host.split_once("://") {
        Some((scheme, rest)) => (scheme, rest),
        None => ("http", host),
    };
    let (place, path) = match rest.split_once('/') {
        Some((place, path)) => (place, path.trim_end_matches('/')),
        None => (rest, ""),
    };
    let place = match place.strip_prefix("0.0.0.0") {
        Some(port) => format!("127.0.0.1{port}"),
        None => place.to_owned(),
    };
    let has_port = place
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = match has_port || host.contains("://") {
        true => "",
        false => ":11434",
    };
    let path = if path.is_empty() { "api" } else { path };
    format!("{scheme}://{place}{port}/{path}")
}

/// How to come by a model, for people who have none.
pub const HOW_TO_SET_A_MODEL: &str = "Name a model with --model NAME@PROVIDER, where the provider is openai, anthropic or \
     gemini with its key set (OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY; in the environment or with `easel secrets set`) or ollama; or any server with \
     --model NAME --base-url URL; or [providers] and [models] in easel.toml. Without a model, --world FILE answers from a file.";

impl Config {
    /// Reads the named file, else `easel.toml` here if there is one; then adds providers whose key is set or whose address the
    /// environment knows.
    pub fn read(named: Option<&Path>) -> Result<Config, Problem> {
        let named = named.filter(|path| !path.as_os_str().is_empty());
        let path = match named {
            Some(path) => Some(path.to_owned()),
            None => Some(PathBuf::from(USUAL)).filter(|path| path.exists()),
        };
        let mut config = match path {
            Some(path) => Config::from_file(&path)?,
            None => Config::default(),
        };
        config.add_well_known(&keyring::resolver()?);
        Ok(config)
    }

    /// What the file, the environment and the flags say together.
    pub fn of(arguments: &WorldArguments) -> Result<Config, Problem> {
        let mut config = Config::read(arguments.config.as_deref())?;
        let Some(model) = arguments.model() else {
            return Ok(config);
        };
        let model = match arguments.base_url() {
            Some(url) => {
                let mut provider = ProviderConfig::new(ProviderKind::OpenAi);
                provider.base_url = Some(url.to_owned());
                let key = "OPENAI_API_KEY";
                let found = keyring::resolver()?.find(key);
                provider.key = matches!(found, Ok(Some(_))).then(|| key.to_owned());
                config.providers.insert(FLAGGED.to_owned(), provider);
                format!("{model}@{FLAGGED}")
            }
            None => {
                config.add_local(model);
                model.to_owned()
            }
        };
        config.models.default = Some(model.clone());
        config.models.fallback = Some(model);
        Ok(config)
    }

    fn from_file(path: &Path) -> Result<Config, Problem> {
        let text = read::text(path)?;
        let read = toml::from_str::<Config>(&text).map_err(|error| {
            let name = path.display().to_string();
            let place = error.span().map(|span| place(&text, span));
            Problem::usage(format!(
                "{name} holds a setting that Easel does not understand."
            ))
            .because(sentence(error.message()))
            .at(&name, &text, place)
            .fix("docs/models.md lists the settings; those of search, code, sql and mail stand in the pages of these.")
        });
        let mut config = read?;
        config.folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(config)
    }

    fn add_well_known(&mut self, secrets: &Resolver) {
        // A place that cannot be asked is told of when a model needs its key.
        let has_key = |name: &str| matches!(secrets.find(name), Ok(Some(_)));
        for (name, kind, key, address) in WELL_KNOWN {
            if self.names(name) || !(has_key(key) || is_set(address)) {
                continue;
            }
            let mut provider = ProviderConfig::new(kind);
            provider.key = has_key(key).then(|| key.to_owned());
            provider.base_url = std::env::var(address)
                .ok()
                .filter(|value| !value.trim().is_empty())
                .map(|value| match kind {
                    ProviderKind::Ollama => ollama_address(value.trim()),
                    _ => value,
                });
            self.providers.insert(name.to_owned(), provider);
        }
    }

    /// True if the file has a provider of that name, whatever its case: names of providers are compared so.
    fn names(&self, provider: &str) -> bool {
        let mut names = self.providers.keys();
        names.any(|name| name.eq_ignore_ascii_case(provider))
    }

    /// A model of Ollama needs neither key nor address: its server is this machine's.
    fn add_local(&mut self, model: &str) {
        let local = model.rsplit('@').next() == Some("ollama");
        if local && !self.names("ollama") {
            let provider = ProviderConfig::new(ProviderKind::Ollama);
            self.providers.insert("ollama".to_owned(), provider);
        }
    }

    /// When services that fail again and again are left alone; `None`: never.
    pub fn breaker(&self) -> Result<Option<BreakerSettings>, Problem> {
        let table = self.breaker.as_ref();
        table.map(BreakerTable::settings).transpose()
    }

    /// The models.
    pub fn models(&self) -> Result<Arc<dyn ChatModel>, Problem> {
        let secrets = keyring::resolver()?;
        match Registry::from_config(self.models.clone(), &self.providers, &secrets) {
            Ok(registry) => Ok(Arc::new(registry)),
            Err(error) => {
                let problem = Problem::usage("The settings of models do not fit together.");
                Err(problem
                    .because(sentence(&error.to_string()))
                    .fix(HOW_TO_SET_A_MODEL))
            }
        }
    }

    /// Who hands mail on.
    fn mailer(&self, allow: &Allow) -> Result<Mailer, Problem> {
        let certificates = self.mail.certificates.iter();
        let config = MailConfig {
            allow: allow.clone(),
            plain: self.mail.plain.clone(),
            roots: certificates
                .map(|path| read::bytes(path))
                .collect::<Result<_, _>>()?,
        };
        Mailer::new(config).map_err(|error| {
            Problem::usage("The settings of [mail] cannot be used.")
                .because(sentence(&error.to_string()))
        })
    }

    /// Where the scripts of code nodes run.
    fn code(&self) -> Result<Arc<dyn CodeRunner>, Problem> {
        let Some(url) = &self.code.sandbox else {
            return Ok(Arc::new(SandboxedCode::new(self.python.sandbox()?)));
        };
        let sandbox = RemoteSandbox::at(url).map_err(|error| {
            Problem::usage("The settings of [code] cannot be used.")
                .because(sentence(&error.to_string()))
                .fix("Write `sandbox` as http://HOST:PORT, or leave it out: scripts then run in the built-in sandbox.")
        })?;
        Ok(Arc::new(sandbox))
    }

    /// The way to MCP servers.
    pub fn mcp(&self) -> Result<McpClients, Problem> {
        let http =
            LiveHttp::new(self.http()?).map_err(|error| unusable_http(&error.to_string()))?;
        let clients = McpClients::new(self.mcp.servers(&self.folder)?, http);
        Ok(clients.signed_in(Arc::new(InVault)))
    }

    /// What HTTP requests may reach.
    fn http(&self) -> Result<HttpConfig, Problem> {
        let allow = Allow::parse(self.http.allow.iter().map(String::as_str));
        Ok(HttpConfig {
            allow: allow.map_err(|error| unusable_http(&error.to_string()))?,
            proxy: self.http.proxy.clone(),
            ..HttpConfig::default()
        })
    }

    /// Who opens web browsers.
    #[cfg(unix)]
    fn browsers(&self, allow: &Allow) -> Browsers {
        Browsers::new(BrowserConfig {
            program: self.browser.program.clone(),
            sandbox: self.browser.sandbox,
            allow: allow.clone(),
            proxied: self.http.proxy.is_some(),
            at_once: self.browser.at_once,
            ..BrowserConfig::default()
        })
    }

    /// The tools that reach out.
    pub fn world(&self) -> Result<World, Problem> {
        let http = self.http()?;
        let databases = Databases::new(DatabaseConfig {
            allow: http.allow.clone(),
            files: self.sql.files.clone(),
        });
        let mailer = self.mailer(&http.allow)?;
        #[cfg(unix)]
        let browsers = self.browsers(&http.allow);
        let world = live::world(http, self.search.config(&self.folder)?);
        Ok(World {
            sql: Arc::new(databases),
            code: self.code()?,
            mail: Arc::new(mailer),
            mcp: Arc::new(self.mcp()?),
            #[cfg(unix)]
            browser: Arc::new(browsers),
            ..world.map_err(|error| unusable_http(&error.to_string()))?
        })
    }
}

fn unusable_http(error: &str) -> Problem {
    Problem::usage("The settings of [http] cannot be used.").because(sentence(error))
}

fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !value.trim().is_empty())
}

/// Refuses `--base-url` without a model. In the environment it waits for commands that name one.
pub fn refuse_address_alone(arguments: &WorldArguments) -> Result<(), Problem> {
    let environment = std::env::var("EASEL_BASE_URL").ok();
    match (arguments.model(), arguments.base_url()) {
        (None, Some(url)) if environment.as_deref() != Some(url) => {
            let problem = Problem::usage("--base-url says where a model is, and none is named.");
            Err(problem.fix("Name it with --model NAME."))
        }
        _ => Ok(()),
    }
}

/// The place of some bytes of a text.
fn place(text: &str, span: std::ops::Range<usize>) -> Place {
    let before = text.get(..span.start).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    Place {
        line: before.matches('\n').count() + 1,
        column: before.get(line..).unwrap_or_default().chars().count() + 1,
        offset: span.start,
        len: span.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_is_found_where_its_own_programs_find_it() {
        for (host, address) in [
            ("127.0.0.1:11434", "http://127.0.0.1:11434/api"),
            ("0.0.0.0", "http://127.0.0.1:11434/api"),
            ("0.0.0.0:8080", "http://127.0.0.1:8080/api"),
            ("http://there:11434", "http://there:11434/api"),
            ("http://there:11434/", "http://there:11434/api"),
            ("http://there:11434/api", "http://there:11434/api"),
            ("https://there", "https://there/api"),
            ("[::1]:11434", "http://[::1]:11434/api"),
            ("[::1]", "http://[::1]:11434/api"),
        ] {
            assert_eq!(ollama_address(host), address);
        }
    }
}
