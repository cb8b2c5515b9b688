//! Where spans go: a collector, by OTLP over HTTP with protobuf.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry::trace::TraceId;
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, SpanExporter, WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};
use prometheus_client::metrics::counter::Counter;
use tokio::sync::{mpsc, oneshot};

use super::conventions::SCHEMA_URL;

/// Spans that wait to be sent. More are dropped, for a run must not wait for its trace.
const WAITING: usize = 8_192;

/// Spans that are sent together, and how long the first of them waits for others.
const BATCH: usize = 512;
const GATHER: Duration = Duration::from_secs(1);

/// How long a collector may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where traces go, and how many of them.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSettings {
    /// The address that takes them, `/v1/traces` included.
    pub endpoint: String,
    /// The name of the service.
    pub service: String,
    /// The share of traces that are kept, 0 to 1, of runs that belong to no trace already.
    pub share: f64,
}

impl TraceSettings {
    /// The name of the service unless told.
    pub const SERVICE: &str = "easel";

    /// Traces to the collector at this address, as `OTEL_EXPORTER_OTLP_ENDPOINT` has it: without `/v1/traces`.
    pub fn to(collector: &str) -> TraceSettings {
        TraceSettings {
            endpoint: format!("{}/v1/traces", collector.trim_end_matches('/')),
            service: TraceSettings::SERVICE.to_owned(),
            share: 1.0,
        }
    }

    /// What the variables of OpenTelemetry say, over what a file says; `None` if neither names a collector, or the variables
    /// want no traces.
    pub fn of(
        file: Option<TraceSettings>,
        get: impl Fn(&str) -> Option<String>,
    ) -> Option<TraceSettings> {
        let get = |name: &str| {
            get(name)
                .map(|v| v.trim().to_owned())
                .filter(|v| !v.is_empty())
        };
        let off = get("OTEL_SDK_DISABLED").is_some_and(|v| v.eq_ignore_ascii_case("true"))
            || get("OTEL_TRACES_EXPORTER").is_some_and(|v| v.eq_ignore_ascii_case("none"));
        if off {
            return None;
        }
        let from_file = file.clone().unwrap_or_else(|| TraceSettings::to(""));
        let own = get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        let common = get("OTEL_EXPORTER_OTLP_ENDPOINT");
        let common = common.map(|collector| TraceSettings::to(&collector).endpoint);
        let endpoint = own.or(common).or(file.map(|file| file.endpoint))?;
        let mut settings = TraceSettings {
            endpoint,
            ..from_file
        };
        if let Some(service) = get("OTEL_SERVICE_NAME") {
            settings.service = service;
        }
        let ratio = get("OTEL_TRACES_SAMPLER_ARG").and_then(|ratio| ratio.parse::<f64>().ok());
        let sampler = get("OTEL_TRACES_SAMPLER");
        let sampler = sampler
            .as_deref()
            .map(|name| name.trim_start_matches("parentbased_"));
        settings.share = match sampler {
            Some("always_off") => 0.0,
            Some("traceidratio") => ratio.unwrap_or(1.0).clamp(0.0, 1.0),
            Some(_) => 1.0,
            None => settings.share,
        };
        Some(settings)
    }
}

/// Traces cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    /// The client cannot be made.
    #[error("no HTTP client for traces: {0}")]
    Client(#[from] reqwest::Error),
    /// The settings do not hold.
    #[error(
        "traces cannot be sent to `{endpoint}`: {cause}; check OTEL_EXPORTER_OTLP_ENDPOINT or `[telemetry]` in easel.toml"
    )]
    Exporter {
        /// The address.
        endpoint: String,
        /// Why.
        cause: ExporterBuildError,
    },
}

/// Sends spans to a collector, behind the back of the runs that they are of.
#[derive(Clone)]
pub(super) struct Exporter(Arc<Inner>);

struct Inner {
    sender: mpsc::Sender<Wanted>,
    scope: InstrumentationScope,
    share: f64,
    lost: Counter,
}

enum Wanted {
    Span(Box<SpanData>),
    Flush(oneshot::Sender<()>),
}

impl Exporter {
    /// Sends traces as the settings say, from a task of the current runtime. `lost` counts spans that cannot be sent.
    ///
    /// # Errors
    /// The settings do not hold.
    pub(super) fn start(
        settings: &TraceSettings,
        metrics: &super::Metrics,
    ) -> Result<Exporter, TracesError> {
        // The client looks for it even where the collector speaks plain HTTP. One that is there already does as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().timeout(PATIENCE).build()?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(&settings.endpoint)
            .with_timeout(PATIENCE)
            .build();
        let mut exporter = exporter.map_err(|cause| TracesError::Exporter {
            endpoint: settings.endpoint.clone(),
            cause,
        })?;
        let resource = Resource::builder()
            .with_service_name(settings.service.clone())
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        exporter.set_resource(&resource);
        let scope = InstrumentationScope::builder("easel")
            .with_version(env!("CARGO_PKG_VERSION"))
            .with_schema_url(SCHEMA_URL)
            .build();
        let (sender, receiver) = mpsc::channel(WAITING);
        let lost = metrics.spans_lost().clone();
        tokio::spawn(send(exporter, receiver, lost.clone()));
        Ok(Exporter(Arc::new(Inner {
            sender,
            scope,
            share: settings.share,
            lost,
        })))
    }

