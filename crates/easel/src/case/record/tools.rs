//! Tools whose answers are recorded.

use std::sync::Arc;

use easel_runtime::tools::code::{CodeOutcome, CodeRequest, CodeRunner};
use easel_runtime::tools::files::{
    FileContent, FileDescriptor, FileRequest, FileStore, KeptFile, MadeFile,
};
use easel_runtime::tools::http::{HttpRequest, HttpResponse, HttpSender};
use easel_runtime::tools::mail::{Mail, MailSender};
use easel_runtime::tools::mcp::{McpAnswer, McpCall, McpServer, McpServers, McpTool, McpVisit};
use easel_runtime::tools::memory::{MemoryQuery, MemorySave, MemoryStore};
use easel_runtime::tools::retrieval::{RetrievalRequest, Retrieved, Retriever};
use easel_runtime::tools::search::{SearchRequest, SearchResults, WebSearch, providers};
use easel_runtime::tools::sql::{SqlRequest, SqlRows, SqlRunner};
use easel_runtime::tools::{ToolError, World};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value as Json, json};

use super::Tape;

/// The sections of `llm.json` that answer tools.
pub const SECTIONS: [&str; 9] = [
    "retrieval",
    "search",
    "finance",
    "code",
    "sql",
    "http",
    "memory",
    "mail",
    "mcp",
];

/// A world that is passed on to, and recorded.
pub fn recorded(world: World, tape: &Arc<Tape>) -> World {
    let documents = world.documents.clone();
    let recorded = Arc::new(Recorded {
        world,
        tape: tape.clone(),
    });
    World {
        retrieval: recorded.clone(),
        code: recorded.clone(),
        sql: recorded.clone(),
        search: recorded.clone(),
        http: recorded.clone(),
        files: recorded.clone(),
        mail: recorded.clone(),
        mcp: recorded.clone(),
        ingestion: recorded.world.ingestion.clone(),
        documents,
        // What a page says is for no script to repeat.
        browser: recorded.world.browser.clone(),
        memory: recorded,
    }
}

struct Recorded {
    world: World,
    tape: Arc<Tape>,
}

impl Recorded {
    /// Records what a call comes to: `when` says which call it was, `answer` what it gave.
    fn record<'a, T: Send + 'a>(
        &'a self,
        section: &'static str,
        when: Json,
        call: BoxFuture<'a, Result<T, ToolError>>,
        answer: impl Fn(&T) -> Json + Send + 'a,
    ) -> BoxFuture<'a, Result<T, ToolError>> {
        let place = self.tape.begin(section);
        async move {
            let result = call.await;
            let mut rule = match &result {
                Ok(given) => answer(given),
                Err(error) => json!({"error": error.to_string()}),
            };
            if let Some(rule) = rule.as_object_mut() {
                rule.shift_insert(0, "match".to_owned(), when);
                rule.shift_insert(1, "times".to_owned(), 1.into());
            }
            self.tape.end(section, place, rule);
            result
        }
        .boxed()
    }
}

fn contains(text: impl Into<Json>) -> Json {
    json!({"contains": text.into()})
}

impl Retriever for Recorded {
    fn retrieve(&self, request: RetrievalRequest) -> BoxFuture<'_, Result<Retrieved, ToolError>> {
        let when = contains(&*request.query);
        let call = self.world.retrieval.retrieve(request);
        self.record(
            "retrieval",
            when,
            call,
            |found| json!({"chunks": found.chunks, "doc_aggs": found.doc_aggs}),
        )
    }
}

impl WebSearch for Recorded {
    fn search(&self, request: SearchRequest) -> BoxFuture<'_, Result<SearchResults, ToolError>> {
        let when = match request.subject.as_str() {
            Some(query) => contains(query),
            None => json!({}),
        };
        // Company reports have rules of their own.
        let (section, what) = match request.provider.as_str() {
            providers::YAHOO_FINANCE => ("finance", "sections"),
            _ => ("search", "results"),
        };
        let call = self.world.search.search(request);
        self.record(
            section,
            when,
            call,
            move |found| json!({what: found.results}),
        )
    }
}

impl CodeRunner for Recorded {
    fn run(&self, request: CodeRequest) -> BoxFuture<'_, Result<CodeOutcome, ToolError>> {
        let when = contains(&*request.script);
        let call = self.world.code.run(request);
        self.record("code", when, call, |outcome| {
            let mut rule = json!({"stdout": outcome.stdout, "stderr": outcome.stderr});
            if let (Some(result), Some(rule)) = (&outcome.result, rule.as_object_mut()) {
                rule.insert("result".to_owned(), result.value.to_json());
            }
            rule
        })
    }
}

