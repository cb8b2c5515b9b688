//! When a request is made anew, and after what wait.

use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// How often to try again and how long to wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retry {
    /// How many times at most.
    pub(crate) count: u32,
    /// The first wait; each further one is twice as long.
    pub(crate) delay: Duration,
    /// The longest wait.
    pub(crate) cap: Duration,
}

impl Retry {
    /// The wait before the given retry (from 0), or `None` to give up: no retry is left, or the provider asks for a
    /// longer wait than is put up with.
    pub(crate) fn wait(&self, retry: u32, asked: Option<Duration>) -> Option<Duration> {
        if retry >= self.count {
            return None;
        }
        match asked {
            Some(wait) => (wait <= self.cap).then_some(wait),
            None => Some(
                self.delay
                    .saturating_mul(2_u32.saturating_pow(retry))
                    .min(self.cap),
            ),
        }
    }
}

/// Statuses after which the same request may go through: the provider is busy, or something between is.
pub(crate) fn may_pass(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS
    ) || status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED
}

/// How long the provider asks to wait: `retry-after-ms`, or `Retry-After` as seconds or as a date.
pub(crate) fn asked_wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::trim)
    };
    let seconds = |text: &str| Duration::try_from_secs_f64(text.parse().ok()?).ok();
    if let Some(wait) = text("retry-after-ms").and_then(seconds) {
        return Some(wait / 1000);
    }
    let after = text(RETRY_AFTER.as_str())?;
    seconds(after).or_else(|| {
        let date = httpdate::parse_http_date(after).ok()?;
        // A date that has passed: at once.
        Some(date.duration_since(now).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RETRY: Retry = Retry {
        count: 3,
        delay: Duration::from_secs(1),
        cap: Duration::from_secs(30),
    };

    fn asked(name: &'static str, value: &str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        // Sun, 06 Nov 1994 08:49:30 GMT
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        asked_wait(&headers, now)
    }

    #[test]
    fn waits_double_up_to_the_cap_and_end() {
        let waits: Vec<_> = (0..4).map(|retry| RETRY.wait(retry, None)).collect();
        let seconds = |s| Some(Duration::from_secs(s));
        assert_eq!(waits, [seconds(1), seconds(2), seconds(4), None]);
        let patient = Retry { count: 99, ..RETRY };
        assert_eq!(patient.wait(90, None), seconds(30));
    }

    #[test]
    fn the_providers_wish_is_followed_up_to_the_cap() {
        assert_eq!(
            RETRY.wait(0, Some(Duration::from_secs(30))),
            Some(Duration::from_secs(30))
        );
        assert_eq!(RETRY.wait(0, Some(Duration::from_secs(31))), None);
        assert_eq!(RETRY.wait(3, Some(Duration::ZERO)), None);
    }

    #[test]
    fn the_wish_comes_as_seconds_as_a_date_or_as_milliseconds() {
        assert_eq!(asked("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(
            asked("retry-after", "0.5"),
            Some(Duration::from_millis(500))
        );
        assert_eq!(
            asked("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(Duration::from_secs(7))
        );
        assert_eq!(
            asked("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT"),
            Some(Duration::ZERO)
        );
        assert_eq!(
            asked("retry-after-ms", "250"),
            Some(Duration::from_millis(250))
        );
        for nonsense in ["soon", "-1", "NaN", "inf", ""] {
            assert_eq!(asked("retry-after", nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn busy_servers_are_tried_again_and_refusals_are_not() {
        for status in [408, 429, 500, 502, 503, 504, 529] {
            assert!(may_pass(StatusCode::from_u16(status).unwrap()), "{status}");
        }
        for status in [400, 401, 403, 404, 413, 422, 501] {
            assert!(!may_pass(StatusCode::from_u16(status).unwrap()), "{status}");
        }
    }

    proptest! {
        #[test]
        fn no_wait_is_longer_than_the_cap(count: u32, delay in 0_u64..u64::MAX, retry: u32, asked: Option<u32>) {
            let policy = Retry { count, delay: Duration::from_millis(delay), ..RETRY };
            if let Some(wait) = policy.wait(retry, asked.map(|s| Duration::from_secs(u64::from(s)))) {
                prop_assert!(wait <= policy.cap);
            }
        }
    }
}
