//! A provider made of prepared responses, and what it is asked with.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use easel_models::config::{ProviderConfig, ProviderKind};
use easel_models::{
    ChatModel, ChatReply, ChatRequest, HttpModel, Message, ModelError, ModelEvent, collect,
};
use easel_secrets::{Resolver, Secret};
use futures::{StreamExt, stream};
use serde_json::Value as Json;
use tokio::net::TcpListener;

/// The key that the models of these tests send.
pub const KEY: &str = "sk-very-secret-key";

/// In place of a status: never answer.
const SILENCE: u16 = 0;

/// What the server does next while it answers.
#[derive(Clone, Debug)]
pub enum Step {
    Send(Vec<u8>),
    /// Says nothing for ever.
    Hang,
    /// Closes the connection in the middle of the body.
    BreakOff,
}

/// A prepared response.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub steps: Vec<Step>,
}

impl Prepared {
    pub fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Prepared {
        Prepared {
            status,
            headers: vec![("content-type", kind.to_owned())],
            steps: vec![Step::Send(body.into())],
        }
    }

    /// A stream of server-sent events with this data.
    pub fn events<D: ToString>(data: impl IntoIterator<Item = D>) -> Prepared {
        let body: String = data
            .into_iter()
            .map(|data| format!("data: {}\n\n", data.to_string()))
            .collect();
        Prepared::new(200, "text/event-stream", body)
    }

    /// A stream of lines.
    pub fn lines(lines: impl IntoIterator<Item = Json>) -> Prepared {
        let body: String = lines.into_iter().map(|line| format!("{line}\n")).collect();
        Prepared::new(200, "application/x-ndjson", body)
    }

    pub fn json(status: u16, body: Json) -> Prepared {
        Prepared::new(status, "application/json", body.to_string())
    }

    /// No response at all: the request is read, and nothing follows.
    pub fn silence() -> Prepared {
        Prepared::new(SILENCE, "", "")
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Prepared {
        self.headers.push((name, value.into()));
        self
    }

    pub fn then(mut self, step: Step) -> Prepared {
        self.steps.push(step);
        self
    }
}

/// A request that the server got.
#[derive(Clone, Debug)]
pub struct Got {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Json,
}

#[derive(Default)]
struct Told {
    responses: Mutex<VecDeque<Prepared>>,
    got: Mutex<Vec<Got>>,
    dropped: Mutex<bool>,
}

/// A server on a port of its own.
pub struct Server {
    told: Arc<Told>,
    address: String,
}

impl Server {
    pub async fn start(responses: impl IntoIterator<Item = Prepared>) -> Server {
        let told = Arc::new(Told {
            responses: Mutex::new(responses.into_iter().collect()),
            ..Told::default()
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let app = Router::new().fallback(answer).with_state(Arc::clone(&told));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Server { told, address }
    }

    /// The settings of a provider that is this server: impatient, so that no test waits.
    pub fn config(&self, kind: ProviderKind) -> ProviderConfig {
        ProviderConfig {
            base_url: Some(format!("http://{}/base", self.address)),
            key: Some("TEST_KEY".to_owned()),
            retry_delay_s: Duration::from_millis(1),
            retry_delay_cap_s: Duration::from_secs(2),
            read_timeout_s: Duration::from_secs(5),
            timeout_s: Duration::from_secs(10),
            ..ProviderConfig::new(kind)
        }
    }

    pub fn model(&self, kind: ProviderKind) -> HttpModel {
        connect(self.config(kind))
    }

    /// The requests so far.
    pub fn got(&self) -> Vec<Got> {
        self.told.got.lock().unwrap().clone()
    }

    /// The client went away before the end of an answer.
    pub fn was_dropped(&self) -> bool {
        *self.told.dropped.lock().unwrap()
    }
}

async fn answer(State(told): State<Arc<Told>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    told.got.lock().unwrap().push(Got {
        path: parts.uri.to_string(),
        headers: parts.headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    });
    let next = told.responses.lock().unwrap().pop_front();
    let prepared =
        next.unwrap_or_else(|| Prepared::new(418, "text/plain", "no response is prepared"));
    if prepared.status == SILENCE {
        std::future::pending::<()>().await;
    }
    let mut response = Response::builder().status(StatusCode::from_u16(prepared.status).unwrap());
    for (name, value) in prepared.headers {
        response = response.header(name, value);
    }
    let watch = Watch {
        told,
        finished: false,
    };
    let steps = stream::unfold(
        (prepared.steps.into_iter(), watch),
        |(mut steps, mut watch)| async move {
            // Pieces go out one by one, not in one segment.
            tokio::time::sleep(Duration::from_millis(1)).await;
            let Some(step) = steps.next() else {
                watch.finish();
                return None;
            };
            let item = match step {
                Step::Send(bytes) => Ok(Bytes::from(bytes)),
                Step::Hang => std::future::pending::<Result<Bytes, std::io::Error>>().await,
                Step::BreakOff => {
                    watch.finish();
                    Err(std::io::Error::other("as the test wants"))
                }
            };
            Some((item, (steps, watch)))
        },
    );
    response.body(Body::from_stream(steps)).unwrap()
}

/// Notices when an answer is dropped before its end.
struct Watch {
    told: Arc<Told>,
    finished: bool,
}

impl Watch {
    fn finish(&mut self) {
        self.finished = true;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        *self.told.dropped.lock().unwrap() |= !self.finished;
    }
}

pub fn connect(config: ProviderConfig) -> HttpModel {
    let secrets = HashMap::from([("TEST_KEY".to_owned(), Secret::new(KEY))]);
    HttpModel::new("Test", config, Resolver::from(secrets)).unwrap()
}

pub fn ask(text: &str) -> ChatRequest {
    ChatRequest {
        model: "m".into(),
        messages: vec![Message::system("Be brief."), Message::user(text)],
        stream: true,
        ..ChatRequest::default()
    }
}

pub async fn reply(model: &HttpModel, request: ChatRequest) -> Result<ChatReply, ModelError> {
    collect(model.chat(request)).await
}

pub async fn events(
    model: &HttpModel,
    request: ChatRequest,
) -> Vec<Result<ModelEvent, ModelError>> {
    model.chat(request).collect().await
}

/// The answer of a model of this kind to one prepared response.
pub async fn replied(kind: ProviderKind, prepared: Prepared) -> Result<ChatReply, ModelError> {
    let server = Server::start([prepared]).await;
    reply(&server.model(kind), ask("hi")).await
}

/// What a model of this kind sends for a request.
pub async fn sent(config: impl FnOnce(&Server) -> ProviderConfig, request: ChatRequest) -> Got {
    let server = Server::start([]).await;
    let model = connect(config(&server));
    // Nothing is prepared, so the answer is a refusal.
    let _ = reply(&model, request).await;
    server.got().remove(0)
}
