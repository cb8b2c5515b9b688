//! `[breaker]`: when services that fail again and again are left alone, and for how long.

use std::time::Duration;

use easel_runtime::{BreakerLimits, BreakerSettings, CIRCUIT_KINDS};
use indexmap::IndexMap;
use serde::Deserialize;

use crate::problem::Problem;

/// The longest window and pause, in seconds: a day.
const LONGEST: f64 = 86_400.0;

/// `[breaker]`. Without it every call is made.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BreakerTable {
    /// Failures in the window that open a circuit; 0: none opens.
    failures: Option<u32>,
    /// The window, in seconds.
    window_s: Option<f64>,
    /// How long a circuit stays open, in seconds.
    pause_s: Option<f64>,
    /// For circuits of their own: `[breaker.for."host:api.example.com"]`.
    r#for: IndexMap<String, LimitsTable>,
}

/// Limits as they are written; what is not is as for all.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LimitsTable {
    /// Failures in the window that open a circuit; 0: it never opens.
    failures: Option<u32>,
    /// The window, in seconds.
    window_s: Option<f64>,
    /// How long it stays open, in seconds.
    pause_s: Option<f64>,
}

impl BreakerTable {
    /// What it says.
    pub fn settings(&self) -> Result<BreakerSettings, Problem> {
        let usual = LimitsTable {
            failures: self.failures,
            window_s: self.window_s,
            pause_s: self.pause_s,
        };
        let usual = usual.over(BreakerLimits::default(), "breaker")?;
        let mut named = IndexMap::new();
        for (name, limits) in &self.r#for {
            let place = format!("breaker.for.{name:?}");
            let kind = name.split_once(':').map(|(kind, _)| kind);
            if !kind.is_some_and(|kind| CIRCUIT_KINDS.contains(&kind)) {
                return Err(unusable(&place, "no circuit is called so").fix(
                    "Call it host:NAME (with :PORT where that isn't the usual one), tool:FUNCTION, provider:NAME or mcp:SERVER.",
                ));
            }
            named.insert(name.clone(), limits.over(usual, &place)?);
        }
        Ok(BreakerSettings { usual, named })
    }
}

impl LimitsTable {
    /// These, and others where they say nothing.
    fn over(self, others: BreakerLimits, place: &str) -> Result<BreakerLimits, Problem> {
        let time = |key: &str, seconds: Option<f64>, other: Duration| match seconds {
            None => Ok(other),
            Some(seconds) if seconds > 0.0 && seconds <= LONGEST => {
                Ok(Duration::from_secs_f64(seconds))
            }
            Some(seconds) => Err(unusable(
                place,
                &format!("`{key}` is {seconds}, which is not between 0 and {LONGEST} seconds"),
            )),
        };
        Ok(BreakerLimits {
            failures: self.failures.unwrap_or(others.failures),
            window: time("window_s", self.window_s, others.window)?,
            pause: time("pause_s", self.pause_s, others.pause)?,
        })
    }
}

fn unusable(place: &str, problem: &str) -> Problem {
    Problem::usage(format!("The settings of [{place}] cannot be used."))
        .because(crate::problem::sentence(problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<BreakerSettings, Problem> {
        toml::from_str::<BreakerTable>(text).unwrap().settings()
    }

    #[test]
    fn what_is_not_written_is_as_for_all() {
        assert!(read("[for.\"mcp:files\"]\nfailures = 1").is_ok());
        let settings = read("failures = 3\n[for.\"host:a\"]\npause_s = 0.5").unwrap();
        assert_eq!(settings.usual.failures, 3);
        assert_eq!(settings.usual.window, Duration::from_secs(60));
        let of_a = settings.named["host:a"];
        assert_eq!((of_a.failures, of_a.pause), (3, Duration::from_millis(500)));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        assert!(read("window_s = 0").is_err());
        assert!(read("pause_s = inf").is_err());
        assert!(read("[for.\"example.com\"]\nfailures = 1").is_err());
        for text in ["failure = 1", "[for.\"host:a\"]\nfailure = 1"] {
            assert!(toml::from_str::<BreakerTable>(text).is_err(), "{text}");
        }
    }
}
