//! Services that fail again and again are left alone for a while.

use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use easel_runtime::clock::{Clock, StandingClock};
use easel_runtime::models::{
    ChatModel, ChatRequest, ChatStream, Credential, ModelError, ModelInfo,
};
use easel_runtime::tools::http::{HttpRequest, HttpResponse, HttpSender};
use easel_runtime::tools::mcp::{
    McpAnswer, McpCall, McpReach, McpServer, McpServers, McpTool, McpVisit,
};
use easel_runtime::tools::{ToolError, World};
use easel_runtime::{
    BreakerLimits, BreakerSettings, Ending, Engine, RunEvent, ScriptedWorld, Session, Timestamp,
};
use futures::executor::block_on;
use futures::future::{BoxFuture, ready};
use futures::{FutureExt, StreamExt};
use serde_json::{Value as Json, json};

use super::own::canvas;

/// A web that answers with one status, or does not answer at all.
#[derive(Default)]
struct Web {
    status: AtomicU16,
    asked: AtomicU32,
}

impl HttpSender for Web {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, ToolError>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let answer = match self.status.load(Ordering::Relaxed) {
            0 => Err(ToolError::NoConnection {
                host: request.host().unwrap_or_default(),
                cause: "connection refused".to_owned(),
            }),
            status => Ok(HttpResponse {
                status,
                headers: Vec::new(),
                body: "hello".to_owned(),
            }),
        };
        ready(answer).boxed()
    }
}

/// An engine whose circuits open after two failures in a minute and stay so for half a minute.
fn engine(web: &Arc<Web>, clock: &Arc<StandingClock>) -> Arc<Engine> {
    let world = World {
        http: web.clone(),
        ..World::none()
    };
    let usual = BreakerLimits {
        failures: 2,
        ..BreakerLimits::default()
    };
    let settings = BreakerSettings {
        usual,
        ..BreakerSettings::default()
    };
    let engine = Engine::builder().world(world).clock(clock.clone());
    engine.breaker(Some(settings)).build().unwrap()
}

fn clock() -> Arc<StandingClock> {
    Arc::new(StandingClock::at(Timestamp(0)))
}

fn session(engine: &Arc<Engine>, invoke: Json, said: &str) -> Session {
    let message = json!({"content": [said]});
    let text = canvas(&[
        ("Invoke:I", "Invoke", invoke),
        ("Message:M", "Message", message),
    ]);
    let workflow = engine.load(&text).unwrap();
    engine.session(&Arc::new(workflow))
}

/// Makes a turn; what was said, and how it ended.
fn turn(session: &mut Session) -> (String, Ending) {
    let said = Mutex::new(String::new());
    let mut observe = |event: RunEvent| said.lock().unwrap().push_str(event.text());
    let ending = block_on(session.turn("go".into(), &mut observe)).unwrap();
    (said.into_inner().unwrap(), ending)
}

