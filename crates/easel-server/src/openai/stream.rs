//! Streams of server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc;

/// How often a comment says that the connection lives.
const ALIVE: Duration = Duration::from_secs(15);

/// Events that wait for a slow reader before whoever writes them waits too.
const AHEAD: usize = 64;

/// Where a stream is written; fails once the reader is gone, which ends the stream and not the run.
#[derive(Clone, Debug)]
pub(crate) struct Pen(mpsc::Sender<Event>);

/// The reader is gone.
#[derive(Debug)]
pub(crate) struct Gone;

impl Pen {
    /// Writes one event without a name.
    pub async fn data(&self, data: impl std::fmt::Display) -> Result<(), Gone> {
        self.send(Event::default().data(data.to_string())).await
    }

    /// Writes one event with a name.
    pub async fn event(&self, name: &str, data: impl std::fmt::Display) -> Result<(), Gone> {
        let event = Event::default().event(name).data(data.to_string());
        self.send(event).await
    }

    async fn send(&self, event: Event) -> Result<(), Gone> {
        self.0.send(event).await.map_err(|_| Gone)
    }
}

/// A response that `write` writes in a task of its own.
pub(crate) fn respond<W>(write: impl FnOnce(Pen) -> W) -> Response
where
    W: Future<Output = Result<(), Gone>> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(AHEAD);
    let writing = write(Pen(sender));
    tokio::spawn(async move { drop(writing.await) });
    let events = futures::stream::unfold(receiver, |mut receiver| async {
        let event = receiver.recv().await?;
        Some((Ok::<_, Infallible>(event), receiver))
    });
    let sse = Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE));
    let mut response = sse.into_response();
    // Proxies would hold the events back.
    let name = HeaderName::from_static("x-accel-buffering");
    response
        .headers_mut()
        .insert(name, HeaderValue::from_static("no"));
    response
}
