//! Time, as the driver sees it.

use std::time::Duration;

use easel_core::event::Timestamp;
use futures::future::BoxFuture;

/// Where the driver gets time from. The machine has none of its own.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// A pause between two attempts of a node.
    fn sleep(&self, milliseconds: u64) -> BoxFuture<'static, ()>;

    /// Resolves when an attempt has taken that long. A clock on which no time passes never resolves it.
    fn deadline(&self, milliseconds: u64) -> BoxFuture<'static, ()>;

    /// A time as canvases show it (`sys.date`): `2026-01-02 03:04:05`, in the machine's time zone unless it says otherwise.
    fn shown(&self, at: Timestamp) -> String {
        local_date_time(at)
    }
}

/// The time of the machine that Easel runs on. Works under any async runtime.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(jiff::Timestamp::now().as_millisecond())
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

/// The date and time of a timestamp in the machine's time zone, as canvases show it: `2026-01-02 03:04:05`.
pub fn local_date_time(at: Timestamp) -> String {
    date_time(at, jiff::tz::TimeZone::system())
}

/// The same in UTC.
///
/// ```
/// use easel_core::event::Timestamp;
/// let at = Timestamp(1_767_323_045_000);
/// assert_eq!(easel_runtime::clock::utc_date_time(at), "2026-01-02 03:04:05");
/// ```
pub fn utc_date_time(at: Timestamp) -> String {
    date_time(at, jiff::tz::TimeZone::UTC)
}

fn date_time(at: Timestamp, zone: jiff::tz::TimeZone) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(at) => at.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        // Beyond year 9999.
        Err(_) => String::new(),
    }
}
