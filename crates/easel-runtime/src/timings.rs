//! Where the time of runs goes, for people who want them faster.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

/// Where the time of a session's turns went. Kept if [`Builder::timed`](crate::Builder::timed) asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// What components did themselves: templates, texts, requests put together, answers read.
    pub components: Duration,
    /// Finding the values that references name.
    pub references: Duration,
    /// Deciding what runs next, and the journal.
    pub engine: Duration,
    /// Nothing to do: models, tools and pauses.
    pub waiting: Duration,
    /// Whoever watched the events.
    pub watching: Duration,
}

impl Timings {
    /// Adds the time of another turn.
    pub(crate) fn add(&mut self, other: Timings) {
        self.components += other.components;
        self.references += other.references;
        self.engine += other.engine;
        self.waiting += other.waiting;
        self.watching += other.watching;
    }

    /// All of it.
    pub fn total(&self) -> Duration {
        self.components + self.references + self.engine + self.waiting + self.watching
    }
}

/// Measures one run, if somebody asked for it.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    on: bool,
    so_far: Timings,
}

/// A part of the time that is measured where it passes; what is left of the whole is the engine's.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    Components,
    References,
    Watching,
}

impl Meter {
    pub fn new(on: bool) -> Meter {
        Meter {
            on,
            so_far: Timings::default(),
        }
    }

    /// The time now, if it is wanted.
    pub fn now(&self) -> Option<Instant> {
        self.on.then(Instant::now)
    }

    /// Adds what has passed since then.
    pub fn add(&mut self, part: Part, since: Option<Instant>) {
        let Some(since) = since else {
            return;
        };
        let place = match part {
            Part::Components => &mut self.so_far.components,
            Part::References => &mut self.so_far.references,
            Part::Watching => &mut self.so_far.watching,
        };
        *place += since.elapsed();
    }

    /// What was measured since the last time this was asked, of a turn that took so long in all.
    pub fn take(&mut self, since: Option<Instant>, waiting: Duration) -> Timings {
        let measured = std::mem::take(&mut self.so_far);
        let total = since.map(|since| since.elapsed()).unwrap_or_default();
        // References were looked up once more to be measured.
        let others = measured.components + measured.watching + waiting + 2 * measured.references;
        Timings {
            waiting,
            engine: total.saturating_sub(others),
            ..measured
        }
    }
}

/// A future, and for how long it had nothing to do.
pub(crate) async fn with_waiting<F: Future>(future: F, on: bool) -> (F::Output, Duration) {
    let mut future = pin!(future);
    let mut waiting = Duration::ZERO;
    let mut idle: Option<Instant> = None;
    let output = poll_fn(|context| {
        waiting += idle.take().map(|since| since.elapsed()).unwrap_or_default();
        let polled = future.as_mut().poll(context);
        if on && polled.is_pending() {
            idle = Some(Instant::now());
        }
        match polled {
            Poll::Ready(output) => Poll::Ready(output),
            Poll::Pending => Poll::Pending,
        }
    });
    let output = output.await;
    (output, waiting)
}
