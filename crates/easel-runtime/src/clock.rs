//! Clocks: the machine's own, and one that stands still.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use easel_core::event::Timestamp;
use futures::future::BoxFuture;

pub use easel_components::clock::{Clock, local_date_time, utc_date_time};

/// The time of the machine that Easel runs on. Works under any async runtime.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let milliseconds = since.map_or(0, |since| since.as_millis());
        Timestamp(i64::try_from(milliseconds).unwrap_or(i64::MAX))
    }

    fn sleep(&self, milliseconds: u64) -> BoxFuture<'static, ()> {
        Box::pin(futures_timer::Delay::new(Duration::from_millis(
            milliseconds,
        )))
    }

    fn deadline(&self, milliseconds: u64) -> BoxFuture<'static, ()> {
        self.sleep(milliseconds)
    }
}

/// The time of the machine, with the timers of tokio: for an engine that lives inside a tokio runtime with its time enabled.
///
/// Every attempt that waits has a time limit, so a timer. [`SystemClock`] has a thread that is woken for each; here none
/// is, which on a durable run of nodes that wait is a fifth of its time.
#[cfg(feature = "tokio")]
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioClock;

#[cfg(feature = "tokio")]
impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    fn sleep(&self, milliseconds: u64) -> BoxFuture<'static, ()> {
        // Made when it is first asked, which is inside the runtime.
        Box::pin(async move { tokio::time::sleep(Duration::from_millis(milliseconds)).await })
    }

    fn deadline(&self, milliseconds: u64) -> BoxFuture<'static, ()> {
        self.sleep(milliseconds)
    }
}

/// A clock that stands still except for pauses, which pass at once. For tests and scripted runs.
#[derive(Debug)]
pub struct StandingClock(std::sync::atomic::AtomicI64);

impl StandingClock {
    /// A clock that stands at that time.
    pub fn at(time: Timestamp) -> StandingClock {
        StandingClock(time.0.into())
    }
}

impl Clock for StandingClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(std::sync::atomic::Ordering::Relaxed))
    }

    fn sleep(&self, milliseconds: u64) -> BoxFuture<'static, ()> {
        let forward = i64::try_from(milliseconds).unwrap_or(i64::MAX);
        self.0
            .fetch_add(forward, std::sync::atomic::Ordering::Relaxed);
        Box::pin(std::future::ready(()))
    }

    fn deadline(&self, _: u64) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    /// In UTC, so that a scripted run says the same everywhere.
    fn shown(&self, at: Timestamp) -> String {
        utc_date_time(at)
    }
}