/// The code with which a turn failed.
fn code(session: &mut Session) -> String {
    match turn(session).1 {
        Ending::Failed { fault, .. } => fault.code.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_host_that_fails_is_left_alone_and_asked_again_after_a_pause() {
    let (web, clock) = (Arc::new(Web::default()), clock());
    let engine = engine(&web, &clock);
    let invoke = json!({"url": "http://a.example/x", "method": "get"});
    let mut talk = session(&engine, invoke, "{Invoke:I@result}");
    assert_eq!(code(&mut talk), "tool.no_connection");
    assert_eq!(code(&mut talk), "tool.no_connection");
    assert_eq!(engine.open_circuits(), ["host:a.example".into()]);
    assert_eq!(code(&mut talk), "circuit_open");
    assert_eq!(web.asked.load(Ordering::Relaxed), 2, "it was left alone");
    // Another host has a circuit of its own.
    web.status.store(200, Ordering::Relaxed);
    let other = json!({"url": "http://b.example/x", "method": "get"});
    assert_eq!(
        turn(&mut session(&engine, other, "{Invoke:I@result}")).0,
        "hello"
    );
    assert_eq!(code(&mut talk), "circuit_open");
    drop(clock.sleep(30_000));
    assert_eq!(turn(&mut talk).0, "hello");
    assert!(engine.open_circuits().is_empty());
}

#[test]
fn a_server_error_counts_and_a_wrong_request_does_not() {
    let (web, clock) = (Arc::new(Web::default()), clock());
    let engine = engine(&web, &clock);
    let invoke = json!({"url": "http://a.example:8080/x", "method": "get"});
    let mut talk = session(&engine, invoke, "{Invoke:I@result}");
    web.status.store(404, Ordering::Relaxed);
    for _ in 0..5 {
        assert_eq!(turn(&mut talk).1, Ending::Finished);
    }
    web.status.store(503, Ordering::Relaxed);
    for _ in 0..2 {
        assert_eq!(turn(&mut talk).1, Ending::Finished);
    }
    assert_eq!(engine.open_circuits(), ["host:a.example:8080".into()]);
    assert_eq!(code(&mut talk), "circuit_open");
}

#[test]
fn retries_defaults_and_gotos_treat_it_like_any_failure() {
    let (web, clock) = (Arc::new(Web::default()), clock());
    let engine = engine(&web, &clock);
    let invoke = json!({"url": "http://a.example/x", "method": "get", "max_retries": 1, "delay_after_error": 1,
                        "exception_method": "comment", "exception_default_value": "as a default"});
    let mut talk = session(&engine, invoke, "{Invoke:I@result}");
    assert!(turn(&mut talk).0.contains("as a default"));
    assert_eq!(web.asked.load(Ordering::Relaxed), 2);
    assert!(turn(&mut talk).0.contains("as a default"));
    assert_eq!(web.asked.load(Ordering::Relaxed), 2, "it was left alone");
    let elsewhere = json!({"url": "http://a.example/x", "method": "get",
                           "exception_method": "goto", "exception_goto": ["Message:E"]});
    let nodes = [
        ("Invoke:I", "Invoke", elsewhere),
        ("Message:M", "Message", json!({"content": ["it worked"]})),
        (
            "Message:E",
            "Message",
            json!({"content": ["it went elsewhere"]}),
        ),
    ];
    let workflow = engine.load(&canvas(&nodes)).unwrap();
    let said = turn(&mut engine.session(&Arc::new(workflow))).0;
    assert_eq!(said, "it went elsewhere");
    assert_eq!(web.asked.load(Ordering::Relaxed), 2, "it was left alone");
    // A pause between attempts that is longer than the circuit's lets the second one try.
    web.status.store(200, Ordering::Relaxed);
    let patient = json!({"url": "http://a.example/x", "method": "get", "max_retries": 1, "delay_after_error": 100});
    assert_eq!(
        turn(&mut session(&engine, patient, "{Invoke:I@result}")).0,
        "hello"
    );
}

#[test]
fn without_settings_every_call_is_made() {
    let web = Arc::new(Web::default());
    let world = World {
        http: web.clone(),
        ..World::none()
    };
    let engine = Engine::builder().world(world).build().unwrap();
    let invoke = json!({"url": "http://a.example/x", "method": "get"});
    let mut talk = session(&engine, invoke, "x");
    for _ in 0..10 {
        assert_eq!(code(&mut talk), "tool.no_connection");
    }
    assert_eq!(web.asked.load(Ordering::Relaxed), 10);
}

/// A model of a provider that cannot be reached at first.
struct Flaky {
    model: Arc<dyn ChatModel>,
    failures: AtomicU32,
}

impl ChatModel for Flaky {
    fn describe(&self, model: &str) -> Result<ModelInfo, ModelError> {
        self.model.describe(model)
    }

    fn credential(&self, _: &str) -> Option<Credential> {
        Some(Credential {
            provider: "cloud".into(),
            secret: "CLOUD_KEY".into(),
        })
    }

    fn chat(&self, request: ChatRequest) -> ChatStream {
        let left = self.failures.load(Ordering::Relaxed);
        if left == 0 {
            return self.model.chat(request);
        }
        self.failures.store(left - 1, Ordering::Relaxed);
        let error = ModelError::Connect {
            provider: "cloud".into(),
            cause: "connection refused".to_owned(),
        };
        futures::stream::iter([Err(error)]).boxed()
    }
}

#[test]
fn a_provider_of_models_is_left_alone_too() {
    let script = json!({"rules": [{"reply": "yes"}]});
    let world = ScriptedWorld::read(script, || {}).unwrap();
    let clock = clock();
    let model = Flaky {
        model: world.model(),
        failures: 2.into(),
    };
    let limits = BreakerLimits {
        failures: 2,
        pause: Duration::from_secs(5),
        ..BreakerLimits::default()
    };
    let settings = BreakerSettings {
        named: [("provider:cloud".to_owned(), limits)]
            .into_iter()
            .collect(),
        ..BreakerSettings::default()
    };
    let engine = Engine::builder()
        .model(Arc::new(model))
        .clock(clock.clone());
    let engine = engine.breaker(Some(settings)).build().unwrap();
    let asks = json!({"llm_id": "m", "sys_prompt": "s", "prompts": [{"role": "user", "content": "{sys.query}"}]});
    let says = json!({"content": ["{LLM:L@content}"]});
    let text = canvas(&[("LLM:L", "LLM", asks), ("Message:M", "Message", says)]);
    let mut talk = engine.session(&Arc::new(engine.load(&text).unwrap()));
    assert_eq!(code(&mut talk), "model.connect");
    assert_eq!(code(&mut talk), "model.connect");
    assert_eq!(engine.open_circuits(), ["provider:cloud".into()]);
    assert_eq!(code(&mut talk), "circuit_open");
    drop(clock.sleep(5_000));
    assert_eq!(turn(&mut talk).0, "yes");
    assert!(engine.open_circuits().is_empty());
}

/// An MCP server that nobody reaches.
struct Gone {
    servers: Vec<Arc<McpServer>>,
    asked: AtomicU32,
}

impl McpServers for Gone {
    fn servers(&self) -> &[Arc<McpServer>] {
        &self.servers
    }

    fn tools(&self, visit: McpVisit) -> BoxFuture<'_, Result<Arc<[McpTool]>, ToolError>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let gone = ToolError::NoConnection {
            host: visit.server.name.to_string(),
            cause: "connection refused".to_owned(),
        };
        ready(Err(gone)).boxed()
    }

    fn call(&self, _: McpVisit, _: McpCall) -> BoxFuture<'_, Result<McpAnswer, ToolError>> {
        panic!("its tools are not known")
    }
}

