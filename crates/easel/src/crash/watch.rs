//! A scripted world that remembers what it was asked, and what is put around the nodes that ask it.
//!
//! The same attempt that asks the same again, because the process that asked died, is answered as before: by what only
//! answers, and by a target that honours keys. Any other target does again what it is told, which counts twice.

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use easel_runtime::components::{Around, Behaviour, Run};
use easel_runtime::core::draft::EffectClass;
use easel_runtime::core::event::Completion;
use easel_runtime::models::{
    ChatModel, ChatRequest, ChatStream, Credential, ModelError, ModelInfo,
};
use easel_runtime::tools::code::{CodeOutcome, CodeRequest, CodeRunner};
use easel_runtime::tools::files::{
    FileContent, FileDescriptor, FileRequest, FileStore, KeptFile, MadeFile,
};
use easel_runtime::tools::http::{HttpRequest, HttpResponse, HttpSender};
use easel_runtime::tools::mail::{Mail, MailSender};
use easel_runtime::tools::mcp::{McpAnswer, McpCall, McpServer, McpServers, McpTool, McpVisit};
use easel_runtime::tools::memory::{MemoryQuery, MemorySave, MemoryStore};
use easel_runtime::tools::retrieval::{RetrievalRequest, Retrieved, Retriever};
use easel_runtime::tools::search::{SearchRequest, SearchResults, WebSearch};
use easel_runtime::tools::sql::{SqlRequest, SqlRows, SqlRunner};
use easel_runtime::tools::{ToolError, World};
use easel_runtime::{Object, ScriptedWorld};
use futures::future::BoxFuture;
use serde_json::{Value as Json, json};

use crate::documents;

use super::killer::Killer;
use super::record::{AttemptKey, Begin, Call, End, Record, Seen};

/// What all that watches shares.
pub struct Watch {
    /// What was seen.
    pub record: Record,
    /// Where the process dies.
    pub killer: Arc<Killer>,
    /// The script that answers.
    pub script: ScriptedWorld,
    /// One call is answered at a time, so that the script's counters belong to it.
    answering: Mutex<()>,
}

/// An attempt under way.
struct Attempt {
    run: Arc<str>,
    of: AttemptKey,
    name: String,
    writes: bool,
    honours: bool,
    /// How many calls it made.
    calls: AtomicU32,
    begun: AtomicU32,
}

thread_local! {
    /// The attempt that is being polled on this thread.
    static ATTEMPT: RefCell<Option<Arc<Attempt>>> = const { RefCell::new(None) };
}

/// The run whose attempt is being polled on this thread.
pub fn current_run() -> Option<Arc<str>> {
    ATTEMPT.with_borrow(|attempt| attempt.as_ref().map(|attempt| attempt.run.clone()))
}

/// Makes an attempt the one that is polled, as long as `work` takes.
fn within<T>(attempt: &Arc<Attempt>, work: impl FnOnce() -> T) -> T {
    let before = ATTEMPT.replace(Some(attempt.clone()));
    let done = work();
    ATTEMPT.set(before);
    done
}

impl Watch {
    /// Watches a script. Rules that answered in an earlier life have answered.
    pub fn new(record: Record, killer: Arc<Killer>, script: ScriptedWorld) -> Arc<Watch> {
        let entries = record.entries();
        let last = entries.iter().rev().find_map(|entry| match &entry.seen {
            Seen::Call(call) => Some(&call.after),
            _ => None,
        });
        if let Some(uses) = last {
            script.set_uses(uses);
        }
        Arc::new(Watch {
            record,
            killer,
            script,
            answering: Mutex::new(()),
        })
    }

    /// What is put around every node's behaviour.
    pub fn around(self: &Arc<Watch>) -> Around {
        let watch = self.clone();
        Arc::new(move |inner| {
            Arc::new(WatchedBehaviour {
                inner,
                watch: watch.clone(),
            })
        })
    }

