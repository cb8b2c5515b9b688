//! Circuit breakers: what fails again and again is left alone for a while.
//!
//! Each service has a circuit of its own, called by what it is: `host:api.example.com` (HTTP, databases, mail),
//! `tool:tavily_search` (searches, retrieval, code), `provider:openai` (models), `mcp:files` (MCP servers). A circuit that is *closed* lets calls pass and counts
//! failures. With so many in a window it *opens*: calls fail at once, with the code `circuit_open`. After a pause one call is let
//! through to try. If that succeeds the circuit closes, else it stays open for another pause.
//!
//! What counts as a failure says that the service is not well: no connection, a time limit, a status 429 or 5xx. What says that the
//! request is not well does not.
//!
//! It is ours because of the clock: time is the engine's, as everywhere. The crates there are read the machine's.

mod model;
mod world;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indexmap::IndexMap;

use crate::clock::Clock;

pub(crate) use model::BreakingModel;

/// Circuits that are watched at once. Further ones are let pass unwatched, so that nobody fills the memory with names.
const CIRCUITS: usize = 1_024;

/// What the name of a circuit begins with, before its colon.
pub const CIRCUIT_KINDS: [&str; 4] = ["host", "tool", "provider", "mcp"];

/// When circuits open, and for how long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BreakerSettings {
    /// For every circuit that has no limits of its own.
    pub usual: BreakerLimits,
    /// For circuits by name, such as `host:api.example.com`.
    pub named: IndexMap<String, BreakerLimits>,
}

/// When a circuit opens, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerLimits {
    /// Failures within the window that open it; 0: it never opens.
    pub failures: u32,
    /// The window.
    pub window: Duration,
    /// How long it stays open before one call may try.
    pub pause: Duration,
}

impl Default for BreakerLimits {
    /// Five failures in a minute, and half a minute of pause.
    fn default() -> BreakerLimits {
        BreakerLimits {
            failures: 5,
            window: Duration::from_secs(60),
            pause: Duration::from_secs(30),
        }
    }
}

/// The circuits of an engine.
pub(crate) struct Breaker {
    settings: BreakerSettings,
    clock: Arc<dyn Clock>,
    /// Those that have failed lately. One that is not here is closed.
    circuits: Mutex<HashMap<Arc<str>, Circuit>>,
}

/// Where a circuit stands. Times are milliseconds since 1970.
enum Circuit {
    /// Calls pass. When the last failures were.
    Closed(VecDeque<i64>),
    /// No call passes before that time.
    Open(i64),
    /// One call tries.
    Trying,
}

/// A call that was let pass: it says what became of it. Dropped without a word it says nothing of the service.
pub(crate) struct Pass {
    /// `None`: nobody wants to know.
    of: Option<(Arc<Breaker>, Arc<str>)>,
    trial: bool,
}

impl Breaker {
    pub(crate) fn new(settings: BreakerSettings, clock: Arc<dyn Clock>) -> Arc<Breaker> {
        Arc::new(Breaker {
            settings,
            clock,
            circuits: Mutex::default(),
        })
    }

    /// Lets a call pass, or says how long the circuit will not.
    pub(crate) fn admit(self: &Arc<Breaker>, name: &str) -> Result<Pass, Duration> {
        if self.limits(name).failures == 0 {
            return Ok(Pass {
                of: None,
                trial: false,
            });
        }
        let now = self.now();
        let mut circuits = self.lock();
        let name = match circuits.get_key_value(name) {
            Some((name, _)) => name.clone(),
            None => name.into(),
        };
        let trial = match circuits.get_mut(&name) {
            None | Some(Circuit::Closed(_)) => false,
            Some(Circuit::Open(until)) if *until > now => {
                return Err(Duration::from_millis(until.abs_diff(now)));
            }
            Some(open @ Circuit::Open(_)) => {
                *open = Circuit::Trying;
                true
            }
            Some(Circuit::Trying) => return Err(Duration::ZERO),
        };
        Ok(Pass {
            of: Some((self.clone(), name)),
            trial,
        })
    }

    /// The names of the circuits that are open, or tried after having been, in the order of the alphabet.
    pub(crate) fn open(&self) -> Vec<Arc<str>> {
        let circuits = self.lock();
        let open = circuits
            .iter()
            .filter(|(_, circuit)| !matches!(circuit, Circuit::Closed(_)));
        let mut names: Vec<Arc<str>> = open.map(|(name, _)| name.clone()).collect();
        names.sort();
        names
    }

    fn limits(&self, name: &str) -> BreakerLimits {
        *self
            .settings
            .named
            .get(name)
            .unwrap_or(&self.settings.usual)
    }

