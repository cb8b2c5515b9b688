//! The sections of a script file (`llm.json`) that answer tools.
//!
//! The file also holds the scripted models; they read their own sections. Unknown sections and members are left
//! aside, so one file serves both and an old program reads a newer one.

use easel_core::{Object, Value};
use indexmap::IndexMap;
use serde::{Deserialize, Deserializer};

/// What the outside answers to tools. Each list is searched in order; the first rule that matches answers.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Script {
    /// Answers to searches in datasets; no match: nothing found.
    pub retrieval: Vec<RetrievalRule>,
    /// Answers of search providers; no match: nothing found.
    pub search: Vec<SearchRule>,
    /// Sections of company reports; no match: each statement asked for, with one row.
    pub finance: Vec<FinanceRule>,
    /// Answers to searches in memories; no match: nothing remembered.
    pub memory: Vec<MemoryRule>,
    /// The pages of a browser by their addresses.
    pub browser: IndexMap<String, PageRule>,
    /// Outcomes of scripts; no match: the runner fails.
    pub code: Vec<CodeRule>,
    /// Answers to SQL statements; no match: no rows.
    pub sql: Vec<SqlRule>,
    /// HTTP responses; no match: no connection.
    pub http: Vec<HttpRule>,
    /// What mail servers say; no match: the mail is taken.
    pub mail: Vec<MailRule>,
    /// Answers of tools of MCP servers; no match: the call fails.
    pub mcp: Vec<McpRule>,
    /// The MCP servers there are, by name.
    pub mcp_servers: IndexMap<String, McpServerScript>,
    /// Texts of uploaded files by id.
    pub files: IndexMap<String, String>,
    /// Datasets that do not exist.
    pub missing_datasets: Vec<String>,
}

/// When a rule applies: all that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Match {
    /// A part of the query, source, statement or URL.
    pub contains: Option<String>,
    /// The HTTP method, in any case.
    pub method: Option<String>,
}

/// Passages, or the retriever's failure.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RetrievalRule {
    /// When the rule applies.
    #[serde(rename = "match")]
    pub when: Match,
    /// How often it applies; absent: always.
    pub times: Option<u64>,
    /// The passages.
    pub chunks: Vec<Object>,
    /// The documents they are from.
    pub doc_aggs: Vec<Object>,
    /// The failure, in its own words.
    pub error: Option<String>,
}

/// Results of a search provider, or its failure.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct SearchRule {
    /// When the rule applies.
    #[serde(rename = "match")]
    pub when: Match,
    /// How often it applies; absent: always.
    pub times: Option<u64>,
    /// The raw results.
    pub results: Vec<Value>,
    /// The failure, in its own words.
    pub error: Option<String>,
}

/// Sections of a company's report, or the provider's failure.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct FinanceRule {
    /// When the rule applies; `contains` looks at the stock code.
    #[serde(rename = "match")]
    pub when: Match,
    /// How often it applies; absent: always.
    pub times: Option<u64>,
    /// Each section as `{title, content}`.
    pub sections: Vec<Value>,
    /// The failure, in its own words.
    pub error: Option<String>,
}

/// Remembered messages, or the store's failure.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct MemoryRule {
    /// When the rule applies.
    #[serde(rename = "match")]
    pub when: Match,
    /// How often it applies; absent: always.
    pub times: Option<u64>,
    /// The messages.
    pub messages: Vec<Object>,
    /// The failure, in its own words.
    pub error: Option<String>,
}

/// A page of a browser.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PageRule {
    /// What it says.
    pub text: String,
    /// Where elements lead, by their numbers.
    pub links: IndexMap<String, String>,
    /// Files that going there downloads: their texts by their names.
    pub downloads: IndexMap<String, String>,
}

/// The outcome of a script, or the runner's failure.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CodeRule {
    /// When the rule applies; `contains` looks at the source.
    #[serde(rename = "match")]
    pub when: Match,
    /// How often it applies; absent: always.
    pub times: Option<u64>,
    /// What `main` returns; `null` is a returned value, absent is none.
    #[serde(deserialize_with = "present")]
    pub result: Option<Value>,
    /// The argument that `main` returns as it is.
    pub result_arg: Option<String>,
    /// What the script prints.
    pub stdout: String,
    /// What it prints as errors.
    pub stderr: String,
    /// The runner's failure, in its own words.
    pub error: Option<String>,
}

