//! How often webhooks may be called: one bucket of tokens an agent, shared by all callers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often one webhook may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Calls in a window; also how many may come at once.
    pub limit: u32,
    /// The window.
    pub window: Duration,
}

impl Default for Rate {
    fn default() -> Rate {
        Rate {
            limit: 60,
            window: Duration::from_secs(60),
        }
    }
}

impl Rate {
    /// Tokens that come back in a second.
    fn refill(self) -> f64 {
        f64::from(self.limit) / self.window.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// The buckets of all agents, in memory: a server that starts has full ones.
#[derive(Debug, Default)]
pub struct Buckets {
    buckets: Mutex<HashMap<Arc<str>, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    at: Instant,
    rate: Rate,
}

impl Bucket {
    /// What is in it at that time.
    fn level(&self, now: Instant) -> f64 {
        let since = now.saturating_duration_since(self.at).as_secs_f64();
        (self.tokens + since * self.rate.refill()).min(f64::from(self.rate.limit))
    }
}

/// Buckets above which full ones are forgotten: they say no more than none.
const TIDY: usize = 4_096;

impl Buckets {
    /// Takes a token out of an agent's bucket.
    ///
    /// # Errors
    /// There is none; the time until there is one.
    pub fn take(&self, agent: &str, rate: Rate, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= TIDY && !buckets.contains_key(agent) {
            buckets.retain(|_, bucket| bucket.level(now) < f64::from(bucket.rate.limit));
        }
        let full = Bucket {
            tokens: f64::from(rate.limit),
            at: now,
            rate,
        };
        let bucket = buckets.entry(agent.into()).or_insert(full);
        let level = bucket.level(now).min(f64::from(rate.limit));
        *bucket = Bucket {
            tokens: level,
            at: bucket.at.max(now),
            rate,
        };
        if level < 1.0 {
            let wait = (1.0 - level) / rate.refill();
            return Err(Duration::try_from_secs_f64(wait).unwrap_or(Duration::MAX));
        }
        bucket.tokens = level - 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rate(limit: u32, seconds: u64) -> Rate {
        Rate {
            limit,
            window: Duration::from_secs(seconds),
        }
    }

    #[test]
    fn the_sixty_first_call_within_a_minute_is_one_too_many() {
        let (buckets, start) = (Buckets::default(), Instant::now());
        for _ in 0..60 {
            assert_eq!(buckets.take("a", Rate::default(), start), Ok(()));
        }
        let wait = buckets.take("a", Rate::default(), start).unwrap_err();
        assert_eq!(wait, Duration::from_secs(1));
        assert_eq!(buckets.take("b", Rate::default(), start), Ok(()));
        let later = start + wait;
        assert_eq!(buckets.take("a", Rate::default(), later), Ok(()));
        assert!(buckets.take("a", Rate::default(), later).is_err());
    }

    #[test]
    fn a_bucket_holds_no_more_than_its_limit() {
        let (buckets, start) = (Buckets::default(), Instant::now());
        assert_eq!(buckets.take("a", rate(2, 1), start), Ok(()));
        let later = start + Duration::from_secs(3_600);
        for expected in [true, true, false] {
            assert_eq!(buckets.take("a", rate(2, 1), later).is_ok(), expected);
        }
        // The limit was lowered meanwhile.
        let later = later + Duration::from_secs(3_600);
        assert!(buckets.take("a", rate(1, 1), later).is_ok());
        assert!(buckets.take("a", rate(1, 1), later).is_err());
    }

    #[test]
    fn full_buckets_do_not_pile_up() {
        let (buckets, start) = (Buckets::default(), Instant::now());
        for agent in 0..3 * TIDY {
            let now = start + Duration::from_millis(agent as u64);
            buckets.take(&agent.to_string(), rate(10, 1), now).unwrap();
        }
        assert!(buckets.buckets.lock().unwrap().len() <= TIDY);
    }

    proptest! {
        #[test]
        fn no_window_lets_more_through_than_twice_the_limit(
            limit in 1u32..20, seconds in 1u64..100, pauses in prop::collection::vec(0u64..5_000, 1..200)
        ) {
            let (buckets, start) = (Buckets::default(), Instant::now());
            let (mut at, mut passed) = (0, Vec::new());
            for pause in pauses {
                at += pause;
                if buckets.take("a", rate(limit, seconds), start + Duration::from_millis(at)).is_ok() {
                    passed.push(at);
                }
            }
            for (i, from) in passed.iter().enumerate() {
                let within = passed[i..].iter().filter(|at| **at < from + seconds * 1_000);
                prop_assert!(within.count() <= 2 * limit as usize);
            }
        }
    }
}