    fn now(&self) -> i64 {
        self.clock.now().0
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Circuit>> {
        self.circuits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call failed that was let pass.
    fn failed(&self, name: &Arc<str>, trial: bool) {
        let limits = self.limits(name);
        let now = self.now();
        let opened = Circuit::Open(now.saturating_add(milliseconds(limits.pause)));
        let mut circuits = self.lock();
        if trial {
            circuits.insert(name.clone(), opened);
            return;
        }
        if !circuits.contains_key(name) && circuits.len() >= CIRCUITS {
            circuits.retain(|name, circuit| {
                let window = milliseconds(self.limits(name).window);
                !matches!(circuit, Circuit::Closed(failures) if failures.back().is_none_or(|at| *at <= now - window))
            });
            if circuits.len() >= CIRCUITS {
                return;
            }
        }
        let circuit = circuits
            .entry(name.clone())
            .or_insert_with(|| Circuit::Closed(VecDeque::new()));
        // What began before it opened says nothing new.
        let Circuit::Closed(failures) = circuit else {
            return;
        };
        let window = milliseconds(limits.window);
        while failures.front().is_some_and(|at| *at <= now - window) {
            failures.pop_front();
        }
        failures.push_back(now);
        if failures.len() >= limits.failures as usize {
            *circuit = opened;
        }
    }
}

impl Pass {
    /// The service answered.
    pub(crate) fn succeeded(mut self) {
        if let Some((breaker, name)) = self.of.take()
            && self.trial
        {
            breaker.lock().remove(&name);
        }
    }

    /// The service is not well.
    pub(crate) fn failed(mut self) {
        if let Some((breaker, name)) = self.of.take() {
            breaker.failed(&name, self.trial);
        }
    }
}

impl Drop for Pass {
    /// Given up: the next call may try.
    fn drop(&mut self) {
        if let Some((breaker, name)) = self.of.take()
            && self.trial
        {
            let now = breaker.now();
            breaker.lock().insert(name, Circuit::Open(now));
        }
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use easel_core::event::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::clock::StandingClock;

    fn breaker(failures: u32) -> (Arc<Breaker>, Arc<StandingClock>) {
        let clock = Arc::new(StandingClock::at(Timestamp(0)));
        let usual = BreakerLimits {
            failures,
            window: Duration::from_secs(60),
            pause: Duration::from_secs(30),
        };
        let never = BreakerLimits {
            failures: 0,
            ..usual
        };
        let settings = BreakerSettings {
            usual,
            named: [("host:never".to_owned(), never)].into_iter().collect(),
        };
        (Breaker::new(settings, clock.clone()), clock)
    }

    fn pass(clock: &StandingClock, seconds: u64) {
        drop(clock.sleep(seconds * 1_000));
    }

    fn fail(breaker: &Arc<Breaker>, name: &str) {
        breaker.admit(name).ok().unwrap().failed();
    }

    #[test]
    fn a_circuit_opens_after_so_many_failures_and_closes_after_one_good_trial() {
        let (breaker, clock) = breaker(3);
        for _ in 0..3 {
            fail(&breaker, "host:a");
        }
        assert_eq!(breaker.admit("host:a").err(), Some(Duration::from_secs(30)));
        assert_eq!(breaker.open(), ["host:a".into()]);
        assert!(breaker.admit("host:b").is_ok(), "others go on");
        pass(&clock, 30);
        let trial = breaker.admit("host:a").ok().unwrap();
        assert!(breaker.admit("host:a").is_err(), "one trial at a time");
        trial.failed();
        assert_eq!(breaker.admit("host:a").err(), Some(Duration::from_secs(30)));
        pass(&clock, 30);
        // One that is given up leaves the trial to the next.
        drop(breaker.admit("host:a").ok().unwrap());
        breaker.admit("host:a").ok().unwrap().succeeded();
        assert!(breaker.open().is_empty());
        fail(&breaker, "host:a");
        assert!(breaker.admit("host:a").is_ok(), "it counts anew");
    }

    #[test]
    fn failures_outside_of_the_window_are_forgotten() {
        let (breaker, clock) = breaker(2);
        fail(&breaker, "host:a");
        pass(&clock, 60);
        fail(&breaker, "host:a");
        assert!(breaker.admit("host:a").is_ok());
        pass(&clock, 59);
        fail(&breaker, "host:a");
        assert!(breaker.admit("host:a").is_err());
    }

    #[test]
    fn a_circuit_that_is_switched_off_never_opens() {
        let (breaker, _) = breaker(1);
        for _ in 0..10 {
            fail(&breaker, "host:never");
        }
        assert!(breaker.admit("host:never").is_ok());
    }

    #[test]
    fn names_do_not_fill_the_memory() {
        let (breaker, clock) = breaker(2);
        for n in 0..2 * CIRCUITS {
            fail(&breaker, &format!("host:{n}"));
        }
        assert_eq!(breaker.lock().len(), CIRCUITS);
        pass(&clock, 60);
        fail(&breaker, "host:new");
        assert_eq!(breaker.lock().len(), 1, "those of long ago make room");
    }

    proptest! {
        /// Whatever happens: while a circuit is open nothing passes, and it never stays open by itself.
        #[test]
        fn an_open_circuit_lets_nothing_pass_and_can_always_close(
            steps in proptest::collection::vec((0_u8..4, 0_u64..40), 1..80)
        ) {
            let (breaker, clock) = breaker(3);
            let mut under_way = Vec::new();
            for (what, seconds) in steps {
                pass(&clock, seconds);
                let open = !breaker.open().is_empty();
                let trying = under_way.iter().any(|pass: &Pass| pass.trial);
                match breaker.admit("host:a") {
                    Ok(pass) => {
                        prop_assert_eq!(pass.trial, open);
                        prop_assert!(!(pass.trial && trying));
                        under_way.push(pass);
                    }
                    Err(wait) => prop_assert!(open && (trying || wait > Duration::ZERO)),
                }
                match (what, under_way.is_empty()) {
                    (_, true) | (3, _) => {}
                    (0, _) => under_way.remove(0).failed(),
                    (1, _) => under_way.remove(0).succeeded(),
                    _ => drop(under_way.remove(0)),
                }
            }
            drop(under_way);
            pass(&clock, 30);
            let last = breaker.admit("host:a");
            prop_assert!(last.is_ok());
            if let Ok(last) = last {
                last.succeeded();
            }
            prop_assert!(breaker.open().is_empty());
        }
    }
}
