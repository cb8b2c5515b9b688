//! Reading an answer as it comes in.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use easel_secrets::Opened;
use futures::{Stream, stream};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tokio::time::{timeout, timeout_at};

use super::frames::{Frames, LONGEST_LINE, Unframed};
use super::wire::{Decoder, Fault, Progress};
use super::{HttpProvider, Time, cause};
use crate::error::ModelError;
use crate::reply::ModelEvent;

/// The largest answer, in bytes.
const LARGEST_ANSWER: usize = 10 << 20;

/// How much of an answer is kept to be quoted, in bytes.
const HEAD: usize = 1200;

/// An answer that has begun.
pub(super) struct Answer {
    provider: Arc<HttpProvider>,
    response: Response,
    time: Time,
    key: Option<Opened>,
    frames: Frames,
    decoder: Box<dyn Decoder>,
    /// Events that were read and not yet asked for.
    ready: VecDeque<ModelEvent>,
    received: usize,
    /// The start of the body, until the first frame: what is no answer is quoted from it.
    head: Vec<u8>,
    any_frame: bool,
    ended: bool,
    /// Why it cannot go on, until that is told.
    failure: Option<ModelError>,
}

impl Answer {
    pub(super) fn new(
        provider: Arc<HttpProvider>,
        response: Response,
        time: Time,
        key: Option<Opened>,
    ) -> Answer {
        let kind = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let frames = match kind.map(|kind| kind.split(';').next().unwrap_or(kind).trim()) {
            // A server that was asked for a stream and gives the answer whole, or one that was asked for it whole.
            Some("application/json") => Frames::Whole(Vec::new()),
            _ => provider.wire.frames(),
        };
        Answer {
            decoder: provider.wire.decoder(),
            provider,
            response,
            time,
            key,
            frames,
            ready: VecDeque::new(),
            received: 0,
            head: Vec::new(),
            any_frame: false,
            ended: false,
            failure: None,
        }
    }

    pub(super) fn into_stream(self) -> impl Stream<Item = Result<ModelEvent, ModelError>> + Send {
        stream::try_unfold(self, |mut answer| async move {
            let event = answer.next().await?;
            Ok(event.map(|event| (event, answer)))
        })
    }

    async fn next(&mut self) -> Result<Option<ModelEvent>, ModelError> {
        loop {
            // What came before a fault is passed on before it.
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
            if self.ended {
                self.give_back().await;
                return Ok(None);
            }
            self.failure = self.read().await.err();
        }
    }

    /// Reads the next piece of the body.
    async fn read(&mut self) -> Result<(), ModelError> {
        let (until, stage) = self.time.next();
        let piece = match timeout_at(until, self.response.chunk()).await {
            Ok(Ok(piece)) => piece,
            Ok(Err(error)) => {
                return Err(ModelError::Broken {
                    provider: self.provider.name(),
                    cause: cause(error),
                });
            }
            Err(_) => return Err(self.provider.timeout(stage, self.time)),
        };
        let mut frames = Vec::new();
        let cut = match &piece {
            Some(piece) => {
                self.count(piece)?;
                self.frames.push(piece, &mut frames)
            }
            None => self.frames.end(&mut frames),
        };
        self.decode(&frames)?;
        if !self.ended {
            cut.map_err(|unframed| self.unframed(&unframed))?;
            if piece.is_none() {
                self.end()?;
            }
        }
        Ok(())
    }

    fn count(&mut self, piece: &[u8]) -> Result<(), ModelError> {
        self.received += piece.len();
        if self.received > LARGEST_ANSWER {
            return Err(self.too_large("an answer", LARGEST_ANSWER));
        }
        if !self.any_frame {
            let room = HEAD.saturating_sub(self.head.len());
            self.head.extend(piece.iter().take(room));
        }
        Ok(())
    }

    /// Reads frames up to the last of the answer.
    fn decode(&mut self, frames: &[String]) -> Result<(), ModelError> {
        let mut events = Vec::new();
        for frame in frames {
            self.any_frame = true;
            let progress = self.decoder.frame(frame, &mut events);
            self.ready.extend(events.drain(..));
            match progress {
                Ok(Progress::More) => {}
                Ok(Progress::Done) => return self.end(),
                Err(fault) => return Err(self.fault(fault, Some(frame))),
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), ModelError> {
        let mut events = Vec::new();
        let ended = self.decoder.end(&mut events);
        ended.map_err(|fault| self.fault(fault, None))?;
        self.ready.extend(events);
        self.ended = true;
        Ok(())
    }

    /// Reads to the end of the body, if that is near, so that the connection can be used again.
    async fn give_back(&mut self) {
        const NEAR: Duration = Duration::from_millis(50);
        let rest = async { while let Ok(Some(_)) = self.response.chunk().await {} };
        // A server that does not close the answer loses the connection.
        let _ = timeout(NEAR, rest).await;
    }

    fn fault(&self, fault: Fault, frame: Option<&str>) -> ModelError {
        let provider = self.provider.name();
        match fault {
            Fault::Reported(reported) => ModelError::Failed {
                provider,
                message: self.quote(&reported.message),
                passing: reported.passing(),
            },
            Fault::Garbage(cause) => ModelError::Garbage {
                provider,
                cause,
                excerpt: match frame {
                    Some(frame) => self.quote(frame),
                    None => self.quote(&String::from_utf8_lossy(&self.head)),
                },
            },
            // Comments are sent to keep a connection open; anything else that is no frame is no stream.
            Fault::Early if !self.any_frame && !matches!(self.head.first(), None | Some(b':')) => {
                self.fault(
                    Fault::Garbage("it is no stream of answers".to_owned()),
                    None,
                )
            }
            Fault::Early => ModelError::Broken {
                provider,
                cause: "it ended before it was complete".to_owned(),
            },
        }
    }

    fn unframed(&self, unframed: &Unframed) -> ModelError {
        match unframed {
            Unframed::TooLong => self.too_large("a line", LONGEST_LINE),
            Unframed::NotText => self.fault(Fault::Garbage("it is not UTF-8".to_owned()), None),
        }
    }

    fn too_large(&self, what: &'static str, limit: usize) -> ModelError {
        ModelError::TooLarge {
            provider: self.provider.name(),
            what,
            limit,
        }
    }

    fn quote(&self, text: &str) -> String {
        self.provider.excerpt(text, self.key.as_ref())
    }
}
