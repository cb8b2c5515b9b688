//! The server: agents as tools.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::request::Parts;
use easel_runtime::Object;
use futures::StreamExt;
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams,
    CancelledNotificationParam, GetTaskParams, GetTaskResult, Implementation, InputResponses,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, RequestId, ServerCapabilities, ServerConfig, Tool, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::agents::{Agents, Answer, Call, Outcome, Question, Refusal, Running, Step};
use super::ask::{self, Asked};
use super::names::{Named, Names, RESUME};
use super::{schema, tell, tools};

/// Tools of one page of a list.
const PAGE: usize = 100;

/// How long a client may take a list of tools as fresh.
const LIST_FRESH: Duration = Duration::from_secs(30);

/// How long the word that a client cancelled may come after the sign of it.
const WORD_OF_CANCEL: Duration = Duration::from_secs(1);

/// Questions of one call that are passed on to the user of a client that waits in the call.
const MOST_QUESTIONS: usize = 100;

/// An MCP server of somebody's agents, for one session of a client.
pub struct McpServer<A: Agents> {
    agents: Arc<A>,
    patience: Duration,
    closing: CancellationToken,
    /// The calls under way, by the client's number.
    calls: Mutex<HashMap<RequestId, CancellationToken>>,
}

/// What a client can do.
struct Client {
    /// True if it speaks 2026-07-28 or later: no sessions, and a question is a result.
    modern: bool,
    /// True if it can show its user a form.
    forms: bool,
    /// True if it can follow a task.
    tasks: bool,
    progress: Option<ProgressToken>,
}

impl Client {
    fn of(context: &RequestContext<RoleServer>) -> Client {
        let version = context.protocol_version();
        let version = version.as_ref().map_or("", ProtocolVersion::as_str);
        let can = context.client_capabilities().unwrap_or_default();
        let tasks = can.supports_tasks();
        let forms = can
            .elicitation
            .is_some_and(|can| can.form.is_some() || can.url.is_none());
        Client {
            // Versions are dates.
            modern: version >= ProtocolVersion::V_2026_07_28.as_str(),
            forms,
            tasks,
            progress: context.meta.get_progress_token(),
        }
    }
}

/// What came of following a run.
enum Followed {
    Stopped(Outcome),
    /// It takes longer than the client should wait in one call.
    Long,
}

impl<A: Agents> McpServer<A> {
    /// A server for one session. `patience` is how long a call lasts before it becomes a task, for clients that follow
    /// tasks; once `closing` is cancelled, clients that go away leave their runs going.
    pub fn new(agents: Arc<A>, patience: Duration, closing: CancellationToken) -> McpServer<A> {
        McpServer {
            agents,
            patience,
            closing,
            calls: Mutex::default(),
        }
    }

    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<A::Caller, ErrorData> {
        let parts = context.extensions.get::<Parts>();
        let caller = parts.and_then(|parts| parts.extensions.get::<A::Caller>());
        caller
            .cloned()
            .ok_or_else(|| ErrorData::internal_error("The request came without a caller.", None))
    }