    /// The script's tools, watched.
    pub fn world(self: &Arc<Watch>) -> World {
        let world = documents::within(self.script.tools());
        // Nothing of it reaches outside, so there is nothing to watch.
        let documents = world.documents.clone();
        let watched = Arc::new(Watched {
            world,
            watch: self.clone(),
        });
        World {
            retrieval: watched.clone(),
            code: watched.clone(),
            sql: watched.clone(),
            search: watched.clone(),
            http: watched.clone(),
            files: watched.clone(),
            mail: watched.clone(),
            mcp: watched.clone(),
            ingestion: watched.world.ingestion.clone(),
            documents,
            // Its steps are what an attempt does, and nobody counts them.
            browser: watched.world.browser.clone(),
            memory: watched,
        }
    }

    /// The script's models, watched.
    pub fn model(self: &Arc<Watch>) -> Arc<dyn ChatModel> {
        Arc::new(WatchedModel {
            model: self.script.model(),
            watch: self.clone(),
        })
    }

    /// Answers a call, and writes it down before the run hears the answer.
    fn answer<T>(&self, what: impl FnOnce() -> Json, answer: impl FnOnce() -> T) -> T {
        let Some(attempt) = ATTEMPT.with_borrow(Option::clone) else {
            return answer();
        };
        let number = attempt.calls.fetch_add(1, Ordering::Relaxed);
        let earlier = self.record.earlier(&attempt.of, number);
        let knows = !attempt.writes || attempt.honours;
        let again = earlier.filter(|_| knows);
        let (answer, call) = {
            let _one = self
                .answering
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let now = self.script.uses();
            if let Some(earlier) = &again {
                self.script.set_uses(&earlier.before);
            }
            self.script.other_calls();
            let answer = answer();
            let asked = self.script.other_calls().pop();
            if again.is_some() {
                self.script.set_uses(&now);
            }
            let call = Call {
                of: attempt.of.clone(),
                number,
                what: asked.unwrap_or_else(what),
                writes: attempt.writes,
                honours: attempt.honours,
                before: now,
                after: self.script.uses(),
            };
            (answer, call)
        };
        self.record.saw(Seen::Call(call));
        self.killer.called(&attempt.name);
        answer
    }

    fn began(&self, attempt: &Attempt) {
        if attempt.begun.swap(1, Ordering::Relaxed) == 0 {
            self.record.saw(Seen::Begin(Begin {
                of: attempt.of.clone(),
                name: attempt.name.clone(),
                writes: attempt.writes,
                honours: attempt.honours,
            }));
        }
    }

    fn ended(
        &self,
        attempt: &Attempt,
        result: &Result<Completion, easel_runtime::components::Failure>,
    ) {
        let (ports, fault) = match result {
            Ok(completion) => (Some(completion.ports.clone()), None),
            Err(failure) => (None, Some(failure.fault.message.to_string())),
        };
        self.record.saw(Seen::End(End {
            of: attempt.of.clone(),
            ports,
            fault,
        }));
    }
}

struct WatchedBehaviour {
    inner: Arc<dyn Behaviour>,
    watch: Arc<Watch>,
}

impl Behaviour for WatchedBehaviour {
    fn run(self: Arc<Self>, call: easel_runtime::components::Call) -> Run {
        let draft = &call.node().draft;
        let effect = draft.effect;
        if effect == EffectClass::Pure {
            return self.inner.clone().run(call);
        }
        let watch = &self.watch;
        let attempt = Arc::new(Attempt {
            of: AttemptKey {
                key: watch.record.key(&call.run.id, &call.idempotency_key()),
                attempt: call.execute.attempt,
            },
            run: call.run.id.clone(),
            name: draft.name.to_string(),
            writes: effect == EffectClass::Writes,
            honours: draft.idempotent,
            calls: AtomicU32::new(0),
            begun: AtomicU32::new(0),
        });
        match within(&attempt, || self.inner.clone().run(call)) {
            Run::Done(result) => {
                watch.began(&attempt);
                watch.ended(&attempt, &result);
                Run::Done(result)
            }
            Run::Later(inner) => Run::later(UnderWay {
                inner,
                attempt,
                watch: watch.clone(),
            }),
        }
    }
}

/// An attempt under way, known to what it calls.
struct UnderWay {
    inner: easel_runtime::components::Later,
    attempt: Arc<Attempt>,
    watch: Arc<Watch>,
}

