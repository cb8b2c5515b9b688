//! A world that answers from a script: no network, no clock, the same answers every time.
//!
//! `easel test` and the conformance cases run on it. Every call is logged in the order in which it came, in the form
//! that recorded cases use (`other_calls`). The guard of [`crate::guard`] holds here too; names pass it, as if each
//! stood for a public address.
//!
//! ```
//! use easel_tools::{Script, ScriptedWorld, http::HttpRequest};
//!
//! let script: Script = serde_json::from_str(r#"{"http": [
//!     {"match": {"method": "get", "contains": "/status"}, "times": 1, "json": {"up": true}}
//! ]}"#)?;
//! let scripted = ScriptedWorld::new(script);
//! let world = scripted.world();
//!
//! let ask = || HttpRequest::new("GET", "https://api.example.com/status");
//! let answer = futures::executor::block_on(world.http.send(ask()))?;
//! assert_eq!(answer.body, r#"{"up":true}"#);
//! assert!(futures::executor::block_on(world.http.send(ask())).is_err(), "the rule answers once");
//! assert_eq!(scripted.take_calls().len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use easel_core::{Object, Value};
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};

use crate::code::{CodeOutcome, CodeRequest, CodeResult, CodeRunner};
use crate::error::{Capability, ToolError};
use crate::guard::{Allow, check_url};
use crate::http::{HttpBody, HttpRequest, HttpResponse, HttpSender};
use crate::mail::{Mail, MailSender};
use crate::memory::{MemoryQuery, MemorySave, MemoryStore};
use crate::retrieval::{RetrievalRequest, Retrieved, Retriever};
use crate::search::{SearchRequest, SearchResults, WebSearch, providers};
use crate::sql::{SqlRequest, SqlRows, SqlRunner};
use crate::world::World;

mod browser;
mod files;
mod mcp;
pub mod script;

pub use script::Script;
use script::{
    CodeRule, FinanceRule, HttpRule, MailRule, McpRule, MemoryRule, PageRule, RetrievalRule, Rules,
    SearchRule, SqlRule,
};

/// A world that answers from a [`Script`]. Clones share the counters and the log.
#[derive(Clone, Debug)]
pub struct ScriptedWorld {
    state: Arc<Mutex<State>>,
    servers: Arc<mcp::Servers>,
}

#[derive(Debug)]
struct State {
    retrieval: Rules<RetrievalRule>,
    search: Rules<SearchRule>,
    finance: Rules<FinanceRule>,
    memory: Rules<MemoryRule>,
    code: Rules<CodeRule>,
    sql: Rules<SqlRule>,
    http: Rules<HttpRule>,
    mail: Rules<MailRule>,
    mcp: Rules<McpRule>,
    files: indexmap::IndexMap<String, String>,
    /// The files that runs made, by their ids.
    kept: indexmap::IndexMap<String, Vec<u8>>,
    pages: indexmap::IndexMap<String, PageRule>,
    missing_datasets: Vec<String>,
    calls: Vec<Value>,
}

impl ScriptedWorld {
    /// A world with fresh counters and an empty log.
    pub fn new(script: Script) -> ScriptedWorld {
        let state = State {
            retrieval: Rules::new(script.retrieval),
            search: Rules::new(script.search),
            finance: Rules::new(script.finance),
            memory: Rules::new(script.memory),
            code: Rules::new(script.code),
            sql: Rules::new(script.sql),
            http: Rules::new(script.http),
            mail: Rules::new(script.mail),
            mcp: Rules::new(script.mcp),
            files: script.files,
            kept: indexmap::IndexMap::new(),
            pages: script.browser,
            missing_datasets: script.missing_datasets,
            calls: Vec::new(),
        };
        ScriptedWorld {
            state: Arc::new(Mutex::new(state)),
            servers: Arc::new(mcp::Servers::new(&script.mcp_servers)),
        }
    }

    /// This script behind every capability.
    pub fn world(&self) -> World {
        let one = Arc::new(self.clone());
        World {
            retrieval: one.clone(),
            code: one.clone(),
            sql: one.clone(),
            search: one.clone(),
            http: one.clone(),
            files: one.clone(),
            mail: one.clone(),
            mcp: one.clone(),
            browser: one.clone(),
            memory: one,
            ..World::none()
        }
    }

