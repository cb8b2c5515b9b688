//! A turn as a client follows it.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use easel_runtime::Logged;
use futures::Stream;
use serde_json::json;
use tokio::task::JoinHandle;

use super::answer::{Answer, refusal};
use super::envelope::{EXCEPTION, Problem, SERVER, Value};
use super::events::{Envelope, Form, Telling};
use super::message_id;
use crate::auth::now;
use crate::host::{Events, Host, HostError, Live, Message};

/// How the old API words what goes wrong, and whether its streams say that they are over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `/agents/chat/completions`
    Agents,
    /// `/agentbots`
    Bots,
}

/// What a client wants to be told of a turn.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub session: Arc<str>,
    pub form: Form,
    pub style: Style,
    pub stream: bool,
    pub return_trace: bool,
}

/// Gives a message its turn and answers as the client wants it. The turn is made whether the client stays or not; a conversation
/// that was opened for a message that gets no turn is deleted.
pub(super) async fn answer(
    host: &Arc<Host>,
    wish: Wish,
    message: Message,
    is_new: bool,
) -> Response {
    let asking = {
        let host = host.clone();
        tokio::spawn(async move {
            let session = message.session.clone();
            let said = host.say(message).await;
            if said.is_err() && is_new {
                // If it cannot be deleted now, an empty conversation is left.
                let _ = host.store().delete_session(&session).await;
            }
            said
        })
    };
    let turn = Turn {
        host: host.clone(),
        wish,
        phase: Phase::Asking(asking),
        told: false,
    };
    match turn.wish.stream {
        true => streamed(turn),
        false => axum::Json(turn.collected().await).into_response(),
    }
}

struct Turn {
    host: Arc<Host>,
    wish: Wish,
    phase: Phase,
    /// Whether the client was told anything.
    told: bool,
}

enum Phase {
    /// It has no turn yet.
    Asking(JoinHandle<Result<Arc<Live>, HostError>>),
    /// It has; nothing happened yet.
    Begun(Events, Arc<Live>),
    Telling(Events, Box<Telling>),
    Over,
}

/// What comes next of a turn.
enum Next {
    Event(Logged, Vec<Value>),
    /// It is over, and there is nothing to add.
    Over,
    /// It could not be made.
    Failed(Problem),
}

impl Turn {
    async fn next(&mut self) -> Next {
        loop {
            match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Asking(asking) => match asking.await {
                    Ok(Ok(live)) => {
                        let events = Events::of(self.host.clone(), live.clone());
                        self.phase = Phase::Begun(events, live);
                    }
                    Ok(Err(error)) => return Next::Failed(error.into()),
                    Err(_) => {
                        let message = "The server could not take the message.";
                        return Next::Failed(Problem::new(EXCEPTION, message));
                    }
                },
                Phase::Begun(mut events, live) => match events.next().await {
                    Ok(Some(first)) => {
                        let turn = self.number(&first, live.run()).await;
                        let envelope = Envelope {
                            message_id: message_id::of(live.run(), turn),
                            created_at: now() / 1000,
                            session: self.wish.session.clone(),
                        };
                        let Wish {
                            form,
                            return_trace,
                            stream,
                            ..
                        } = self.wish;
                        let mut telling = Telling::new(form, return_trace && stream, envelope);
                        let frames = telling.tell(&first);
                        self.phase = Phase::Telling(events, Box::new(telling));
                        return Next::Event(first, frames);
                    }
                    Ok(None) => return over(&events).await,
                    Err(error) => return Next::Failed(error.into()),
                },
                Phase::Telling(mut events, mut telling) => match events.next().await {
                    Ok(Some(event)) => {
                        let frames = telling.tell(&event);
                        self.phase = Phase::Telling(events, telling);
                        return Next::Event(event, frames);
                    }
                    Ok(None) => return over(&events).await,
                    Err(error) => return Next::Failed(error.into()),
                },
                Phase::Over => return Next::Over,
            }
        }
    }

    /// Which turn of its run it is, by its first event.
    async fn number(&self, first: &Logged, run: &str) -> usize {
        /// Entries of the conversation that are looked through.
        const ENTRIES: u64 = 512;
        if first.id.entry == 0 {
            return 0;
        }
        let kept = self
            .host
            .store()
            .conversation_end(&self.wish.session, ENTRIES)
            .await;
        let said = match kept {
            Ok(Some((_, said))) => said,
            _ => return 0,
        };
        let users = said
            .iter()
            .filter(|said| *said.run == *run && *said.entry.role == *"user");
        users.count().saturating_sub(1)
    }

    /// All of the turn, as one answer.
    async fn collected(mut self) -> Value {
        let mut answer = Answer::new(self.wish.form, self.wish.return_trace);
        let session = self.wish.session.clone();
        loop {
            match self.next().await {
                Next::Event(event, frames) => answer.take(&event, frames),
                Next::Over => return answer.close(&session),
                Next::Failed(problem) => return refusal(&session, problem.code, &problem.message),
            }
        }
    }

    /// What a client that follows gets next; `None` once it has all.
    async fn lines(&mut self) -> Option<Vec<String>> {
        if self.told && matches!(self.phase, Phase::Over) {
            return None;
        }
        let done = match self.wish.style {
            Style::Agents => vec![line("[DONE]")],
            Style::Bots => Vec::new(),
        };
        match self.next().await {
            Next::Event(_, frames) => {
                self.told |= !frames.is_empty();
                Some(frames.iter().map(line).collect())
            }
            Next::Over => {
                let nothing = json!({"session_id": self.wish.session, "data": {}});
                let nothing = (!self.told).then(|| line(nothing));
                self.told = true;
                Some(nothing.into_iter().chain(done).collect())
            }
            Next::Failed(problem) => {
                self.told = true;
                Some(
                    std::iter::once(line(self.error(&problem)))
                        .chain(done)
                        .collect(),
                )
            }
        }
    }

    /// Why there is no more, for a client that follows. Its `data` is an object, as clients look into it.
    fn error(&self, problem: &Problem) -> Value {
        let Problem { code, message, .. } = problem;
        let session = &self.wish.session;
        match self.wish.style {
            Style::Agents => json!({
                "code": SERVER,
                "message": message,
                "data": {"content": format!("**ERROR**: {message}")},
                "task_id": session,
                "session_id": session,
            }),
            Style::Bots => json!({
                "event": "message",
                "data": {"content": format!("Error {code}: {message}\n\n")},
                "code": code,
                "message": message,
                "session_id": session,
            }),
        }
    }
}

/// How a turn ended that told all it had to tell.
async fn over(events: &Events) -> Next {
    match events.end().await {
        Some(end) => match &end.ending {
            Ok(_) => Next::Over,
            Err(error) => Next::Failed(Problem::data(error.to_string())),
        },
        None => Next::Over,
    }
}

/// An event as a stream carries it: without a blank behind the colon.
fn line(frame: impl std::fmt::Display) -> String {
    format!("data:{frame}\n\n")
}

fn streamed(turn: Turn) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONNECTION, "keep-alive"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(chunks(turn))).into_response()
}

fn chunks(turn: Turn) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> {
    let state = (turn, VecDeque::new());
    futures::stream::unfold(
        state,
        |(mut turn, mut ready): (Turn, VecDeque<String>)| async move {
            while ready.is_empty() {
                ready.extend(turn.lines().await?);
            }
            let all: String = ready.drain(..).collect();
            Some((Ok(Bytes::from(all)), (turn, ready)))
        },
    )
}