impl Future for UnderWay {
    type Output = Result<Completion, easel_runtime::components::Failure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let attempt = self.attempt.clone();
        self.watch.began(&attempt);
        let polled = within(&attempt, || self.inner.as_mut().poll(context));
        if let Poll::Ready(result) = &polled {
            self.watch.ended(&attempt, result);
        }
        polled
    }
}

struct WatchedModel {
    model: Arc<dyn ChatModel>,
    watch: Arc<Watch>,
}

impl ChatModel for WatchedModel {
    fn describe(&self, model: &str) -> Result<ModelInfo, ModelError> {
        self.model.describe(model)
    }

    fn credential(&self, model: &str) -> Option<Credential> {
        self.model.credential(model)
    }

    fn chat(&self, request: ChatRequest) -> ChatStream {
        let asker = request.caller.component.to_string();
        self.watch
            .answer(|| json!({"model": asker}), || self.model.chat(request))
    }
}

/// The script's tools. Each answers when it is called, so the call is what is written down.
struct Watched {
    world: World,
    watch: Arc<Watch>,
}

impl Watched {
    fn call<'a, T>(
        &'a self,
        what: &'static str,
        call: impl FnOnce(&'a World) -> BoxFuture<'a, Result<T, ToolError>>,
    ) -> BoxFuture<'a, Result<T, ToolError>> {
        self.watch
            .answer(|| json!({"tool": what}), || call(&self.world))
    }
}

impl Retriever for Watched {
    fn retrieve(&self, request: RetrievalRequest) -> BoxFuture<'_, Result<Retrieved, ToolError>> {
        self.call("retrieval", |world| world.retrieval.retrieve(request))
    }
}

impl WebSearch for Watched {
    fn search(&self, request: SearchRequest) -> BoxFuture<'_, Result<SearchResults, ToolError>> {
        self.call("search", |world| world.search.search(request))
    }
}

impl CodeRunner for Watched {
    fn run(&self, request: CodeRequest) -> BoxFuture<'_, Result<CodeOutcome, ToolError>> {
        self.call("code", |world| world.code.run(request))
    }
}

impl SqlRunner for Watched {
    fn query(&self, request: SqlRequest) -> BoxFuture<'_, Result<SqlRows, ToolError>> {
        self.call("sql", |world| world.sql.query(request))
    }
}

impl HttpSender for Watched {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, ToolError>> {
        self.call("http", |world| world.http.send(request))
    }
}

impl MailSender for Watched {
    fn deliver(&self, mail: Mail) -> BoxFuture<'_, Result<(), ToolError>> {
        self.call("mail", |world| world.mail.deliver(mail))
    }
}

impl McpServers for Watched {
    fn servers(&self) -> &[Arc<McpServer>] {
        self.world.mcp.servers()
    }

    fn tokens(&self, server: &McpServer) -> Vec<String> {
        self.world.mcp.tokens(server)
    }

    fn tools(&self, visit: McpVisit) -> BoxFuture<'_, Result<Arc<[McpTool]>, ToolError>> {
        self.world.mcp.tools(visit)
    }

    fn call(&self, visit: McpVisit, call: McpCall) -> BoxFuture<'_, Result<McpAnswer, ToolError>> {
        self.call("mcp", |world| world.mcp.call(visit, call))
    }
}

impl FileStore for Watched {
    fn read(&self, request: FileRequest) -> BoxFuture<'_, Result<FileContent, ToolError>> {
        self.call("file", |world| world.files.read(request))
    }

    fn bytes(&self, run: &str, file: FileDescriptor) -> BoxFuture<'_, Result<Vec<u8>, ToolError>> {
        let run = run.to_owned();
        self.call("file", move |world| world.files.bytes(&run, file))
    }

    fn keep(&self, file: MadeFile) -> BoxFuture<'_, Result<KeptFile, ToolError>> {
        self.call("keep", |world| world.files.keep(file))
    }
}

impl MemoryStore for Watched {
    fn save(&self, request: MemorySave) -> BoxFuture<'_, Result<(), ToolError>> {
        self.call("memory", |world| world.memory.save(request))
    }

    fn search(&self, request: MemoryQuery) -> BoxFuture<'_, Result<Vec<Object>, ToolError>> {
        self.call("memory", |world| world.memory.search(request))
    }
}