    /// The calls since the last time this was asked, oldest first, and forgets them.
    pub fn take_calls(&self) -> Vec<Value> {
        std::mem::take(&mut self.state().calls)
    }

    /// How often each rule has answered: a list for each section, in the order of [`Script`]'s members.
    pub fn uses(&self) -> Vec<Vec<u64>> {
        let state = self.state();
        vec![
            state.retrieval.uses(),
            state.search.uses(),
            state.finance.uses(),
            state.memory.uses(),
            state.code.uses(),
            state.sql.uses(),
            state.http.uses(),
            state.mail.uses(),
            state.mcp.uses(),
        ]
    }

    /// Goes on as if each rule had answered that often: another process answered before.
    pub fn set_uses(&self, uses: &[Vec<u64>]) {
        let mut state = self.state();
        let mut sections = uses.iter();
        let mut next = || sections.next().map(Vec::as_slice).unwrap_or_default();
        state.retrieval.set_uses(next());
        state.search.set_uses(next());
        state.finance.set_uses(next());
        state.memory.set_uses(next());
        state.code.set_uses(next());
        state.sql.set_uses(next());
        state.http.set_uses(next());
        state.mail.set_uses(next());
        state.mcp.set_uses(next());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere cannot leave counters and log half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn done<T: Send + 'static>(
    answer: Result<T, ToolError>,
) -> BoxFuture<'static, Result<T, ToolError>> {
    ready(answer).boxed()
}

fn failed(what: &str, message: String) -> ToolError {
    ToolError::Failed {
        what: what.to_owned(),
        message,
    }
}

/// An object with these members, for the log.
fn entry<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::from(
        members
            .into_iter()
            .map(|(k, v)| (Arc::from(k), v))
            .collect::<Object>(),
    )
}

fn texts(items: &[String]) -> Value {
    Value::from(
        items
            .iter()
            .map(|s| Value::from(s.as_str()))
            .collect::<Vec<_>>(),
    )
}

impl State {
    fn retrieve(&mut self, request: &RetrievalRequest) -> Result<Retrieved, ToolError> {
        let known: Vec<String> = request
            .dataset_ids
            .iter()
            .filter(|id| !self.missing_datasets.contains(id))
            .cloned()
            .collect();
        if let (true, Some(id)) = (known.is_empty(), request.dataset_ids.first()) {
            return Err(ToolError::NotFound {
                what: "dataset",
                id: id.clone(),
            });
        }
        let mut call = Object::new();
        call.insert("retrieval".into(), Value::from(request.query.as_str()));
        call.insert("datasets".into(), texts(&known));
        if !request.filters.is_empty() {
            let filters = request.filters.iter().map(|condition| {
                entry([
                    ("key", Value::from(condition.key.as_str())),
                    ("op", Value::from(condition.op.as_str())),
                    ("value", condition.value.clone()),
                ])
            });
            call.insert("filters".into(), Value::from(filters.collect::<Vec<_>>()));
        }
        self.calls.push(Value::from(call));
        match self.retrieval.take(&request.query, None) {
            None => Ok(Retrieved::default()),
            Some(RetrievalRule {
                error: Some(error), ..
            }) => Err(failed(Capability::Retrieval.name(), error)),
            Some(rule) => Ok(Retrieved {
                chunks: rule.chunks,
                doc_aggs: rule.doc_aggs,
            }),
        }
    }

    fn search(&mut self, request: &SearchRequest) -> Result<SearchResults, ToolError> {
        let subject = match request.subject.as_str() {
            Some(text) => text.to_owned(),
            None => request.subject.to_json_text(),
        };
        if request.provider == providers::YAHOO_FINANCE {
            return self.company_report(&subject, &request.parameters);
        }
        self.calls
            .push(entry([(&request.provider, request.subject.clone())]));
        match self.search.take(&subject, None) {
            None => Ok(SearchResults::default()),
            Some(SearchRule {
                error: Some(error), ..
            }) => Err(failed(&request.provider, error)),
            Some(rule) => Ok(SearchResults {
                results: rule.results,
            }),
        }
    }

