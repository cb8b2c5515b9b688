//! What operators see of a server: figures at `/metrics`, and traces over OTLP.
//!
//! Both are made from what a run tells (its events), from what models answer and from what the journal commits, by standing
//! around them: the runtime knows nothing of it. No figure and no span carries what was said: names, counts and times only,
//! and error texts masked as events are.

mod conventions;
mod export;
mod http;
mod journal;
mod metrics;
mod model;
mod spans;

use std::sync::Arc;

use easel_runtime::models::ChatModel;
use easel_runtime::{Journal, Origin, RunEvent, Standing};

pub use conventions::SEMANTIC_CONVENTIONS;
pub use export::{TraceSettings, TracesError};

pub use http::{count, routes};
pub use metrics::{CONTENT_TYPE, Census, Held, Metrics};

pub(crate) use spans::is_agent;

use export::Exporter;
use spans::Spans;

/// What watches a server.
#[derive(Clone, Default)]
pub struct Telemetry {
    metrics: Arc<Metrics>,
    exporter: Option<Exporter>,
}

impl Telemetry {
    /// Figures, and traces if there is somewhere for them to go.
    ///
    /// # Errors
    /// The settings of traces do not hold.
    pub fn start(traces: Option<&TraceSettings>) -> Result<Telemetry, TracesError> {
        let metrics = Arc::new(Metrics::default());
        let exporter = traces.map(|traces| Exporter::start(traces, &metrics));
        Ok(Telemetry {
            exporter: exporter.transpose()?,
            metrics,
        })
    }

    /// The figures.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Watches a model: its calls are counted, and are spans of the turns that make them.
    pub fn model(&self, model: Arc<dyn ChatModel>) -> Arc<dyn ChatModel> {
        model::watched(model, self.metrics.clone())
    }

    /// Watches a journal: how long its commits take, and how large they are.
    pub fn journal(&self, journal: Arc<dyn Journal>) -> Arc<dyn Journal> {
        journal::watched(journal, self.metrics.clone())
    }

    /// Watches a turn of a run that begins now.
    pub fn turn(&self, run: &str, origin: &Origin) -> Turn {
        let exporter = self.exporter.clone();
        let spans = exporter.and_then(|exporter| Spans::begin(run, origin, exporter));
        Turn(Arc::new(Watched {
            metrics: self.metrics.clone(),
            trigger: origin.trigger.clone(),
            spans,
            _held: self.metrics.turn(),
        }))
    }

    /// Sends what there is of traces; for the end of a server.
    pub async fn flush(&self) {
        if let Some(exporter) = &self.exporter {
            exporter.flush().await;
        }
    }
}

tokio::task_local! {
    /// The turn that the task makes.
    static TURN: Turn;
}

/// A turn that is watched.
#[derive(Clone)]
pub struct Turn(Arc<Watched>);

struct Watched {
    metrics: Arc<Metrics>,
    trigger: Arc<str>,
    spans: Option<Spans>,
    _held: Held,
}

impl Turn {
    /// Makes the turn: calls of models in it are known to be its own.
    pub async fn within<F: Future>(&self, turn: F) -> F::Output {
        TURN.scope(self.clone(), turn).await
    }

    /// Takes in what the run tells.
    pub fn saw(&self, event: &RunEvent) {
        self.0.metrics.saw(event, &self.0.trigger);
        if let Some(spans) = &self.0.spans {
            spans.saw(event);
        }
    }

    /// The turn is over, and the run stands so.
    pub fn over(self, standing: &Standing) {
        if let Some(spans) = &self.0.spans {
            spans.over(standing);
        }
    }
}
