//! The agents of this server: they are in the store, and run in the host.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use easel_runtime::core::draft::EffectClass;
use easel_runtime::{Input, Logged, Object, Origin, Timestamp, Value, Workflow};
use easel_store::{AgentFilter, AgentRecord, PageNumber, RunRecord};
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::Value as Json;

use super::agents::{Agent, Agents, Answer, Call, Look, Outcome, Question, Refusal, Running, Step};
use super::{Options, schema};
use crate::App;
use crate::auth::{Caller, Scope};
use crate::host::{Events, Host, HostError, Live};

/// Agents of one caller that are tools. More are not: no model chooses among so many.
const MOST: u32 = 1_000;

/// How soon it is looked again how a run stands that is not seen here, at first and at last.
const FIRST_LOOK: Duration = Duration::from_millis(10);
const LAST_LOOK: Duration = Duration::from_secs(1);

/// The route `/mcp`. Who asks is found out before anything of the protocol is read.
pub fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    let settings = &app.settings;
    let mut options = Options {
        body: settings.body_limit,
        // The doorkeeper lets nobody in without a key who does not name a loopback host.
        hosts: Vec::new(),
        closing: app.closing.clone(),
        ..Options::default()
    };
    options.origins.extend(settings.cors.iter().cloned());
    let agents = Arc::new(Hosted(app.host.clone()));
    let known = middleware::from_fn_with_state(app.clone(), let_in);
    super::router(agents, &options).layer(known).with_state(())
}

/// Refuses strangers; the caller of others is in the request's extensions.
async fn let_in(State(_): State<Arc<App>>, _: Caller, request: Request, next: Next) -> Response {
    next.run(request).await
}

/// The agents of a host.
pub struct Hosted(Arc<Host>);

impl From<HostError> for Refusal {
    fn from(error: HostError) -> Refusal {
        let text: Arc<str> = error.to_string().into();
        match error {
            HostError::NoRun(run) => Refusal::UnknownRun(run.into()),
            HostError::NotWaiting { run, state } | HostError::NothingToDrive { run, state } => {
                Refusal::NotWaiting {
                    run: run.into(),
                    state: state.into(),
                }
            }
            HostError::Elsewhere(run) => Refusal::NotWaiting {
                run: run.into(),
                state: "running".into(),
            },
            HostError::Full(_) | HostError::Stopping | HostError::Busy(_) => Refusal::Busy(text),
            HostError::Turn(_) | HostError::Load(_) => Refusal::Arguments(text),
            _ => Refusal::Broken(text),
        }
    }
}

impl From<easel_store::StoreError> for Refusal {
    fn from(error: easel_store::StoreError) -> Refusal {
        HostError::from(error).into()
    }
}

impl Hosted {
    /// A run of the caller's own.
    async fn record(&self, caller: &Caller, run: &str) -> Result<RunRecord, Refusal> {
        let record = self.0.store().run(run).await?;
        let record = record.filter(|record| caller.owns(&record.origin.owner));
        record.ok_or_else(|| Refusal::UnknownRun(run.into()))
    }

    /// The agents that a caller may use and that have a released version.
    async fn released(&self, caller: &Caller) -> Result<Vec<AgentRecord>, Refusal> {
        let filter = AgentFilter {
            visible_to: Some(caller.owner.to_string()),
            released: true,
            page: PageNumber {
                page: 1,
                size: MOST,
            },
            ..AgentFilter::default()
        };
        Ok(self.0.store().agents(&filter).await?.items)
    }

    /// An agent as clients are told of it; `None` if what was released cannot be read.
    async fn described(&self, record: AgentRecord) -> Result<Option<Agent>, Refusal> {
        let version = self.0.store().released_version(&record.id).await?;
        let Some(version) = version else {
            return Ok(None);
        };
        let Ok(workflow) = self.0.workflow(&version.document).await else {
            return Ok(None);
        };
        Ok(Some(Agent {
            id: record.id,
            title: record.title,
            description: match version.description.trim().is_empty() {
                true => record.description,
                false => version.description,
            },
            inputs: workflow.inputs(),
            reads_only: reads_only(&workflow),
        }))
    }

    /// The inputs of a run, with uploaded files where ids of files were given.
    async fn with_files(
        &self,
        caller: &Caller,
        declared: &Object,
        mut given: Object,
    ) -> Result<Object, Refusal> {
        for key in schema::files(declared) {
            let Some(id) = given.get(&key).and_then(Value::as_str).map(str::to_owned) else {
                continue;
            };
            let file = self.0.store().file(&id).await?;
            let Some(file) = file.filter(|file| caller.owns(&file.owner)) else {
                let text =
                    format!("`{key}`: there is no file {id}. Upload it first, and give its id.");
                return Err(Refusal::Arguments(text.into()));
            };
            let descriptor = serde_json::json!({
                "id": &*file.id,
                "name": &*file.name,
                "mime_type": &*file.mime,
                "created_by": &*file.owner,
            });
            let field = serde_json::json!({"type": "file", "value": descriptor});
            given.insert(key, Value::from(field));
        }
        Ok(given)
    }