    /// Recorded cases hold no rules for company reports and no log of them: there, every statement is one row.
    fn company_report(&mut self, code: &str, asked: &Object) -> Result<SearchResults, ToolError> {
        const ONE_ROW: &str = "|       |   2024 |\n|:------|-------:|\n| Total |      1 |";
        const STATEMENTS: [(&str, [&str; 2]); 2] = [
            (
                "balance_sheet",
                ["Balance sheet", "Quarterly balance sheet"],
            ),
            (
                "cash_flow_statement",
                ["Cash flow statement", "Quarterly cash flow statement"],
            ),
        ];
        match self.finance.take(code, None) {
            Some(FinanceRule {
                error: Some(error), ..
            }) => Err(failed(providers::YAHOO_FINANCE, error)),
            Some(rule) => Ok(SearchResults {
                results: rule.sections,
            }),
            None => {
                let titles = STATEMENTS
                    .iter()
                    .filter(|(switch, _)| asked.get(*switch).is_some_and(Value::is_truthy))
                    .flat_map(|(_, titles)| titles);
                let section = |title: &&str| {
                    entry([
                        ("title", Value::from(*title)),
                        ("content", Value::from(ONE_ROW)),
                    ])
                };
                Ok(SearchResults {
                    results: titles.map(section).collect(),
                })
            }
        }
    }

    fn run(&mut self, request: &CodeRequest) -> Result<CodeOutcome, ToolError> {
        self.calls.push(entry([
            ("code", Value::from(request.language.name())),
            ("arguments", Value::from(request.arguments.clone())),
        ]));
        let what = Capability::Code.name();
        let rule = self
            .code
            .take(&request.script, None)
            .ok_or_else(|| failed(what, NO_RULE.to_owned()))?;
        if let Some(error) = rule.error {
            return Err(failed(what, error));
        }
        let echoed = rule.result_arg.map(|name| {
            request
                .arguments
                .get(name.as_str())
                .cloned()
                .unwrap_or_default()
        });
        let result = echoed.or(rule.result).map(|value| CodeResult {
            value,
            type_name: "json".to_owned(),
        });
        Ok(CodeOutcome {
            exit_code: i32::from(result.is_none() && !rule.stderr.is_empty()),
            result,
            stdout: rule.stdout,
            stderr: rule.stderr,
            artifacts: Vec::new(),
        })
    }

    fn query(&mut self, request: &SqlRequest) -> Result<SqlRows, ToolError> {
        self.calls
            .push(entry([("sql", Value::from(request.statement.as_str()))]));
        match self.sql.take(&request.statement, None) {
            None => Ok(SqlRows::default()),
            Some(SqlRule {
                error: Some(error), ..
            }) => Err(failed("the database", error)),
            Some(mut rule) => {
                rule.rows
                    .truncate(usize::try_from(request.max_records).unwrap_or(usize::MAX));
                Ok(SqlRows {
                    columns: rule.columns,
                    rows: rule.rows,
                })
            }
        }
    }

    fn post(&mut self, mail: &Mail) -> Result<(), ToolError> {
        self.calls.push(entry([
            ("mail", Value::from(mail.to.as_str())),
            ("cc", Value::from(mail.cc.as_str())),
            ("subject", Value::from(mail.subject.as_str())),
            ("html", Value::from(mail.html.as_str())),
        ]));
        match self.mail.take(&mail.subject, None) {
            Some(MailRule {
                error: Some(error), ..
            }) => Err(failed("the mail server", error)),
            _ => Ok(()),
        }
    }

