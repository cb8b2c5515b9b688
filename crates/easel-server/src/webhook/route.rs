//! The routes: the public one, and the owner's for tests.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Path, Request as HttpRequest, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, get, on};
use easel_runtime::{Ending, Input, Origin, Value};
use easel_store::{AgentRecord, Dialect};
use serde_json::{Value as Json, json};

use super::request::{content_type, file_content};
use super::{
    Caller as Peer, Cleaned, Config, Keyring, Mode, Refusal, Request, Said, read_body, trace,
};
use crate::App;
use crate::auth::{Caller, Scope};
use crate::host::{Events, HostError, Live};

/// `/api/v1/agents/{id}/webhook` for everybody whom the webhook itself lets in, and `…/webhook/test` and `…/webhook/logs`
/// for the owner.
pub fn routes() -> Router<Arc<App>> {
    let methods = MethodFilter::GET
        .or(MethodFilter::HEAD)
        .or(MethodFilter::POST)
        .or(MethodFilter::PUT)
        .or(MethodFilter::PATCH)
        .or(MethodFilter::DELETE);
    Router::new()
        .route("/api/v1/agents/{id}/webhook", on(methods, call))
        .route("/api/v1/agents/{id}/webhook/test", on(methods, test))
        .route("/api/v1/agents/{id}/webhook/logs", get(trace::logs))
}

/// What started the runs of the two routes.
pub(super) const TRIGGER: &str = "webhook";
pub(super) const TEST_TRIGGER: &str = "webhook_test";

/// Why a request got no run.
pub(super) enum Refused {
    /// By the webhook.
    Webhook(Refusal),
    /// By the host.
    Host(HostError),
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        Refused::Webhook(refusal)
    }
}

impl<E: Into<HostError>> From<E> for Refused {
    fn from(error: E) -> Refused {
        Refused::Host(error.into())
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        match self {
            Refused::Webhook(refusal) => {
                if let Some(cause) = refusal.cause() {
                    eprintln!("easel: a webhook was refused: {cause}");
                }
                refusal.into_response()
            }
            Refused::Host(error) => {
                let (status, told) = match &error {
                    HostError::Full(_) | HostError::Stopping => {
                        (StatusCode::SERVICE_UNAVAILABLE, error.to_string())
                    }
                    HostError::Load(_) => {
                        (StatusCode::BAD_REQUEST, "Invalid DSL format.".to_owned())
                    }
                    HostError::Turn(_) => (StatusCode::BAD_REQUEST, error.to_string()),
                    // What is wrong inside is nobody's business outside.
                    error => {
                        eprintln!("easel: a webhook failed: {error}");
                        let told = "The server cannot answer now; try again in a moment.";
                        (StatusCode::SERVICE_UNAVAILABLE, told.to_owned())
                    }
                };
                let body = json!({"code": status.as_u16(), "message": told});
                (status, axum::Json(body)).into_response()
            }
        }
    }
}

/// Which document of an agent a request goes to.
struct Target {
    agent: AgentRecord,
    version: Arc<str>,
    document: Arc<str>,
}

async fn call(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    request: HttpRequest,
) -> Response {
    match public(&app, &id, request).await {
        Ok(response) => response,
        Err(refused) => refused.into_response(),
    }
}

async fn public(app: &Arc<App>, id: &str, request: HttpRequest) -> Result<Response, Refused> {
    let agent = agent(app, id).await?;
    let released = app.host.store().released_version(id).await?;
    let (version, document) = match released {
        Some(version) => (version.id, version.document),
        None => (Arc::from(""), agent.document.clone()),
    };
    let target = Target {
        agent,
        version,
        document,
    };
    answer(app, target, None, request).await
}

async fn test(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
    request: HttpRequest,
) -> Response {
    let agent = match owned(&app, &id, &caller).await {
        Ok(agent) => agent,
        Err(response) => return response,
    };
    if let Err(refused) = caller.may(Scope::Run) {
        return refused.into_response();
    }
    let target = Target {
        version: "".into(),
        document: agent.document.clone(),
        agent,
    };
    match answer(&app, target, Some(&caller), request).await {
        Ok(response) => response,
        Err(refused) => refused.into_response(),
    }
}

async fn agent(app: &App, id: &str) -> Result<AgentRecord, Refused> {
    let agent = app.host.store().agent(id).await?;
    let agent = agent.ok_or_else(|| Refusal::new("Canvas not found."))?;
    if &*agent.category == "dataflow_canvas" {
        return Err(Refusal::new("Dataflow can not be triggered by webhook.").into());
    }
    Ok(agent)
}

/// The agent, for its owner; for all others the answer they get.
pub(super) async fn owned(app: &App, id: &str, caller: &Caller) -> Result<AgentRecord, Response> {
    let store = app.host.store();
    let unknown = || Refusal::new("Canvas not found.").into_response();
    let agent = agent(app, id).await.map_err(IntoResponse::into_response)?;
    if caller.owns(&agent.owner) {
        return Ok(agent);
    }
    match caller.may_use(&agent, store).await {
        Ok(true) => {
            let told = "Only the owner of the agent is authorized for this operation.";
            Err(axum::Json(json!({"code": 103, "message": told, "data": false})).into_response())
        }
        Ok(false) => Err(unknown()),
        Err(error) => Err(Refused::from(error).into_response()),
    }
}