    fn running(&self, live: Arc<Live>) -> Running {
        Running {
            run: live.run().clone(),
            steps: steps(self.0.clone(), live),
        }
    }

    /// Waits for what a run comes to that is not seen here: it is about to be taken up, or another worker drives it.
    async fn stopped(&self, run: &str) -> Outcome {
        let mut pause = FIRST_LOOK;
        loop {
            if let Some(live) = self.0.live(run) {
                live.end().await;
            }
            let outcome = match self.0.record(run).await {
                Ok(record) => self.came_to(&record).await,
                Err(error) => Err(error.into()),
            };
            match outcome {
                Ok(Some(outcome)) => return outcome,
                Ok(None) => tokio::time::sleep(pause).await,
                Err(refusal) => {
                    return Outcome::Failed {
                        why: refusal.to_string().into(),
                    };
                }
            }
            pause = (pause * 2).min(LAST_LOOK);
        }
    }

    /// What a run came to that nobody drives.
    async fn came_to(&self, record: &RunRecord) -> Result<Option<Outcome>, Refusal> {
        let mut said = Said::default();
        if record.standing.is_over() || record.standing.name() == "waiting" {
            for event in self.0.log(&record.id, None).await? {
                said.hear(&event);
            }
        }
        Ok(Outcome::of(&record.standing, &said.text(), record.entries))
    }
}

/// Whether nothing that a workflow may do changes anything outside. Of an agent, what it may do is not in its file.
fn reads_only(workflow: &Workflow) -> bool {
    let nodes = &workflow.compiled().nodes;
    nodes.iter().all(|node| {
        let draft = &node.draft;
        draft.effect != EffectClass::Writes && !crate::telemetry::is_agent(&draft.component)
    })
}

impl Agents for Hosted {
    type Caller = Caller;

    fn identity(&self, caller: &Caller) -> Arc<str> {
        match caller.key.is_empty() {
            true => caller.owner.clone(),
            false => caller.key.clone(),
        }
    }

    async fn agents(&self, caller: &Caller) -> Result<Vec<Agent>, Refusal> {
        may(caller, Scope::Read)?;
        let mut agents = Vec::new();
        for record in self.released(caller).await? {
            agents.extend(self.described(record).await?);
        }
        Ok(agents)
    }

    async fn start(&self, caller: &Caller, call: Call) -> Result<Running, Refusal> {
        may(caller, Scope::Run)?;
        let store = self.0.store();
        let unknown = || Refusal::Arguments("The agent is not there any more.".into());
        let agent = store.agent(&call.agent).await?.ok_or_else(unknown)?;
        if !caller.may_use(&agent, store).await? {
            return Err(unknown());
        }
        let version = store
            .released_version(&agent.id)
            .await?
            .ok_or_else(unknown)?;
        let workflow = self.0.workflow(&version.document).await?;
        let inputs = self
            .with_files(caller, &workflow.inputs(), call.inputs)
            .await?;
        let input = Input {
            query: match call.query.is_empty() {
                true => Value::Null,
                false => Value::from(call.query),
            },
            inputs,
            user: Some(caller.owner.clone()),
            ..Input::default()
        };
        let origin = Origin {
            document: version.document,
            agent: agent.id,
            version: version.id,
            session: None,
            owner: caller.owner.clone(),
            user: caller.owner.clone(),
            key: caller.key.clone(),
            trigger: "mcp".into(),
            traceparent: call.traceparent,
        };
        let live = self.0.run(input, origin).await?;
        accepted(&live).await?;
        Ok(self.running(live))
    }

    async fn resume(&self, caller: &Caller, answer: Answer) -> Result<Running, Refusal> {
        may(caller, Scope::Run)?;
        let record = self.record(caller, &answer.run).await?;
        let open = Outcome::of(&record.standing, "", record.entries);
        let Some(Outcome::Waiting(Question { number, fields, .. })) = open else {
            return Err(not_waiting(&record));
        };
        if answer.question.is_some_and(|question| question != number) {
            return Err(not_waiting(&record));
        }
        if !answer.fields.keys().any(|key| fields.contains_key(key)) {
            return Err(Refusal::Unfit(fields.keys().cloned().collect()));
        }
        let input = Input {
            inputs: self.with_files(caller, &fields, answer.fields).await?,
            ..Input::default()
        };
        let live = self.0.answer_to(&record.id, Some(number), input).await?;
        accepted(&live).await?;
        Ok(self.running(live))
    }

    async fn follow(&self, caller: &Caller, run: &str) -> Result<Running, Refusal> {
        may(caller, Scope::Read)?;
        let record = self.record(caller, run).await?;
        if let Some(live) = self.0.live(run) {
            return Ok(self.running(live));
        }
        let hosted = Hosted(self.0.clone());
        let id = record.id.clone();
        let stopped = async move { hosted.stopped(&id).await };
        Ok(Running {
            run: record.id,
            steps: stream::once(stopped).map(Step::Stopped).boxed(),
        })
    }