    pub(super) fn scope(&self) -> &InstrumentationScope {
        &self.0.scope
    }

    /// Whether a trace that begins here is kept: by its last 56 bits, which are drawn.
    pub(super) fn takes(&self, trace: TraceId) -> bool {
        let [.., a, b, c, d, e, f, g] = trace.to_bytes();
        let drawn = u64::from_be_bytes([0, a, b, c, d, e, f, g]);
        (drawn as f64) < self.0.share * (1_u64 << 56) as f64
    }

    pub(super) fn take(&self, span: SpanData) {
        if self
            .0
            .sender
            .try_send(Wanted::Span(Box::new(span)))
            .is_err()
        {
            self.0.lost.inc();
        }
    }

    /// Sends what waits, and returns once it is sent or cannot be.
    pub(super) async fn flush(&self) {
        let (done, sent) = oneshot::channel();
        if self.0.sender.send(Wanted::Flush(done)).await.is_ok() {
            let _ = tokio::time::timeout(PATIENCE, sent).await;
        }
    }
}

async fn send(exporter: SpanExporter, mut receiver: mpsc::Receiver<Wanted>, lost: Counter) {
    let told = AtomicBool::new(false);
    let mut batch: Vec<SpanData> = Vec::new();
    let mut due = None;
    loop {
        let pause = async {
            match due {
                Some(due) => tokio::time::sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        let wanted = tokio::select! {
            wanted = receiver.recv() => wanted,
            () = pause => Some(Wanted::Flush(oneshot::channel().0)),
        };
        let flushed = match wanted {
            Some(Wanted::Span(span)) => {
                batch.push(*span);
                due.get_or_insert_with(|| tokio::time::Instant::now() + GATHER);
                if batch.len() < BATCH {
                    continue;
                }
                None
            }
            Some(Wanted::Flush(done)) => Some(done),
            None => None,
        };
        let over = flushed.is_none() && batch.len() < BATCH;
        due = None;
        if !batch.is_empty() {
            let spans = std::mem::take(&mut batch);
            let count = u64::try_from(spans.len()).unwrap_or_default();
            if let Err(error) = exporter.export(spans).await {
                lost.inc_by(count);
                if !told.swap(true, Ordering::Relaxed) {
                    eprintln!(
                        "easel: traces cannot be sent: {error}; `easel_spans_lost_total` counts what is lost"
                    );
                }
            }
        }
        if let Some(done) = flushed {
            // Who asked may be gone.
            let _ = done.send(());
        }
        if over {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Option<TraceSettings> {
        TraceSettings::of(None, |name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn traces_go_nowhere_unless_somebody_says_where() {
        assert_eq!(settings(&[]), None);
        assert_eq!(settings(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]), None);
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/");
        assert_eq!(settings(&[endpoint, ("OTEL_SDK_DISABLED", "true")]), None);
        assert_eq!(
            settings(&[endpoint, ("OTEL_TRACES_EXPORTER", "none")]),
            None
        );
        let found = settings(&[endpoint]).unwrap();
        assert_eq!(found.endpoint, "http://collector:4318/v1/traces");
        assert_eq!((&*found.service, found.share), ("easel", 1.0));
        let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://traces/in");
        assert_eq!(
            settings(&[endpoint, own]).unwrap().endpoint,
            "http://traces/in"
        );
    }

    #[test]
    fn variables_win_over_a_file() {
        let file = TraceSettings {
            share: 0.5,
            ..TraceSettings::to("http://file:4318")
        };
        let of = |name: &'static str, value: &'static str| {
            let get = move |asked: &str| (asked == name).then(|| value.to_owned());
            TraceSettings::of(Some(file.clone()), get)
        };
        assert_eq!(of("", "").unwrap(), file);
        let moved = of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://here:4318").unwrap();
        assert_eq!(
            (&*moved.endpoint, moved.share),
            ("http://here:4318/v1/traces", 0.5)
        );
        assert_eq!(of("OTEL_TRACES_SAMPLER", "always_on").unwrap().share, 1.0);
        assert_eq!(of("OTEL_SDK_DISABLED", "TRUE"), None);
    }

    #[test]
    fn a_share_of_traces_is_what_the_sampler_says() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");
        let share = |sampler, arg| {
            let sampler = ("OTEL_TRACES_SAMPLER", sampler);
            settings(&[endpoint, sampler, ("OTEL_TRACES_SAMPLER_ARG", arg)])
                .unwrap()
                .share
        };
        assert_eq!(share("parentbased_traceidratio", "0.25"), 0.25);
        assert_eq!(share("always_off", ""), 0.0);
        assert_eq!(share("parentbased_always_on", "0.1"), 1.0);
    }
}