/// Rows, or the database's refusal.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct SqlRule {
    /// When the rule applies; `contains` looks at the statement.
    #[serde(rename = "match")]
    pub when: Match,
    /// How often it applies; absent: always.
    pub times: Option<u64>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
    /// The refusal, in the database's words.
    pub error: Option<String>,
}

/// A mail server that takes a mail, or refuses it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct MailRule {
    /// When the rule applies; `contains` looks at the subject.
    #[serde(rename = "match")]
    pub when: Match,
    /// How often it applies; absent: always.
    pub times: Option<u64>,
    /// The refusal, in the server's words.
    pub error: Option<String>,
}

/// What a tool of an MCP server answers, or a server that does not.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct McpRule {
    /// When the rule applies; `contains` looks at the tool's name.
    #[serde(rename = "match")]
    pub when: Match,
    /// How often it applies; absent: always.
    pub times: Option<u64>,
    /// What it says.
    pub text: String,
    /// True if it says that it failed.
    pub failed: bool,
    /// Why there is no answer.
    pub error: Option<String>,
}

/// An MCP server and its tools.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct McpServerScript {
    /// The ids by which canvases know it.
    pub ids: Vec<String>,
    /// Its tools.
    pub tools: Vec<McpToolScript>,
}

/// A tool of an MCP server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct McpToolScript {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// A JSON Schema of its arguments; absent: it takes none.
    pub parameters: Option<Value>,
    /// True if it changes nothing.
    pub reads_only: bool,
}

/// A response, or a connection that does not come about.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct HttpRule {
    /// When the rule applies; `contains` looks at the URL.
    #[serde(rename = "match")]
    pub when: Match,
    /// How often it applies; absent: always.
    pub times: Option<u64>,
    /// The status; absent: 200.
    pub status: Option<u16>,
    /// The body as text.
    pub text: Option<String>,
    /// The media type of the text; absent: plain text.
    pub content_type: Option<String>,
    /// The body as JSON, where no text is given.
    #[serde(deserialize_with = "present")]
    pub json: Option<Value>,
    /// Why no connection comes about.
    pub error: Option<String>,
}

/// Reads a member that is there, `null` included, as `Some`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// What all rules have in common.
pub(super) trait Rule: Clone {
    fn when(&self) -> &Match;
    fn times(&self) -> Option<u64>;
}

macro_rules! rules {
    ($($rule:ty),*) => {$(
        impl Rule for $rule {
            fn when(&self) -> &Match {
                &self.when
            }

            fn times(&self) -> Option<u64> {
                self.times
            }
        }
    )*};
}

rules!(
    RetrievalRule,
    SearchRule,
    FinanceRule,
    MemoryRule,
    CodeRule,
    SqlRule,
    HttpRule,
    MailRule,
    McpRule
);

/// A list of rules and how often each has answered.
#[derive(Debug)]
pub(super) struct Rules<R> {
    rules: Vec<(R, u64)>,
}

impl<R: Rule> Rules<R> {
    pub(super) fn new(rules: Vec<R>) -> Rules<R> {
        Rules {
            rules: rules.into_iter().map(|rule| (rule, 0)).collect(),
        }
    }

    /// How often each rule has answered.
    pub(super) fn uses(&self) -> Vec<u64> {
        self.rules.iter().map(|(_, used)| *used).collect()
    }

    /// Goes on as if each rule had answered that often.
    pub(super) fn set_uses(&mut self, uses: &[u64]) {
        for ((_, there), used) in self.rules.iter_mut().zip(uses) {
            *there = *used;
        }
    }

    /// The rule that answers this request, counted as used once more.
    pub(super) fn take(&mut self, text: &str, method: Option<&str>) -> Option<R> {
        let (rule, used) = self.rules.iter_mut().find(|(rule, used)| {
            rule.times().is_none_or(|times| *used < times) && rule.when().holds(text, method)
        })?;
        *used += 1;
        Some(rule.clone())
    }
}

impl Match {
    fn holds(&self, text: &str, method: Option<&str>) -> bool {
        self.contains
            .as_deref()
            .is_none_or(|part| text.contains(part))
            && self
                .method
                .as_deref()
                .is_none_or(|wanted| method.is_some_and(|m| m.eq_ignore_ascii_case(wanted)))
    }
}
