//! The spans of a turn: the workflow, its nodes, and the calls of models and tools in them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use easel_runtime::core::bind::Activation;
use easel_runtime::core::effect::{Scope, Step};
use easel_runtime::core::event::{Fault, Usage};
use easel_runtime::models::FinishReason;
use easel_runtime::{EventKind, Origin, RunEvent, Standing, Subject, Timestamp};
use opentelemetry::trace::{
    Event, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{Array, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

use super::conventions as name;
use super::export::Exporter;
use super::model::ModelCall;

/// Whether a component is an agent: it may call tools as it likes.
pub(crate) fn is_agent(component: &str) -> bool {
    matches!(component, "Agent" | "react")
}

/// The spans of one turn.
pub(super) struct Spans {
    exporter: Exporter,
    trace: TraceId,
    /// The span of the workflow, and what it is a part of.
    root: SpanId,
    above: SpanId,
    began: SystemTime,
    workflow: Arc<str>,
    about: Vec<KeyValue>,
    conversation: Option<Arc<str>>,
    state: Mutex<State>,
}

/// What is known so far.
#[derive(Default)]
struct State {
    open: HashMap<Activation, Open>,
    used: Usage,
    fault: Option<Fault>,
    /// True once the run told anything.
    told: bool,
}

/// A node that is at work.
struct Open {
    span: SpanId,
    node: Arc<str>,
    scope: Scope,
    events: Vec<Event>,
}

/// A span that is over.
struct Done {
    span: SpanId,
    parent: SpanId,
    name: String,
    kind: SpanKind,
    from: SystemTime,
    to: SystemTime,
    about: Vec<KeyValue>,
    events: Vec<Event>,
    fault: Option<(String, String)>,
}

impl Spans {
    /// The spans of a turn that begins now; `None` if the caller, or chance, wants no trace of it.
    pub(super) fn begin(run: &str, origin: &Origin, exporter: Exporter) -> Option<Spans> {
        let (trace, above) = match parent(&origin.traceparent) {
            Some((_, _, false)) => return None,
            Some((trace, above, true)) => (trace, above),
            None => {
                let trace = trace_of(run);
                if !exporter.takes(trace) {
                    return None;
                }
                (trace, SpanId::INVALID)
            }
        };
        let workflow = match origin.agent.is_empty() {
            false => origin.agent.clone(),
            true => origin.document.chars().take(12).collect::<String>().into(),
        };
        let mut about = vec![
            text(name::RUN, run),
            text(name::TRIGGER, &origin.trigger),
            text(name::OPERATION, name::INVOKE_WORKFLOW),
            text(name::WORKFLOW, &workflow),
        ];
        if !origin.version.is_empty() {
            about.push(text(name::VERSION, &origin.version));
        }
        if let Some(session) = &origin.session {
            about.push(text(name::CONVERSATION, session));
        }
        Some(Spans {
            exporter,
            trace,
            root: new_span(),
            above,
            began: SystemTime::now(),
            workflow,
            about,
            conversation: origin.session.clone(),
            state: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in what the run tells.
    pub(super) fn saw(&self, event: &RunEvent) {
        self.state().told = true;
        match &event.kind {
            EventKind::NodeStarted {
                subject,
                activation,
                scope,
                ..
            } => {
                let open = Open {
                    span: new_span(),
                    node: subject.id().clone(),
                    scope: scope.clone(),
                    events: Vec::new(),
                };
                self.state().open.insert(*activation, open);
            }
            EventKind::AttemptFailed { subject: _, step } => {
                if let (Some(open), Some(fault)) =
                    (self.state().open.get_mut(&step.activation), &step.fault)
                {
                    let about = vec![
                        text(name::ERROR_TYPE, &fault.code),
                        KeyValue::new(name::ATTEMPTS, i64::from(step.attempt)),
                    ];
                    open.events
                        .push(Event::new("retry", time(step.ended), about, 0));
                }
            }
            EventKind::NodeFinished {
                subject,
                step,
                started,
            } => self.node_over(subject, step, *started),
            EventKind::ToolCall {
                subject,
                path,
                tool,
                milliseconds,
                ..
            } => self.tool_over(subject, path, tool, *milliseconds),
            EventKind::Error { fault, .. } => self.state().fault = Some(fault.clone()),
            _ => {}
        }
    }

    fn node_over(&self, subject: &Subject, step: &Step, started: Timestamp) {
        let (open, parent) = {
            let mut state = self.state();
            let open = state.open.remove(&step.activation);
            (open, state.around(&step.scope).unwrap_or(self.root))
        };
        let (span, events) = match open {
            Some(open) => (open.span, open.events),
            // It was at work before this process took the run up.
            None => (new_span(), Vec::new()),
        };
        let is_agent = is_agent(subject.component());
        let mut about = vec![
            text(name::NODE, subject.id()),
            text(name::COMPONENT, subject.component()),
            KeyValue::new(name::ATTEMPTS, i64::from(step.attempt)),
        ];
        if !step.scope.is_empty() {
            about.push(text(name::SCOPE, &shown(&step.scope)));
        }
        if is_agent {
            about.push(text(name::OPERATION, name::INVOKE_AGENT));
            about.push(text(name::AGENT, subject.name()));
            about.extend(self.conversation());
        }
        self.done(Done {
            span,
            parent,
            name: match is_agent {
                true => format!("{} {}", name::INVOKE_AGENT, subject.name()),
                false => subject.name().to_string(),
            },
            kind: SpanKind::Internal,
            from: time(started),
            to: time(step.ended),
            about,
            events,
            fault: step.fault.as_ref().map(told),
        });
    }

    fn tool_over(&self, subject: &Subject, path: &str, tool: &str, milliseconds: u64) {
        let to = SystemTime::now();
        let parent = self.state().at_work(subject.id()).unwrap_or(self.root);
        let mut about = vec![
            text(name::OPERATION, name::EXECUTE_TOOL),
            text(name::TOOL, tool),
            text(name::NODE, subject.id()),
        ];
        if !path.is_empty() {
            about.push(text(name::PATH, path));
        }
        self.done(Done {
            span: new_span(),
            parent,
            name: format!("{} {tool}", name::EXECUTE_TOOL),
            kind: SpanKind::Internal,
            from: to
                .checked_sub(Duration::from_millis(milliseconds))
                .unwrap_or(to),
            to,
            about,
            events: Vec::new(),
            fault: None,
        });
    }

    /// A call of a model is over.
    pub(super) fn called(&self, call: ModelCall, how: Result<&FinishReason, &str>) {
        // An agent that is another's tool works within that one's node.
        let node = call.component.split("-->").next().unwrap_or_default();
        let parent = self.state().at_work(node).unwrap_or(self.root);
        let mut about = vec![text(name::OPERATION, name::CHAT)];
        about.extend(
            call.provider
                .map(|provider| text(name::PROVIDER, &provider)),
        );
        if !call.model.is_empty() {
            about.push(text(name::REQUEST_MODEL, &call.model));
        }
        about.extend(self.conversation());
        let sampling = call.sampling;
        about.extend(
            sampling
                .temperature
                .map(|t| KeyValue::new(name::TEMPERATURE, t)),
        );
        about.extend(sampling.top_p.map(|p| KeyValue::new(name::TOP_P, p)));
        about.extend(
            sampling
                .max_tokens
                .map(|n| KeyValue::new(name::MAX_TOKENS, i64::from(n))),
        );
        if let Ok(reason) = how {
            let reasons = vec![StringValue::from(reason.as_str().to_owned())];
            about.push(KeyValue::new(
                name::FINISH_REASONS,
                Value::Array(Array::String(reasons)),
            ));
        }
        if let Some(usage) = call.usage {
            about.push(count(name::INPUT_TOKENS, usage.input_tokens));
            about.push(count(name::OUTPUT_TOKENS, usage.output_tokens));
            if usage.cached_tokens > 0 {
                about.push(count(name::CACHED_TOKENS, usage.cached_tokens));
            }
            self.state().used += Usage {
                prompt_tokens: usage.input_tokens,
                completion_tokens: usage.output_tokens,
                ..Usage::default()
            };
        }
        self.done(Done {
            span: new_span(),
            parent,
            name: format!("{} {}", name::CHAT, call.model)
                .trim_end()
                .to_owned(),
            kind: SpanKind::Client,
            from: call.began,
            to: SystemTime::now(),
            about,
            events: Vec::new(),
            fault: how.err().map(|code| (code.to_owned(), String::new())),
        });
    }

    /// The turn is over.
    pub(super) fn over(&self, standing: &Standing) {
        let (used, fault) = {
            let mut state = self.state();
            if !state.told {
                // The turn was refused before it began.
                return;
            }
            (state.used, state.fault.take())
        };
        let mut about = self.about.clone();
        about.push(text(name::STATE, standing.name()));
        if used.prompt_tokens + used.completion_tokens > 0 {
            about.push(count(name::INPUT_TOKENS, used.prompt_tokens));
            about.push(count(name::OUTPUT_TOKENS, used.completion_tokens));
        }
        let fault = match standing {
            Standing::Failed { fault, .. } => Some(told(fault)),
            _ => fault.as_ref().map(told),
        };
        self.done(Done {
            span: self.root,
            parent: self.above,
            name: format!("{} {}", name::INVOKE_WORKFLOW, self.workflow),
            kind: SpanKind::Internal,
            from: self.began,
            to: SystemTime::now(),
            about,
            events: Vec::new(),
            fault,
        });
    }

    fn conversation(&self) -> Option<KeyValue> {
        let session = self.conversation.as_ref();
        session.map(|session| text(name::CONVERSATION, session))
    }

    fn done(&self, mut done: Done) {
        let status = match &done.fault {
            None => Status::Unset,
            Some((code, message)) => {
                done.about.push(text(name::ERROR_TYPE, code));
                Status::error(message.clone())
            }
        };
        let mut events = SpanEvents::default();
        events.events = done.events;
        self.exporter.take(SpanData {
            span_context: self.context(done.span),
            parent_span_id: done.parent,
            parent_span_is_remote: done.span == self.root,
            span_kind: done.kind,
            name: done.name.into(),
            start_time: done.from,
            end_time: done.to,
            attributes: done.about,
            dropped_attributes_count: 0,
            events,
            links: SpanLinks::default(),
            status,
            instrumentation_scope: self.exporter.scope().clone(),
        });
    }

    fn context(&self, span: SpanId) -> SpanContext {
        SpanContext::new(
            self.trace,
            span,
            TraceFlags::SAMPLED,
            false,
            TraceState::NONE,
        )
    }
}

impl State {
    /// The span of a node that is at work; of several firings of it, the one that began last.
    fn at_work(&self, node: &str) -> Option<SpanId> {
        let firings = self.open.iter().filter(|(_, open)| *open.node == *node);
        firings
            .max_by_key(|(activation, _)| **activation)
            .map(|(_, open)| open.span)
    }

    /// The span of the container of a pass.
    fn around(&self, scope: &Scope) -> Option<SpanId> {
        let (pass, outside) = scope.split_last()?;
        let firings = self
            .open
            .iter()
            .filter(|(_, open)| *open.node == *pass.container && open.scope[..] == *outside);
        firings
            .max_by_key(|(activation, _)| **activation)
            .map(|(_, open)| open.span)
    }
}

fn text(key: &'static str, value: &str) -> KeyValue {
    KeyValue::new(key, value.to_owned())
}

fn count(key: &'static str, value: u64) -> KeyValue {
    KeyValue::new(key, i64::try_from(value).unwrap_or(i64::MAX))
}

fn told(fault: &Fault) -> (String, String) {
    (fault.code.to_string(), fault.message.to_string())
}

/// The passes around a node, as in `Iteration:A[2]/Loop:B[0]`.
fn shown(scope: &Scope) -> String {
    let passes = scope
        .iter()
        .map(|pass| format!("{}[{}]", pass.container, pass.index));
    passes.collect::<Vec<_>>().join("/")
}

fn time(at: Timestamp) -> SystemTime {
    let since = Duration::from_millis(u64::try_from(at.0).unwrap_or_default());
    UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH)
}

fn new_span() -> SpanId {
    let (_, drawn) = uuid::Uuid::new_v4().as_u64_pair();
    SpanId::from_bytes(drawn.to_be_bytes())
}

/// The trace of a run that was asked for outside of any: its own id, so that who knows the run finds the trace.
fn trace_of(run: &str) -> TraceId {
    let own = (run.len() == 32).then(|| u128::from_str_radix(run, 16).ok());
    let own = own.flatten().filter(|id| *id != 0);
    let id = own.unwrap_or_else(|| uuid::Uuid::new_v4().as_u128());
    TraceId::from_bytes(id.to_be_bytes())
}

/// The trace, the span and whether it is kept, from a W3C `traceparent`.
fn parent(header: &str) -> Option<(TraceId, SpanId, bool)> {
    let mut parts = header.trim().split('-');
    let (version, trace, span, flags) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let hex = |text: &str, digits: usize| {
        let fits =
            text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        fits.then(|| u128::from_str_radix(text, 16).ok()).flatten()
    };
    let (version, flags) = (hex(version, 2)?, hex(flags, 2)?);
    // Version 0 has four parts, and 255 is none.
    if version == 255 || version == 0 && parts.next().is_some() {
        return None;
    }
    let (trace, span) = (hex(trace, 32)?, hex(span, 16)?);
    let span = u64::try_from(span).ok()?;
    if trace == 0 || span == 0 {
        return None;
    }
    let (trace, span) = (trace.to_be_bytes(), span.to_be_bytes());
    Some((
        TraceId::from_bytes(trace),
        SpanId::from_bytes(span),
        flags & 1 == 1,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

    #[test]
    fn a_traceparent_says_where_a_run_belongs_and_whether_it_is_kept() {
        let (trace, span, kept) = parent(&format!("00-{TRACE}-b7ad6b7169203331-01")).unwrap();
        assert_eq!(trace.to_string(), TRACE);
        assert_eq!(span.to_string(), "b7ad6b7169203331");
        assert!(kept);
        let (_, _, kept) = parent(&format!("00-{TRACE}-b7ad6b7169203331-00")).unwrap();
        assert!(!kept);
        assert!(parent(&format!("cc-{TRACE}-b7ad6b7169203331-01-more")).is_some());
    }

    #[test]
    fn what_is_no_traceparent_is_none() {
        for header in [
            "",
            "00",
            "00-x-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert!(parent(header).is_none(), "{header}");
        }
    }

    #[test]
    fn whoever_knows_the_run_knows_the_trace() {
        assert_eq!(trace_of(TRACE).to_string(), TRACE);
        assert_ne!(trace_of("run-1"), trace_of("run-1"));
    }
}
