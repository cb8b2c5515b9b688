//! `[mcp]`: the MCP servers whose tools agents and graphs may call.

use std::path::{Path, PathBuf};
use std::time::Duration;

use easel_runtime::tools::guard::{Allow, GuardError, check_url};
use easel_runtime::tools::mcp::{McpReach, McpServer, with_secrets};
use indexmap::IndexMap;
use serde::Deserialize;

use crate::problem::{Problem, sentence};

/// `[mcp]`: a table for each server, under its name.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct McpSettings(IndexMap<String, ServerSettings>);

/// `[mcp.NAME]`: a program that is started, or the address of a server.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ServerSettings {
    /// The program.
    command: Option<String>,
    /// Its arguments.
    args: Vec<String>,
    /// Variables that it gets; `${NAME}` in a value is a secret.
    env: IndexMap<String, String>,
    /// The folder it is started in.
    folder: Option<PathBuf>,
    /// The address.
    url: Option<String>,
    /// Headers that go with every request; `${NAME}` in a value is a secret.
    headers: IndexMap<String, String>,
    /// Headers of a user's request that go on to it; `*` stands for all.
    pass_headers: Vec<String>,
    /// Ids by which canvases know it.
    ids: Vec<String>,
    /// The tools that may be used.
    tools: Option<Vec<String>>,
    /// Seconds that a call may take.
    timeout_s: Option<f64>,
    /// Whether conversations share a connection.
    shared: bool,
}

impl McpSettings {
    /// The servers. What is relative is so to `folder`.
    pub fn servers(&self, folder: &Path) -> Result<Vec<McpServer>, Problem> {
        let servers = self.0.iter();
        servers
            .map(|(name, settings)| settings.server(name, folder))
            .collect()
    }
}

impl ServerSettings {
    fn server(&self, name: &str, folder: &Path) -> Result<McpServer, Problem> {
        let unusable = |problem: &str| unusable(name, problem);
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.contains("__") || !name.chars().all(plain) {
            return Err(unusable(
                "its name may have letters, digits, `-` and single `_`, as graphs call its tools mcp__NAME__TOOL",
            ));
        }
        let seconds = self.timeout_s.map(Duration::try_from_secs_f64).transpose();
        let seconds =
            seconds.map_err(|_| unusable("timeout_s must be a number of seconds above 0"))?;
        let texts = |texts: &[String]| texts.iter().map(|text| text.as_str().into()).collect();
        let server = McpServer::new(name, self.reach(folder).map_err(unusable)?);
        Ok(McpServer {
            ids: texts(&self.ids),
            only: self.tools.as_deref().map(texts),
            timeout: seconds.unwrap_or(server.timeout),
            shared: self.shared,
            passes: texts(&self.pass_headers),
            ..server
        })
    }

    fn reach(&self, folder: &Path) -> Result<McpReach, &'static str> {
        let values = |texts: &IndexMap<String, String>| {
            let texts = texts.iter();
            let value =
                |(name, text): (&String, &String)| (name.as_str().into(), with_secrets(text));
            texts.map(value).collect()
        };
        match (&self.command, &self.url) {
            (Some(_), Some(_)) => Err("it has a command and a url; leave one of them out"),
            (None, None) => Err("it has neither a command nor a url"),
            (Some(_), None) if !(self.headers.is_empty() && self.pass_headers.is_empty()) => {
                Err("headers go to a url; a command gets variables, under env")
            }
            (Some(command), None) if command.trim().is_empty() => {
                Err("its command is blank; name a program")
            }
            (Some(command), None) => Ok(McpReach::Program {
                command: command.clone(),
                arguments: self.args.clone(),
                environment: values(&self.env),
                folder: self.folder.as_ref().map(|named| folder.join(named)),
            }),
            (None, Some(_))
                if !(self.args.is_empty() && self.env.is_empty() && self.folder.is_none()) =>
            {
                Err("args, env and folder belong to a command; a url gets headers")
            }
            (None, Some(url)) if !is_address(url) => {
                Err("its url is no address; write https://HOST/PATH or http://HOST:PORT/PATH")
            }
            (None, Some(url)) => Ok(McpReach::Http {
                url: url.clone(),
                headers: values(&self.headers),
                trusted: true,
            }),
        }
    }
}

/// Whether a text is the address of a server, wherever that is.
fn is_address(url: &str) -> bool {
    let refused = check_url(url, &Allow::default()).err();
    !matches!(
        refused,
        Some(GuardError::NotAUrl(_) | GuardError::NoHost | GuardError::Scheme(_))
    )
}

fn unusable(name: &str, problem: &str) -> Problem {
    Problem::usage(format!("The settings of [mcp.{name}] cannot be used."))
        .because(sentence(problem))
        .fix("docs/mcp-tools.md says how a server is set up.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<McpServer>, String> {
        let settings: McpSettings = toml::from_str(text).map_err(|error| error.to_string())?;
        let servers = settings.servers(Path::new("/there"));
        servers.map_err(|problem| problem.message())
    }

    #[test]
    fn a_program_and_an_address_are_set_up() {
        let servers = read(
            r#"
            [files]
            command = "npx"
            args = ["-y", "@modelcontextprotocol/server-filesystem", "."]
            env = { TOKEN = "${FILES_TOKEN}" }
            folder = "work"
            tools = ["read_file"]

            [weather]
            url = "https://weather.example/mcp"
            headers = { Authorization = "Bearer ${WEATHER_KEY}" }
            ids = ["9f3c"]
            timeout_s = 5
            shared = true
            "#,
        );
        let servers = servers.unwrap();
        let [files, weather] = servers.as_slice() else {
            panic!("two servers");
        };
        let McpReach::Program {
            environment,
            folder,
            ..
        } = &files.reach
        else {
            panic!("a program");
        };
        assert_eq!(folder.as_deref(), Some(Path::new("/there/work")));
        assert_eq!(
            environment[0].1.secrets().next().unwrap().as_ref(),
            "FILES_TOKEN"
        );
        assert!(files.offers("read_file") && !files.offers("write_file"));
        assert_eq!(weather.timeout, Duration::from_secs(5));
        assert!(weather.shared && !files.shared);
        let secrets: Vec<&str> = weather.values()[0]
            .1
            .secrets()
            .map(|name| &**name)
            .collect();
        assert_eq!(secrets, ["WEATHER_KEY"]);
    }

    #[test]
    fn settings_that_do_not_fit_together_are_refused_with_what_to_do() {
        for (text, cause) in [
            ("[a]\nshared = true", "neither a command nor a url"),
            (
                "[a]\ncommand = \"x\"\nurl = \"https://x\"",
                "leave one of them out",
            ),
            ("[a]\ncommand = \"x\"\nheaders = { A = \"b\" }", "under env"),
            (
                "[a]\nurl = \"https://x\"\nenv = { A = \"b\" }",
                "gets headers",
            ),
            ("[a]\nurl = \"ftp://x\"", "no address"),
            ("[a]\nurl = \"https://exa mple\"", "no address"),
            ("[a]\nurl = \"https://\"", "no address"),
            ("[a]\ncommand = \" \"", "name a program"),
            ("[a__b]\nurl = \"https://x\"", "single `_`"),
            (
                "[a]\nurl = \"https://x\"\ntimeout_s = -1",
                "seconds above 0",
            ),
            (
                "[a]\nurl = \"https://x\"\nheader = 1",
                "unknown field `header`",
            ),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(cause), "{text}: {refused}");
        }
    }
}