impl SqlRunner for Recorded {
    fn query(&self, request: SqlRequest) -> BoxFuture<'_, Result<SqlRows, ToolError>> {
        let when = contains(&*request.statement);
        let call = self.world.sql.query(request);
        self.record(
            "sql",
            when,
            call,
            |rows| json!({"columns": rows.columns, "rows": rows.rows}),
        )
    }
}

impl HttpSender for Recorded {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, ToolError>> {
        // What stands behind the question mark may be a key.
        let address = request.url.split(['?', '#']).next().unwrap_or_default();
        let when = json!({"method": request.method.to_uppercase(), "contains": address});
        let call = self.world.http.send(request);
        self.record("http", when, call, |response| {
            let mut rule = json!({"status": response.status, "text": response.body});
            let media = response.header("content-type").unwrap_or_default();
            if !media.is_empty() && !media.starts_with("text/plain") {
                rule["content_type"] = media.into();
            }
            rule
        })
    }
}

impl MailSender for Recorded {
    fn deliver(&self, mail: Mail) -> BoxFuture<'_, Result<(), ToolError>> {
        let when = contains(&*mail.subject);
        let call = self.world.mail.deliver(mail);
        self.record("mail", when, call, |()| json!({}))
    }
}

impl McpServers for Recorded {
    fn servers(&self) -> &[Arc<McpServer>] {
        self.world.mcp.servers()
    }

    fn tokens(&self, server: &McpServer) -> Vec<String> {
        self.world.mcp.tokens(server)
    }

    fn tools(&self, visit: McpVisit) -> BoxFuture<'_, Result<Arc<[McpTool]>, ToolError>> {
        let server = visit.server.clone();
        let call = self.world.mcp.tools(visit);
        async move {
            let tools = call.await?;
            let listed = tools.iter().map(|tool| {
                json!({
                    "name": &*tool.name,
                    "description": &*tool.description,
                    "parameters": tool.parameters.to_json(),
                    "reads_only": tool.reads_only,
                })
            });
            let listed = listed.collect::<Vec<Json>>().into();
            self.tape.server(&server.name, &server.ids, Some(listed));
            Ok(tools)
        }
        .boxed()
    }

    fn call(&self, visit: McpVisit, call: McpCall) -> BoxFuture<'_, Result<McpAnswer, ToolError>> {
        self.tape
            .server(&visit.server.name, &visit.server.ids, None);
        let when = contains(&*call.tool);
        let call = self.world.mcp.call(visit, call);
        self.record(
            "mcp",
            when,
            call,
            |answer| json!({"text": answer.text, "failed": answer.failed}),
        )
    }
}

impl MemoryStore for Recorded {
    fn save(&self, request: MemorySave) -> BoxFuture<'_, Result<(), ToolError>> {
        self.world.memory.save(request)
    }

    fn search(
        &self,
        request: MemoryQuery,
    ) -> BoxFuture<'_, Result<Vec<easel_runtime::Object>, ToolError>> {
        let when = contains(&*request.query);
        let call = self.world.memory.search(request);
        self.record(
            "memory",
            when,
            call,
            |messages| json!({"messages": messages}),
        )
    }
}

impl FileStore for Recorded {
    fn read(&self, request: FileRequest) -> BoxFuture<'_, Result<FileContent, ToolError>> {
        let id = request.file.id.clone();
        let call = self.world.files.read(request);
        async move {
            let content = call.await?;
            if let FileContent::Text { text, .. } = &content {
                self.tape.file(&id, text);
            }
            Ok(content)
        }
        .boxed()
    }

    fn bytes(&self, run: &str, file: FileDescriptor) -> BoxFuture<'_, Result<Vec<u8>, ToolError>> {
        let id = file.id.clone();
        let call = self.world.files.bytes(run, file);
        async move {
            let bytes = call.await?;
            // A case has text alone, so a workbook of Excel is not in it.
            if let Ok(text) = std::str::from_utf8(&bytes) {
                self.tape.file(&id, text);
            }
            Ok(bytes)
        }
        .boxed()
    }

    fn keep(&self, file: MadeFile) -> BoxFuture<'_, Result<KeptFile, ToolError>> {
        self.world.files.keep(file)
    }
}