    async fn look(&self, caller: &Caller, run: &str) -> Result<Look, Refusal> {
        may(caller, Scope::Read)?;
        let record = self.record(caller, run).await?;
        Ok(Look {
            outcome: self.came_to(&record).await?,
            created: Timestamp(record.created),
            updated: Timestamp(record.updated),
        })
    }

    async fn cancel(&self, caller: &Caller, run: &str) -> Result<(), Refusal> {
        may(caller, Scope::Run)?;
        self.record(caller, run).await?;
        self.0.cancel(run).await?;
        Ok(())
    }
}

fn may(caller: &Caller, scope: Scope) -> Result<(), Refusal> {
    let allowed = caller.may(scope);
    allowed.map_err(|refused| Refusal::Forbidden(refused.to_string().into()))
}

fn not_waiting(record: &RunRecord) -> Refusal {
    Refusal::NotWaiting {
        run: record.id.clone(),
        state: record.standing.name().into(),
    }
}

/// Waits until a turn is safe.
async fn accepted(live: &Arc<Live>) -> Result<(), Refusal> {
    if live.accepted().await {
        return Ok(());
    }
    let end = live.end().await;
    match &end.ending {
        Err(error) => Err(Refusal::Arguments(error.to_string().into())),
        Ok(_) => Ok(()),
    }
}

/// What happens in a turn, and what the run came to at its end.
fn steps(host: Arc<Host>, live: Arc<Live>) -> BoxStream<'static, Step> {
    struct Following {
        host: Arc<Host>,
        live: Arc<Live>,
        events: Events,
        said: Said,
    }
    let events = Events::of(host.clone(), live.clone());
    let following = Following {
        host,
        live,
        events,
        said: Said::default(),
    };
    let steps = stream::unfold(Some(following), |following| async {
        let mut following = following?;
        // What cannot be read any more is known at the end.
        while let Ok(Some(event)) = following.events.next().await {
            following.said.hear(&event);
            if let Some(step) = Step::of(&event) {
                return Some((step, Some(following)));
            }
        }
        let end = following.live.end().await;
        let record = following.host.record(following.live.run()).await;
        let entries = record.map_or(0, |record| record.entries);
        let outcome = Outcome::of(&end.standing, &following.said.text(), entries);
        let outcome = outcome.unwrap_or_else(|| Outcome::Failed {
            why: match &end.ending {
                Err(error) => error.to_string().into(),
                Ok(_) => "The server stopped. The run goes on when it is back.".into(),
            },
        });
        Some((Step::Stopped(outcome), None))
    });
    steps.boxed()
}

/// What a run says, as it is heard.
#[derive(Default)]
struct Said {
    whole: Vec<String>,
    open: String,
    thinking: bool,
}

impl Said {
    fn hear(&mut self, event: &Logged) {
        match event.name() {
            "message" => {
                let Ok(data) = serde_json::from_str::<Json>(event.data()) else {
                    return;
                };
                let flag = |name: &str| data.get(name).and_then(Json::as_bool).unwrap_or_default();
                if flag("start_to_think") {
                    self.thinking = true;
                }
                let content = data.get("content").and_then(Json::as_str);
                if !self.thinking {
                    self.open.push_str(content.unwrap_or_default());
                }
                if flag("end_to_think") {
                    self.thinking = false;
                }
            }
            "message_end" => {
                let whole = std::mem::take(&mut self.open);
                self.whole
                    .extend(Some(whole).filter(|whole| !whole.trim().is_empty()));
            }
            "message_reset" => {
                self.open.clear();
                self.thinking = false;
            }
            _ => {}
        }
    }

    fn text(&self) -> String {
        let open = Some(&self.open).filter(|open| !open.trim().is_empty());
        let all: Vec<&str> = self.whole.iter().chain(open).map(String::as_str).collect();
        all.join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(events: &[Json]) -> String {
        let mut said = Said::default();
        for event in events {
            said.hear(&Logged {
                id: Default::default(),
                json: event.to_string().into(),
            });
        }
        said.text()
    }

    fn piece(content: &str) -> Json {
        json!({"event": "message", "data": {"content": content}})
    }

    fn end() -> Json {
        json!({"event": "message_end", "data": {}})
    }

    #[test]
    fn messages_are_heard_without_thoughts_and_lost_attempts() {
        let think = |mark: &str| json!({"event": "message", "data": {"content": "", mark: true}});
        let reset = json!({"event": "message_reset", "data": {}});
        let events = [
            think("start_to_think"),
            piece("hm"),
            think("end_to_think"),
            piece("Hel"),
            reset,
            piece("Hello"),
            piece("!"),
            end(),
            piece("And more."),
            end(),
        ];
        assert_eq!(said(&events), "Hello!\n\nAnd more.");
    }
}
