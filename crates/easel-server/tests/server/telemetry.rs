//! Figures and traces, as operators get them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use easel_runtime::{Engine, Input, Origin, ScriptedWorld};
use easel_server::host::{Host, HostLimits};
use easel_server::telemetry::{SEMANTIC_CONVENTIONS, Telemetry, TraceSettings};
use easel_store::{Location, Store};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message as _;
use serde_json::{Value as Json, json};
use tokio::net::TcpListener;

use super::support::{TestServer, canvas, echo, form, origin};

/// Takes in what it is sent.
#[derive(Clone, Default)]
struct Collector {
    requests: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
}

impl Collector {
    /// A collector, and its address.
    async fn start() -> (Collector, String) {
        let collector = Collector::default();
        let taken = collector.clone();
        let router = Router::new().route(
            "/v1/traces",
            post(move |body: Bytes| async move {
                let request = ExportTraceServiceRequest::decode(body).unwrap();
                taken.requests.lock().unwrap().push(request);
            }),
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (collector, address)
    }

    fn spans(&self) -> Vec<Span> {
        let requests = self.requests.lock().unwrap();
        let resources = requests.iter().flat_map(|request| &request.resource_spans);
        let scopes = resources.flat_map(|resource| &resource.scope_spans);
        scopes.flat_map(|scope| scope.spans.clone()).collect()
    }

    /// Everything that was sent, as text.
    fn all(&self) -> String {
        format!("{:?}", self.requests.lock().unwrap())
    }
}

fn attributes(span: &Span) -> HashMap<String, Json> {
    let pairs = span.attributes.iter().map(|pair| {
        let value = match pair.value.clone().unwrap().value.unwrap() {
            Any::StringValue(text) => json!(text),
            Any::IntValue(number) => json!(number),
            Any::DoubleValue(number) => json!(number),
            Any::BoolValue(flag) => json!(flag),
            Any::ArrayValue(list) => json!(list.values.len()),
            other => panic!("{other:?}"),
        };
        (pair.key.clone(), value)
    });
    pairs.collect()
}

/// The only span with that name.
fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let found: Vec<&Span> = spans.iter().filter(|span| span.name == name).collect();
    let names: Vec<&str> = spans.iter().map(|span| &*span.name).collect();
    assert_eq!(found.len(), 1, "{name} in {names:?}");
    found[0]
}

/// A host whose turns are watched, over a folder of its own.
struct Watched {
    _folder: tempfile::TempDir,
    telemetry: Telemetry,
    host: Arc<Host>,
}

impl Watched {
    async fn over(world: Json, traces: Option<TraceSettings>) -> Watched {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&Location::Folder(folder.path().to_owned()))
            .await
            .unwrap();
        let telemetry = Telemetry::start(traces.as_ref()).unwrap();
        let script = ScriptedWorld::read(world, || {}).unwrap();
        let engine = Engine::builder()
            .model(telemetry.model(script.model()))
            .world(script.tools())
            .journal(telemetry.journal(Arc::new(store.clone())))
            .build()
            .unwrap();
        let limits = HostLimits::default();
        let host = Host::watched(store, engine, limits, telemetry.clone());
        Watched {
            _folder: folder,
            telemetry,
            host,
        }
    }

    /// Runs a canvas to its end or its question, and gives its id.
    async fn run(&self, canvas: &Json, origin: Origin) -> Arc<str> {
        let bytes = canvas.to_string().into_bytes();
        let document = self
            .host
            .store()
            .put_document(easel_store::Dialect::Canvas, bytes);
        let origin = Origin {
            document: document.await.unwrap(),
            ..origin
        };
        let live = self.host.run(Input::from("hello"), origin).await.unwrap();
        live.end().await;
        live.run().clone()
    }

    fn figures(&self) -> String {
        self.telemetry.metrics().render(&Default::default())
    }
}

/// An agent that calls a tool, and an iteration.
fn busy() -> Json {
    let mut canvas = canvas(&[
        (
            "Agent:A",
            "Agent",
            json!({
                "llm_id": "gpt@openai", "temperature": 0.2, "temperatureEnabled": true,
                "prompts": [{"role": "user", "content": "{sys.query}"}],
                "tools": [{"component_name": "DuckDuckGo", "name": "Web", "params": {}}],
            }),
        ),
        (
            "StringTransform:S",
            "StringTransform",
            json!({"method": "split", "split_ref": "sys.query", "delimiters": ["l"]}),
        ),
        (
            "Iteration:I",
            "Iteration",
            json!({"items_ref": "StringTransform:S@result"}),
        ),
        (
            "Message:M",
            "Message",
            json!({"content": ["{Agent:A@content}"]}),
        ),
    ]);
    let item = json!({
        "obj": {"component_name": "IterationItem", "params": {}},
        "parent_id": "Iteration:I", "downstream": ["Message:Each"], "upstream": [],
    });
    let each = json!({
        "obj": {"component_name": "Message", "params": {"content": ["{IterationItem:T@item}"]}},
        "parent_id": "Iteration:I", "downstream": [], "upstream": ["IterationItem:T"],
    });
    canvas["components"]["IterationItem:T"] = item;
    canvas["components"]["Message:Each"] = each;
    canvas
}

