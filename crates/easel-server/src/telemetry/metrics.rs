//! The figures of a server, in the text format of Prometheus (OpenMetrics 1.0).

use std::sync::Arc;
use std::time::Duration;

use easel_runtime::{CIRCUIT_KINDS, EventKind, RunEvent};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// What the text is, for whoever reads it.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByTrigger {
    trigger: Arc<str>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByState {
    state: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByKind {
    kind: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByAttempt {
    component: Arc<str>,
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByTokens {
    model: Arc<str>,
    kind: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByCall {
    model: Arc<str>,
    outcome: Arc<str>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByRequest {
    route: Arc<str>,
    method: Arc<str>,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByRoute {
    route: Arc<str>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct About {
    version: &'static str,
}

/// The figures.
pub struct Metrics {
    registry: Registry,
    started: Family<ByTrigger, Counter>,
    finished: Family<ByState, Counter>,
    turns: Gauge,
    standing: Family<ByState, Gauge>,
    attempts: Family<ByAttempt, Counter>,
    tokens: Family<ByTokens, Counter>,
    calls: Family<ByCall, Counter>,
    call_seconds: Family<ByRoute, Histogram, fn() -> Histogram>,
    commits: Histogram,
    batches: Histogram,
    failed_commits: Counter,
    transactions: Counter,
    grouped: Counter,
    requests: Family<ByRequest, Counter>,
    request_seconds: Family<ByRoute, Histogram, fn() -> Histogram>,
    streams: Gauge,
    circuits: Family<ByKind, Gauge>,
    spans_lost: Counter,
}

/// What is counted in the store, at the time of asking.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// Runs by how they stand: `running`, `waiting`, `uncertain`.
    pub runs: Vec<(&'static str, u64)>,
    /// Transactions that the store has committed, and batches of journals in them.
    pub commits: Option<(u64, u64)>,
    /// The names of the circuits that are open.
    pub circuits: Vec<Arc<str>>,
}

/// Something that is counted as long as this is held.
pub struct Held(Gauge);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Half a millisecond to four seconds.
fn quick() -> Histogram {
    Histogram::new(exponential_buckets(0.0005, 2.0, 14))
}

impl Default for Metrics {
    fn default() -> Metrics {
        let mut registry = Registry::with_prefix("easel");
        let quick: fn() -> Histogram = quick;
        let slow: fn() -> Histogram = || Histogram::new(exponential_buckets(0.05, 2.0, 14));
        let metrics = Metrics {
            started: Family::default(),
            finished: Family::default(),
            turns: Gauge::default(),
            standing: Family::default(),
            attempts: Family::default(),
            tokens: Family::default(),
            calls: Family::default(),
            call_seconds: Family::new_with_constructor(slow),
            commits: Histogram::new(exponential_buckets(0.0001, 2.0, 16)),
            batches: Histogram::new(exponential_buckets(1.0, 2.0, 10)),
            failed_commits: Counter::default(),
            transactions: Counter::default(),
            grouped: Counter::default(),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(quick),
            streams: Gauge::default(),
            circuits: Family::default(),
            spans_lost: Counter::default(),
            registry: Registry::default(),
        };
        registry.register(
            "runs_started",
            "Runs that began, by what started them",
            metrics.started.clone(),
        );
        registry.register(
            "runs_finished",
            "Runs that ended, by how",
            metrics.finished.clone(),
        );
        registry.register(
            "turns_in_flight",
            "Turns of runs under way in this process",
            metrics.turns.clone(),
        );
        registry.register(
            "runs",
            "Runs in the store that are not over, by how they stand",
            metrics.standing.clone(),
        );
        registry.register(
            "node_attempts",
            "Attempts of nodes, by component and outcome",
            metrics.attempts.clone(),
        );
        registry.register(
            "model_tokens",
            "Tokens of models, by model and kind",
            metrics.tokens.clone(),
        );
        registry.register(
            "model_calls",
            "Calls of models, by model and outcome",
            metrics.calls.clone(),
        );
        registry.register_with_unit(
            "model_call",
            "How long calls of models take",
            Unit::Seconds,
            metrics.call_seconds.clone(),
        );
        registry.register_with_unit(
            "journal_commit",
            "How long a run waits for a commit of its journal",
            Unit::Seconds,
            metrics.commits.clone(),
        );
        registry.register(
            "journal_batch_events",
            "Events in one commit of a run's journal",
            metrics.batches.clone(),
        );
        registry.register(
            "journal_commit_failures",
            "Commits of journals that failed",
            metrics.failed_commits.clone(),
        );
        registry.register(
            "store_transactions",
            "Transactions that the store committed",
            metrics.transactions.clone(),
        );
        registry.register(
            "store_batches",
            "Batches of journals in those transactions",
            metrics.grouped.clone(),
        );
        registry.register(
            "http_requests",
            "Requests, by route, method and status",
            metrics.requests.clone(),
        );
        registry.register_with_unit(
            "http_request",
            "How long requests take until their answer begins",
            Unit::Seconds,
            metrics.request_seconds.clone(),
        );
        registry.register(
            "sse_streams",
            "Open streams of events",
            metrics.streams.clone(),
        );
        registry.register(
            "circuits_open",
            "Circuits that are open: services that failed too often and are left alone, by kind",
            metrics.circuits.clone(),
        );
        registry.register(
            "spans_lost",
            "Spans of traces that could not be sent",
            metrics.spans_lost.clone(),
        );
        let about: Family<About, Gauge> = Family::default();
        registry.register("build_info", "The version that runs", about.clone());
        let version = env!("CARGO_PKG_VERSION");
        about.get_or_create(&About { version }).set(1);
        // What is not there yet is nought and not missing.
        for state in ["running", "waiting", "uncertain"] {
            let _ = metrics.standing.get_or_create(&ByState { state });
        }
        for state in ["finished", "failed", "cancelled"] {
            let _ = metrics.finished.get_or_create(&ByState { state });
        }
        Metrics {
            registry,
            ..metrics
        }
    }
}

impl Metrics {
    /// A turn that is under way as long as this is held.
    pub(super) fn turn(&self) -> Held {
        self.turns.inc();
        Held(self.turns.clone())
    }

    /// Takes in what a run tells.
    pub(super) fn saw(&self, event: &RunEvent, trigger: &Arc<str>) {
        let (subject, outcome) = match &event.kind {
            EventKind::NodeFinished { subject, step, .. } => match step.fault {
                None => (subject, "ok"),
                Some(_) => (subject, "failed"),
            },
            EventKind::AttemptFailed { subject, .. } => (subject, "retried"),
            EventKind::NodeSkipped { subject, .. } => (subject, "skipped"),
            EventKind::WorkflowStarted { .. } => {
                let trigger = trigger.clone();
                self.started.get_or_create(&ByTrigger { trigger }).inc();
                return;
            }
            EventKind::WorkflowFinished {
                cancelled: false, ..
            } => return self.ended("finished"),
            EventKind::WorkflowFinished { .. } => return self.ended("cancelled"),
            EventKind::Error { .. } => return self.ended("failed"),
            _ => return,
        };
        let component = subject.component().clone();
        let attempt = ByAttempt { component, outcome };
        self.attempts.get_or_create(&attempt).inc();
    }

    fn ended(&self, state: &'static str) {
        self.finished.get_or_create(&ByState { state }).inc();
    }

    /// A model answered, or did not.
    pub(super) fn model_called(&self, model: &Arc<str>, outcome: &str, took: Duration) {
        let call = ByCall {
            model: model.clone(),
            outcome: outcome.into(),
        };
        self.calls.get_or_create(&call).inc();
        let route = model.clone();
        let seconds = self.call_seconds.get_or_create(&ByRoute { route });
        seconds.observe(took.as_secs_f64());
    }

    pub(super) fn model_used(&self, model: &Arc<str>, input: u64, output: u64) {
        for (kind, tokens) in [("input", input), ("output", output)] {
            let model = model.clone();
            self.tokens
                .get_or_create(&ByTokens { model, kind })
                .inc_by(tokens);
        }
    }

    pub(super) fn committed(&self, events: usize, took: Duration, well: bool) {
        self.commits.observe(took.as_secs_f64());
        match well {
            true => self.batches.observe(events as f64),
            false => drop(self.failed_commits.inc()),
        }
    }

    pub(super) fn requested(&self, route: &str, method: &str, status: u16, took: Duration) {
        let route: Arc<str> = route.into();
        let request = ByRequest {
            route: route.clone(),
            method: method.into(),
            status,
        };
        self.requests.get_or_create(&request).inc();
        let seconds = self.request_seconds.get_or_create(&ByRoute { route });
        seconds.observe(took.as_secs_f64());
    }

    /// A stream of events that is open as long as this is held.
    pub fn stream(&self) -> Held {
        self.streams.inc();
        Held(self.streams.clone())
    }

    /// How many spans could not be sent.
    pub(super) fn spans_lost(&self) -> &Counter {
        &self.spans_lost
    }

    /// All figures as text.
    pub fn render(&self, census: &Census) -> String {
        for (state, count) in &census.runs {
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            self.standing.get_or_create(&ByState { state }).set(count);
        }
        if let Some((transactions, batches)) = census.commits {
            raise(&self.transactions, transactions);
            raise(&self.grouped, batches);
        }
        // Their names are anybody's choice, and must not become names of figures.
        for kind in CIRCUIT_KINDS {
            let of_kind = |name: &&Arc<str>| name.split(':').next() == Some(kind);
            let open = census.circuits.iter().filter(of_kind).count();
            let open = i64::try_from(open).unwrap_or(i64::MAX);
            self.circuits.get_or_create(&ByKind { kind }).set(open);
        }
        let mut text = String::new();
        // Writing to a text cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// Brings a counter up to what was counted elsewhere.
fn raise(counter: &Counter, to: u64) {
    let missing = to.saturating_sub(counter.get());
    counter.inc_by(missing);
}