    fn send(&mut self, request: &HttpRequest) -> Result<HttpResponse, ToolError> {
        let (url, _) = check_url(&request.url, &Allow::default())?;
        if let Some(proxy) = &request.proxy {
            check_url(proxy, &Allow::default())?;
        }
        let (json, data) = match &request.body {
            HttpBody::Empty => (Value::Null, Value::Null),
            HttpBody::Json(value) => (value.clone(), Value::Null),
            HttpBody::Form(fields) => (Value::Null, Value::from(fields.clone())),
            HttpBody::Text { text, .. } => (Value::Null, Value::from(text.as_str())),
        };
        let headers = request.headers.iter();
        self.calls.push(entry([
            ("http", Value::from(request.method.to_ascii_lowercase())),
            ("url", Value::from(request.url.as_str())),
            (
                "params",
                request.query.clone().map_or(Value::Null, Value::from),
            ),
            ("json", json),
            ("data", data),
            (
                "headers",
                Value::from(
                    headers
                        .map(|(name, value)| {
                            (Arc::from(name.as_str()), Value::from(value.as_str()))
                        })
                        .collect::<Object>(),
                ),
            ),
        ]));
        let refused = |cause: String| ToolError::NoConnection {
            host: url.host_str().unwrap_or_default().to_owned(),
            cause,
        };
        let rule = self
            .http
            .take(&request.url, Some(&request.method))
            .ok_or_else(|| refused(NO_RULE.to_owned()))?;
        if let Some(error) = rule.error {
            return Err(refused(error));
        }
        let of_text = rule.content_type.as_deref();
        let of_text = of_text.unwrap_or("text/plain; charset=utf-8");
        let (content_type, body) = match (rule.text, rule.json) {
            (Some(text), _) => (of_text, text),
            (None, Some(json)) => ("application/json", json.to_json_text()),
            (None, None) => (of_text, String::new()),
        };
        Ok(HttpResponse {
            status: rule.status.unwrap_or(200),
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            body,
        })
    }

    fn save(&mut self, request: &MemorySave) {
        let message = &request.message;
        self.calls.push(entry([
            ("save_memory", texts(&request.memory_ids)),
            (
                "message",
                entry([
                    ("user_id", Value::from(request.whose.user_id.as_str())),
                    ("user_input", Value::from(message.user_input.as_str())),
                    (
                        "agent_response",
                        Value::from(message.agent_response.as_str()),
                    ),
                ]),
            ),
        ]));
    }

    fn recall(&mut self, request: &MemoryQuery) -> Result<Vec<Object>, ToolError> {
        self.calls.push(entry([
            ("search_memory", texts(&request.memory_ids)),
            ("query", Value::from(request.query.as_str())),
        ]));
        match self.memory.take(&request.query, None) {
            None => Ok(Vec::new()),
            Some(MemoryRule {
                error: Some(error), ..
            }) => Err(failed(Capability::Memory.name(), error)),
            Some(rule) => Ok(rule.messages),
        }
    }
}

/// What is said where a request without a rule is a failure.
const NO_RULE: &str = "no scripted rule";

impl Retriever for ScriptedWorld {
    fn retrieve(&self, request: RetrievalRequest) -> BoxFuture<'_, Result<Retrieved, ToolError>> {
        done(self.state().retrieve(&request))
    }
}

impl WebSearch for ScriptedWorld {
    fn search(&self, request: SearchRequest) -> BoxFuture<'_, Result<SearchResults, ToolError>> {
        done(self.state().search(&request))
    }
}

impl CodeRunner for ScriptedWorld {
    fn run(&self, request: CodeRequest) -> BoxFuture<'_, Result<CodeOutcome, ToolError>> {
        done(self.state().run(&request))
    }
}

impl SqlRunner for ScriptedWorld {
    fn query(&self, request: SqlRequest) -> BoxFuture<'_, Result<SqlRows, ToolError>> {
        done(self.state().query(&request))
    }
}

impl HttpSender for ScriptedWorld {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, ToolError>> {
        done(self.state().send(&request))
    }
}

impl MailSender for ScriptedWorld {
    fn deliver(&self, mail: Mail) -> BoxFuture<'_, Result<(), ToolError>> {
        done(self.state().post(&mail))
    }
}

impl MemoryStore for ScriptedWorld {
    fn save(&self, request: MemorySave) -> BoxFuture<'_, Result<(), ToolError>> {
        self.state().save(&request);
        done(Ok(()))
    }

    fn search(&self, request: MemoryQuery) -> BoxFuture<'_, Result<Vec<Object>, ToolError>> {
        done(self.state().recall(&request))
    }
}

#[cfg(test)]
mod tests;