fn world() -> Json {
    json!({"rules": [
        {"match": {"last_role": "tool"}, "reply": "Found it."},
        {"tool_calls": [{"name": "Web", "arguments": {"query": "paint"}}]},
    ]})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_a_trace_of_its_workflow_its_nodes_its_models_and_its_tools() {
    let (collector, address) = Collector::start().await;
    let watched = Watched::over(world(), Some(TraceSettings::to(&address))).await;
    let run = watched
        .run(
            &busy(),
            Origin {
                agent: "a1".into(),
                version: "v1".into(),
                traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".into(),
                ..origin()
            },
        )
        .await;
    watched.telemetry.flush().await;
    let spans = collector.spans();
    let trace = 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c_u128.to_be_bytes();
    assert!(spans.iter().all(|span| span.trace_id == trace));

    let root = named(&spans, "invoke_workflow a1");
    assert_eq!(root.parent_span_id, 0xb7ad_6b71_6920_3331_u64.to_be_bytes());
    let about = attributes(root);
    assert_eq!(about["gen_ai.operation.name"], "invoke_workflow");
    assert_eq!(about["gen_ai.workflow.name"], "a1");
    assert_eq!(about["easel.run.id"], &*run);
    assert_eq!(about["easel.run.state"], "finished");
    assert_eq!(about["easel.agent.version"], "v1");

    let agent = named(&spans, "invoke_agent Agent:A");
    assert_eq!(agent.parent_span_id, root.span_id);
    assert_eq!(attributes(agent)["gen_ai.agent.name"], "Agent:A");

    // It asked twice, and called its tool between.
    let chats: Vec<&Span> = spans
        .iter()
        .filter(|span| span.name == "chat gpt@openai")
        .collect();
    assert_eq!(chats.len(), 2);
    let mut used = (0, 0);
    for chat in &chats {
        assert_eq!(chat.parent_span_id, agent.span_id);
        assert_eq!(chat.kind, SpanKind::Client as i32);
        let about = attributes(chat);
        assert_eq!(about["gen_ai.operation.name"], "chat");
        assert_eq!(about["gen_ai.request.model"], "gpt@openai");
        used.0 += about["gen_ai.usage.input_tokens"].as_i64().unwrap();
        used.1 += about["gen_ai.usage.output_tokens"].as_i64().unwrap();
    }
    assert!(used.0 > 0 && used.1 > 0);
    let about = attributes(root);
    assert_eq!(about["gen_ai.usage.input_tokens"], used.0);
    assert_eq!(about["gen_ai.usage.output_tokens"], used.1);

    let tool = spans
        .iter()
        .find(|span| span.name.starts_with("execute_tool Web"));
    let tool = tool.unwrap();
    assert_eq!(tool.parent_span_id, agent.span_id);
    assert_eq!(attributes(tool)["gen_ai.operation.name"], "execute_tool");

    // What is in an iteration is below it, each pass by itself.
    let iteration = named(&spans, "Iteration:I");
    let each: Vec<&Span> = spans
        .iter()
        .filter(|span| span.name == "Message:Each")
        .collect();
    assert!(each.len() > 1);
    assert!(
        each.iter()
            .all(|span| span.parent_span_id == iteration.span_id)
    );
    assert_eq!(attributes(each[0])["easel.node.scope"], "Iteration:I[0]");
    for span in &spans {
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano);
    }
    let requests = collector.requests.lock().unwrap();
    let scope = &requests[0].resource_spans[0].scope_spans[0];
    assert!(scope.schema_url.ends_with(SEMANTIC_CONVENTIONS));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_turn_of_a_run_is_in_the_trace_of_the_run() {
    let (collector, address) = Collector::start().await;
    let watched = Watched::over(world(), Some(TraceSettings::to(&address))).await;
    let run = watched.run(&form(), origin()).await;
    let answer = Input {
        inputs: [("name".into(), "Ada".into())].into_iter().collect(),
        ..Input::default()
    };
    watched.host.answer(&run, answer).await.unwrap().end().await;
    watched.telemetry.flush().await;
    let spans = collector.spans();
    let id = u128::from_str_radix(&run, 16).unwrap().to_be_bytes();
    assert!(spans.iter().all(|span| span.trace_id == id));
    let roots = spans.iter().filter(|span| span.parent_span_id.is_empty());
    let states: Vec<Json> = roots
        .map(|root| attributes(root)["easel.run.state"].clone())
        .collect();
    assert_eq!(states, ["waiting", "finished"]);
    assert_eq!(
        watched.host.record(&run).await.unwrap().standing.name(),
        "finished"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_told_and_what_was_said_is_not() {
    let (collector, address) = Collector::start().await;
    let secret = "tvly-very-secret";
    let script = json!({"rules": [{"error": format!("the model is broken by {secret}")}]});
    let watched = Watched::over(script, Some(TraceSettings::to(&address))).await;
    let asks = canvas(&[(
        "Agent:A",
        "Agent",
        json!({
            "llm_id": "gpt@openai", "max_retries": 1, "delay_after_error": 0.0,
            "sys_prompt": "the words of the prompt",
            "tools": [{"component_name": "TavilySearch", "params": {"api_key": secret}}],
            "prompts": [{"role": "user", "content": "{sys.query}"}],
        }),
    )]);
    watched.run(&asks, origin()).await;
    watched.telemetry.flush().await;
    let spans = collector.spans();
    let failed: Vec<&Span> = spans
        .iter()
        .filter(|span| span.status.as_ref().is_some_and(|status| status.code == 2))
        .collect();
    let chats = failed.iter().filter(|span| span.name.starts_with("chat"));
    let codes: Vec<Json> = chats
        .map(|chat| attributes(chat)["error.type"].clone())
        .collect();
    assert!(
        !codes.is_empty() && codes.iter().all(|code| code == "model.scripted"),
        "{codes:?}"
    );
    let agent = named(&spans, "invoke_agent Agent:A");
    assert!(attributes(agent).contains_key("error.type"));
    let all = collector.all();
    assert!(all.contains("the model is broken by") && !all.contains(secret));
    assert!(!all.contains("words of the prompt") && !all.contains("hello"));
    let figures = watched.figures();
    assert!(
        figures.contains(r#"easel_runs_finished_total{state="failed"} 1"#),
        "{figures}"
    );
    assert!(figures.contains(r#"outcome="model.scripted""#), "{figures}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_traced_who_does_not_want_to_be() {
    let (collector, address) = Collector::start().await;
    let traces = TraceSettings::to(&address);
    let watched = Watched::over(world(), Some(traces.clone())).await;
    let unwanted = Origin {
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00".into(),
        ..origin()
    };
    watched.run(&echo(), unwanted).await;
    watched.telemetry.flush().await;
    let none = TraceSettings {
        share: 0.0,
        ..traces
    };
    let watched = Watched::over(world(), Some(none)).await;
    watched.run(&echo(), origin()).await;
    watched.telemetry.flush().await;
    assert!(collector.spans().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_away_keeps_no_run_waiting() {
    let traces = TraceSettings::to("http://127.0.0.1:1");
    let watched = Watched::over(world(), Some(traces)).await;
    let run = watched.run(&echo(), origin()).await;
    assert_eq!(
        watched.host.record(&run).await.unwrap().standing.name(),
        "finished"
    );
    watched.telemetry.flush().await;
    let lost = watched.figures();
    let lost = lost
        .lines()
        .find(|line| line.starts_with("easel_spans_lost_total"))
        .unwrap();
    assert!(!lost.ends_with(" 0"), "{lost}");
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_nodes_models_and_commits_are_counted() {
    let watched = Watched::over(world(), None).await;
    watched.run(&busy(), origin()).await;
    watched.run(&form(), origin()).await;
    let figures = watched.figures();
    for line in [
        r#"easel_runs_started_total{trigger="api"} 2"#,
        r#"easel_runs_finished_total{state="finished"} 1"#,
        r#"easel_runs_finished_total{state="failed"} 0"#,
        r#"easel_node_attempts_total{component="Agent",outcome="ok"} 1"#,
        r#"easel_model_calls_total{model="gpt@openai",outcome="ok"} 2"#,
        "easel_turns_in_flight 0",
    ] {
        assert!(figures.contains(line), "{line} in\n{figures}");
    }
    let of = |start: &str| {
        let line = figures.lines().find(|line| line.starts_with(start));
        let line = line.unwrap_or_else(|| panic!("{start} in\n{figures}"));
        line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()
    };
    assert!(of(r#"easel_model_tokens_total{model="gpt@openai",kind="input"}"#) > 0.0);
    assert!(of("easel_journal_commit_seconds_count") > 0.0);
    assert!(of("easel_journal_batch_events_sum") > 0.0);
    assert!(figures.ends_with("# EOF\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_counted_by_route_and_not_by_path() {
    let server = TestServer::start().await;
    let http = client();
    for path in ["/healthz", "/healthz", "/nowhere/1", "/nowhere/2"] {
        http.get(server.url(path)).send().await.unwrap();
    }
    let answer = http.get(server.url("/metrics")).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let kind = answer.headers()["content-type"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(kind.starts_with("application/openmetrics-text"), "{kind}");
    let figures = answer.text().await.unwrap();
    for line in [
        r#"easel_http_requests_total{route="/healthz",method="GET",status="200"} 2"#,
        r#"easel_http_requests_total{route="none",method="GET",status="404"} 2"#,
        r#"easel_runs{state="waiting"} 0"#,
    ] {
        assert!(figures.contains(line), "{line} in\n{figures}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn figures_are_for_those_who_may_read() {
    let server = TestServer::start().await;
    let reader = server.key("ada", &["read"]).await;
    let runner = server.key("ada", &["run"]).await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    let http = client();
    let status = async |key: Option<&str>| {
        let mut request = http.get(server.url("/metrics"));
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(status(Some(&reader)).await, 200);
    assert_eq!(status(Some(&runner)).await, 403);
    assert_eq!(status(None).await, 401);
}

fn client() -> reqwest::Client {
    // Only for plain HTTP, but the client wants to know.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}