#[test]
fn an_mcp_server_that_cannot_be_reached_is_left_alone() {
    let reach = McpReach::Http {
        url: "https://team.example/mcp".to_owned(),
        headers: Vec::new(),
        trusted: true,
    };
    let gone = Arc::new(Gone {
        servers: vec![Arc::new(McpServer::new("team", reach))],
        asked: AtomicU32::new(0),
    });
    let world = World {
        mcp: gone.clone(),
        ..World::none()
    };
    let settings = BreakerSettings {
        usual: BreakerLimits {
            failures: 2,
            ..BreakerLimits::default()
        },
        ..BreakerSettings::default()
    };
    let engine = Engine::builder().world(world).clock(clock());
    let engine = engine.breaker(Some(settings)).build().unwrap();
    let graph =
        "name: g\nnodes:\n  - {id: t, kind: tool, tools: [mcp__team__greet]}\noutputs: [t]\n";
    let workflow = Arc::new(engine.load(graph.as_bytes()).unwrap());
    let codes = [(); 3].map(|()| code(&mut engine.session(&workflow)));
    assert_eq!(
        codes,
        ["tool.no_connection", "tool.no_connection", "circuit_open"]
    );
    assert_eq!(gone.asked.load(Ordering::Relaxed), 2, "it was left alone");
    assert_eq!(engine.open_circuits(), ["mcp:team".into()]);
}
