//! Token buckets: how often somebody may come. Time is a parameter.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many in so long a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// How many.
    pub limit: u32,
    /// In how long a time.
    pub per: Duration,
}

/// One bucket a name. A bucket that is full again is forgotten.
#[derive(Debug, Default)]
pub struct Buckets(Mutex<HashMap<String, Bucket>>);

#[derive(Debug)]
struct Bucket {
    tokens: f64,
    filled: Instant,
    rate: Rate,
}

impl Bucket {
    fn fill(&mut self, now: Instant) {
        let seconds = now.saturating_duration_since(self.filled).as_secs_f64();
        let window = self.rate.per.as_secs_f64().max(f64::MIN_POSITIVE);
        let limit = f64::from(self.rate.limit);
        self.tokens = (self.tokens + seconds * limit / window).min(limit);
        self.filled = now;
    }

    fn is_full(&self) -> bool {
        self.tokens >= f64::from(self.rate.limit)
    }
}

/// How many buckets are kept before those that are full are looked for.
const MANY: usize = 10_000;

impl Buckets {
    /// Takes one out of a bucket.
    ///
    /// # Errors
    /// It is empty; how long until there is one again.
    pub fn take(&self, name: &str, rate: Rate, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() > MANY {
            buckets.retain(|_, bucket| {
                bucket.fill(now);
                !bucket.is_full()
            });
        }
        let bucket = match buckets.get_mut(name).filter(|bucket| bucket.rate == rate) {
            Some(bucket) => bucket,
            None => buckets
                .entry(name.to_owned())
                .insert_entry(Bucket {
                    tokens: f64::from(rate.limit),
                    filled: now,
                    rate,
                })
                .into_mut(),
        };
        bucket.fill(now);
        if bucket.tokens >= 1.0 {
            bucket.tokens -= 1.0;
            return Ok(());
        }
        let each = rate.per.as_secs_f64() / f64::from(rate.limit.max(1));
        Err(Duration::from_secs_f64((1.0 - bucket.tokens) * each))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_emptied_and_fills_again() {
        let buckets = Buckets::default();
        let rate = Rate {
            limit: 2,
            per: Duration::from_secs(60),
        };
        let start = Instant::now();
        assert_eq!(buckets.take("a", rate, start), Ok(()));
        assert_eq!(buckets.take("a", rate, start), Ok(()));
        assert_eq!(buckets.take("a", rate, start), Err(Duration::from_secs(30)));
        assert_eq!(buckets.take("b", rate, start), Ok(()));
        let later = start + Duration::from_secs(31);
        assert_eq!(buckets.take("a", rate, later), Ok(()));
        assert!(buckets.take("a", rate, later).is_err());
    }
}
