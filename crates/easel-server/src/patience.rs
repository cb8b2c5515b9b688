//! How long a body may take to arrive: a client that sends it drop by drop holds a connection no longer than that.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep};

/// How many bytes earn a body another second.
const BYTES_A_SECOND: u64 = 16 << 10;

/// A body did not arrive in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body did not arrive within {} s; send it faster", .0.as_secs())]
pub struct TooSlow(pub Duration);

/// A body that has to arrive in a time, and a second more for every 16 kB.
struct Timely {
    body: Body,
    limit: Duration,
    began: Instant,
    deadline: Pin<Box<Sleep>>,
    arrived: u64,
}

/// Gives the bodies of requests that long to arrive.
pub(crate) async fn bound(limit: Duration, request: Request, next: Next) -> Response {
    let request = request.map(|body| match body.is_end_stream() {
        true => body,
        false => Body::new(Timely {
            limit,
            began: Instant::now(),
            deadline: Box::pin(tokio::time::sleep(limit)),
            arrived: 0,
            body,
        }),
    });
    next.run(request).await
}

impl HttpBody for Timely {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            if let Some(Ok(frame)) = &frame
                && let Some(data) = frame.data_ref()
            {
                self.arrived += data.len() as u64;
                let earned = Duration::from_secs(self.arrived / BYTES_A_SECOND);
                let deadline = self.began + self.limit + earned;
                self.deadline.as_mut().reset(deadline);
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        match self.deadline.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Some(Err(Box::new(TooSlow(self.limit))))),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
