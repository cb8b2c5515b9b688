//! Time, as the driver and the attempts it makes see it.

use easel_core::event::Timestamp;
use futures::future::BoxFuture;

/// Where the driver and the attempts it makes get time from. The machine has none of its own.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// A pause between two attempts of a node.
    fn sleep(&self, milliseconds: u64) -> BoxFuture<'static, ()>;

    /// Resolves when something has taken that long. A clock on which no time passes never resolves it.
    fn deadline(&self, milliseconds: u64) -> BoxFuture<'static, ()>;

    /// A time as canvases show it (`sys.date`): `2026-01-02 03:04:05`, in the machine's time zone unless it says otherwise.
    fn shown(&self, at: Timestamp) -> String {
        local_date_time(at)
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
/// assert_eq!(easel_components::clock::utc_date_time(at), "2026-01-02 03:04:05");
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