    /// Starts what a tool stands for.
    async fn begin(
        &self,
        caller: &A::Caller,
        name: &str,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Result<Running, Refusal>, ErrorData> {
        let agents = self.agents.agents(caller).await.map_err(tell::protocol)?;
        let names = Names::of(&agents);
        let agent = match names.find(name) {
            Named::Agent(agent) => agent,
            Named::Several(names) => {
                let names = names.join(", ");
                let text = format!("Several agents are called `{name}`. Call one of: {names}.");
                return Err(ErrorData::invalid_params(text, None));
            }
            Named::Nobody => {
                let text = format!("Unknown tool: {name}");
                return Err(ErrorData::invalid_params(text, None));
            }
        };
        let arguments = request.arguments.clone().unwrap_or_default();
        if let Err(why) = schema::check(&schema::of_inputs(&agent.inputs), &arguments) {
            return Ok(Err(Refusal::Arguments(why.into())));
        }
        let mut call = Call {
            agent: agent.id.clone(),
            traceparent: traceparent(context),
            ..Call::default()
        };
        match agent.inputs.is_empty() {
            true => {
                let query = arguments
                    .get(schema::QUERY)
                    .and_then(|query| query.as_str());
                call.query = query.unwrap_or_default().into();
            }
            false => call.inputs = schema::inputs(arguments),
        }
        Ok(self.agents.start(caller, call).await)
    }

    /// Goes on with a run whose question the client was given as a result.
    async fn again(
        &self,
        caller: &A::Caller,
        state: &str,
        responses: Option<&InputResponses>,
    ) -> Result<Running, ErrorData> {
        let Some((run, number)) = ask::read_state(state) else {
            let text = "The requestState is not one that this server gave.";
            return Err(ErrorData::invalid_params(text, None));
        };
        let look = self
            .agents
            .look(caller, run)
            .await
            .map_err(tell::protocol)?;
        if let Some(Outcome::Waiting(question)) = look.outcome
            && question.number == number
        {
            match ask::responded(&question, responses)? {
                Some(Asked::Answered(fields)) => {
                    let resumed = self.resume(caller, run, Some(number), fields).await;
                    return resumed.map_err(tell::protocol);
                }
                Some(Asked::Declined) => {
                    self.agents
                        .cancel(caller, run)
                        .await
                        .map_err(tell::protocol)?;
                }
                Some(Asked::Dismissed) | None => {}
            }
        }
        let followed = self.agents.follow(caller, run).await;
        followed.map_err(tell::protocol)
    }

    /// Answers a run. One that was answered by somebody else meanwhile is followed.
    async fn resume(
        &self,
        caller: &A::Caller,
        run: &str,
        question: Option<u64>,
        fields: Object,
    ) -> Result<Running, Refusal> {
        let answer = Answer {
            run: run.into(),
            question,
            fields,
        };
        match self.agents.resume(caller, answer).await {
            Err(Refusal::NotWaiting { .. }) if question.is_some() => {
                self.agents.follow(caller, run).await
            }
            resumed => resumed,
        }
    }

    /// The tool that answers a run.
    async fn answer(
        &self,
        caller: &A::Caller,
        request: &CallToolRequestParams,
    ) -> Result<Running, Refusal> {
        let arguments = request.arguments.clone().unwrap_or_default();
        schema::check(&tools::resume_schema(), &arguments)
            .map_err(|why| Refusal::Arguments(why.into()))?;
        let run = arguments.get("run").and_then(|run| run.as_str());
        let answers = arguments
            .get("answers")
            .and_then(|answers| answers.as_object());
        let answer = Answer {
            run: run.unwrap_or_default().into(),
            question: None,
            fields: schema::inputs(answers.cloned().unwrap_or_default()),
        };
        self.agents.resume(caller, answer).await
    }

    /// Follows a run until there is something to tell the client.
    async fn attend(
        &self,
        caller: &A::Caller,
        mut running: Running,
        mut early: Option<InputResponses>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = Client::of(context);
        let run = running.run.clone();
        let mut count = 0;
        for _ in 0..MOST_QUESTIONS {
            let followed = self.follow(caller, &mut running, &client, &mut count, context);
            let outcome = match followed.await? {
                Followed::Stopped(outcome) => outcome,
                Followed::Long => return self.as_task(caller, &run).await,
            };
            let Outcome::Waiting(question) = outcome else {
                return Ok(tell::result(&run, outcome).into());
            };
            let asked = match early.take() {
                Some(responses) => ask::responded(&question, Some(&responses))?,
                None => None,
            };
            let asked = match asked {
                Some(asked) => asked,
                None if client.forms && client.modern => {
                    return Ok(ask::input_required(&run, &question).into());
                }
                None if client.forms => self.elicit(caller, &run, &question, context).await?,
                None => Asked::Dismissed,
            };
            let fields = match asked {
                Asked::Answered(fields) => fields,
                Asked::Dismissed => return Ok(tell::waiting(&run, &question).into()),
                Asked::Declined => {
                    self.agents
                        .cancel(caller, &run)
                        .await
                        .map_err(tell::protocol)?;
                    return Ok(tell::declined(&run).into());
                }
            };
            running = match self
                .resume(caller, &run, Some(question.number), fields)
                .await
            {
                Ok(running) => running,
                Err(Refusal::Unfit(_)) => return Ok(tell::waiting(&run, &question).into()),
                Err(refusal) => return tell::refused(refusal).map(Into::into),
            };
        }
        let text = format!("The run `{run}` asks too much. Answer it with the tool `{RESUME}`.");
        Ok(tell::error(&text).into())
    }

    /// Follows a run until it stops, and says on the way what it does.
    async fn follow(
        &self,
        caller: &A::Caller,
        running: &mut Running,
        client: &Client,
        count: &mut u32,
        context: &RequestContext<RoleServer>,
    ) -> Result<Followed, ErrorData> {
        let long = match client.tasks && client.modern {
            true => Instant::now().checked_add(self.patience),
            false => None,
        };
        let long = async {
            match long {
                Some(long) => tokio::time::sleep_until(long).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(long);
        loop {
            let step = tokio::select! {
                biased;
                () = self.called_off(client, context) => {
                    return Err(self.call_off(caller, &running.run, client, context).await);
                }
                step = running.steps.next() => step,
                () = &mut long => return Ok(Followed::Long),
            };
            match step {
                Some(Step::Stopped(outcome)) => return Ok(Followed::Stopped(outcome)),
                Some(Step::Progress(line)) => {
                    let Some(token) = &client.progress else {
                        continue;
                    };
                    *count += 1;
                    let progress = ProgressNotificationParam::new(token.clone(), (*count).into());
                    let progress = progress.with_message(&*line);
                    // Whoever went away needs no progress; that is seen above.
                    let _ = context.peer.notify_progress(progress).await;
                }
                None => {
                    let text = format!("The run `{}` is not seen any more.", running.run);
                    return Err(ErrorData::internal_error(text, None));
                }
            }
        }
    }

    /// Resolves once the client called the request off, or is gone.
    async fn called_off(&self, client: &Client, context: &RequestContext<RoleServer>) {
        context.ct.cancelled().await;
        if client.modern {
            return;
        }
        // A session may just have ended: then nobody said that the run should.
        let token = self.calls().get(&context.id).cloned();
        if let Some(token) = token {
            let _ = tokio::time::timeout(WORD_OF_CANCEL, token.cancelled()).await;
        }
    }

    /// Ends the run of a call, if it was the client that called it off. Gives what the client is told, if it still listens.
    async fn call_off(
        &self,
        caller: &A::Caller,
        run: &str,
        client: &Client,
        context: &RequestContext<RoleServer>,
    ) -> ErrorData {
        let meant = match client.modern {
            // Going away is how such a client cancels, unless it was sent away.
            true => !self.closing.is_cancelled(),
            false => {
                let token = self.calls().get(&context.id).cloned();
                token.is_some_and(|token| token.is_cancelled())
            }
        };
        if !meant {
            let text = format!("The connection ended. The run `{run}` goes on.");
            return ErrorData::internal_error(text, None);
        }
        match self.agents.cancel(caller, run).await {
            Ok(()) => ErrorData::internal_error("The request was cancelled.", None),
            Err(refusal) => tell::protocol(refusal),
        }
    }

    /// Asks the user of a client that waits in the call.
    async fn elicit(
        &self,
        caller: &A::Caller,
        run: &str,
        question: &Question,
        context: &RequestContext<RoleServer>,
    ) -> Result<Asked, ErrorData> {
        let client = Client::of(context);
        let Some(form) = ask::form(question) else {
            return Ok(Asked::Dismissed);
        };
        tokio::select! {
            biased;
            () = self.called_off(&client, context) => {
                Err(self.call_off(caller, run, &client, context).await)
            }
            answer = context.peer.create_elicitation(form) => Ok(match answer {
                Ok(answer) => ask::asked(question, answer),
                // A client that cannot ask after all.
                Err(_) => Asked::Dismissed,
            }),
        }
    }

    async fn as_task(&self, caller: &A::Caller, run: &str) -> Result<CallToolResponse, ErrorData> {
        let look = self
            .agents
            .look(caller, run)
            .await
            .map_err(tell::protocol)?;
        Ok(tell::task_begun(run, &look).into())
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, CancellationToken>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(context)?;
        let name = request.name.clone();
        let mut early = None;
        let running = match &request.request_state {
            Some(state) => {
                let responses = request.input_responses.as_ref();
                Ok(self.again(&caller, state, responses).await?)
            }
            None if name == RESUME => self.answer(&caller, &request).await,
            None => {
                early = request.input_responses.clone();
                self.begin(&caller, &name, &request, context).await?
            }
        };
        match running {
            Ok(running) => self.attend(&caller, running, early, context).await,
            Err(refusal) => tell::refused(refusal).map(CallToolResult::into),
        }
    }
}

impl<A: Agents> ServerHandler for McpServer<A> {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tasks()
            .build();
        let about = Implementation::new("easel", env!("CARGO_PKG_VERSION")).with_title("Easel");
        ServerConfig::new(capabilities)
            .with_server_info(about)
            .with_instructions(
                "Each tool is an agent. An agent may stop to ask something; the tool `resume_run` answers it.",
            )
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = self.caller(&context)?;
        let agents = self.agents.agents(&caller).await.map_err(tell::protocol)?;
        let names = Names::of(&agents);
        let mut tools: Vec<Tool> = names
            .iter()
            .map(|(name, agent)| tools::of_agent(name, agent))
            .collect();
        tools.push(tools::resume());
        let cursor = request.and_then(|request| request.cursor);
        let from = match &cursor {
            None => 0,
            Some(cursor) => match tools.iter().position(|tool| *tool.name == **cursor) {
                Some(last) => last + 1,
                None => {
                    let text = "There is no such page. Ask for the first one again.";
                    return Err(ErrorData::invalid_params(text, None));
                }
            },
        };
        let left = tools.len() - from;
        let page: Vec<Tool> = tools.into_iter().skip(from).take(PAGE).collect();
        let next = page
            .last()
            .filter(|_| left > PAGE)
            .map(|tool| tool.name.to_string());
        let fresh = u64::try_from(LIST_FRESH.as_millis()).unwrap_or(u64::MAX);
        let mut result = ListToolsResult::with_all_items(page)
            .with_ttl_ms(fresh)
            // Each caller has other agents.
            .with_cache_scope(CacheScope::Private);
        result.next_cursor = next;
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let id = context.id.clone();
        self.calls().insert(id.clone(), CancellationToken::new());
        let response = self.call(request, &context).await;
        self.calls().remove(&id);
        response
    }

    async fn on_cancelled(
        &self,
        notification: CancelledNotificationParam,
        _: NotificationContext<RoleServer>,
    ) {
        let call = notification.request_id.as_ref();
        let call = call.and_then(|id| self.calls().get(id).cloned());
        if let Some(call) = call {
            call.cancel();
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let caller = self.caller(&context)?;
        let run = &*request.task_id;
        let look = self
            .agents
            .look(&caller, run)
            .await
            .map_err(tell::protocol)?;
        tell::task(run, look).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.caller(&context)?;
        let run = &*request.task_id;
        let look = self
            .agents
            .look(&caller, run)
            .await
            .map_err(tell::protocol)?;
        // An answer to a question that is no more open counts as given.
        let Some(Outcome::Waiting(question)) = look.outcome else {
            return Ok(());
        };
        let key = ask::task_key(&question);
        let response = request.input_responses.get(&key);
        let asked = response
            .map(|response| ask::response(&question, response))
            .transpose()?;
        match asked {
            Some(Asked::Answered(fields)) => {
                // The run goes on whether it is looked at or not.
                let resumed = self
                    .resume(&caller, run, Some(question.number), fields)
                    .await;
                resumed.map(drop).map_err(tell::protocol)
            }
            Some(Asked::Declined) => self
                .agents
                .cancel(&caller, run)
                .await
                .map_err(tell::protocol),
            Some(Asked::Dismissed) | None => Ok(()),
        }
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.caller(&context)?;
        let cancelled = self.agents.cancel(&caller, &request.task_id).await;
        cancelled.map_err(tell::protocol)
    }
}

/// The W3C trace context that a request came with, in its own metadata or in the HTTP header.
fn traceparent(context: &RequestContext<RoleServer>) -> Arc<str> {
    let meta = context
        .meta
        .get("traceparent")
        .and_then(|value| value.as_str());
    let parts = context.extensions.get::<Parts>();
    let header = parts.and_then(|parts| parts.headers.get("traceparent"));
    let header = header.and_then(|value| value.to_str().ok());
    meta.or(header).unwrap_or_default().into()
}