/// Checks a request, and starts a run with it. Whoever tests has proved more than the webhook's credentials would.
async fn answer(
    app: &Arc<App>,
    target: Target,
    tester: Option<&Caller>,
    request: HttpRequest,
) -> Result<Response, Refused> {
    let host = &app.host;
    if target.agent.dialect == Dialect::Graph {
        return Err(Refusal::new("Webhook not configured for this agent.").into());
    }
    let workflow = host.workflow(&target.document).await?;
    let config = Config::of(&workflow)?;
    let (parts, body) = request.into_parts();
    config.admit_method(&parts.method)?;
    let security = config.security.as_ref().map_err(Clone::clone)?;
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let peer = Peer {
        peer: peer.map_or(IpAddr::from([0, 0, 0, 0]), |ConnectInfo(peer)| peer.ip()),
        headers: &parts.headers,
    };
    let bucket = match tester {
        Some(_) => format!("{}/test", target.agent.id),
        None => target.agent.id.to_string(),
    };
    security.admit(&bucket, peer, &app.webhooks, Instant::now())?;
    let proof = match tester {
        Some(_) => Some(header::AUTHORIZATION),
        None => {
            let keyring = Keyring::new(&config.node, host.engine().secrets());
            security.prove(&parts.headers, &keyring)?
        }
    };
    if let Some(refusal) = workflow.refusals().next() {
        return Err(Refusal::new(refusal.to_string()).into());
    }
    let (request, cleaned) = parsed(&config, &parts, proof.as_ref(), body).await?;
    let reply = match &config.mode {
        Mode::Immediately(reply) => Some(reply.clone()?),
        Mode::Streaming => None,
    };
    let files = request.uploads.iter().map(file_content);
    let files: Vec<Value> = files.collect::<Result<_, Refusal>>()?;
    let input = Input {
        user: Some(target.agent.owner.clone()),
        webhook: Some(request.into_turn(cleaned, &files)),
        ..Input::default()
    };
    let live = host
        .run(input, origin(&target, tester, &parts.headers))
        .await?;
    match reply {
        // Once the journal has the request it is not lost, whatever happens to this process.
        Some(reply) if live.accepted().await => Ok(reply.into_response()),
        _ => said(app, &live).await,
    }
}

async fn parsed(
    config: &Config,
    parts: &Parts,
    proof: Option<&HeaderName>,
    body: Body,
) -> Result<(Request, Cleaned), Refused> {
    let security = config.security.as_ref().map_err(Clone::clone)?;
    config.admit_content_type(&content_type(&parts.headers))?;
    let body = read_body(body, security.body_limit).await?;
    let query = parts.uri.query().unwrap_or_default();
    let request = Request::parse(query, &parts.headers, proof, body).await?;
    let cleaned = config.schema.project(&request)?;
    Ok((request, cleaned))
}

fn origin(target: &Target, tester: Option<&Caller>, headers: &HeaderMap) -> Origin {
    let traceparent = headers.get("traceparent").and_then(|h| h.to_str().ok());
    Origin {
        document: target.document.clone(),
        agent: target.agent.id.clone(),
        version: target.version.clone(),
        owner: target.agent.owner.clone(),
        user: target.agent.owner.clone(),
        key: tester.map(|tester| tester.key.clone()).unwrap_or_default(),
        trigger: match tester {
            Some(_) => TEST_TRIGGER.into(),
            None => TRIGGER.into(),
        },
        traceparent: traceparent.unwrap_or_default().into(),
        ..Origin::default()
    }
}

/// What a run said, once its turn is over.
async fn said(app: &Arc<App>, live: &Arc<Live>) -> Result<Response, Refused> {
    let mut events = Events::of(app.host.clone(), live.clone());
    let mut said = Said::default();
    while let Some(event) = events.next().await? {
        said.hear(event.name(), event.data());
    }
    let end = live.end().await;
    Ok(match &end.ending {
        Ok(Ending::Failed { fault, .. }) => Said::failure(&fault.message),
        Ok(Ending::Cancelled) => Said::failure("The run was cancelled."),
        Ok(_) => said.answer(),
        Err(error) => Said::failure(&error.to_string()),
    })
}

impl Said {
    /// Takes in an event of the run.
    pub fn hear(&mut self, name: &str, data: &str) {
        if !matches!(name, "message" | "message_end" | "message_reset") {
            return;
        }
        let data: Json = serde_json::from_str(data).unwrap_or_default();
        let is = |flag: &str| data.get(flag).and_then(Json::as_bool) == Some(true);
        match name {
            "message" if is("start_to_think") => self.think(),
            "message" if is("end_to_think") => self.thought(),
            "message" => self.text(
                data.get("content")
                    .and_then(Json::as_str)
                    .unwrap_or_default(),
            ),
            "message_reset" => self.reset(),
            _ => self.end(data.get("status").map(Value::from).as_ref()),
        }
    }
}
