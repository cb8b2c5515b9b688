//! Measuring in alternating pairs: both sides meet the same weather.

use std::fmt;
use std::time::{Duration, Instant};

/// Pairs of measurements a row.
const PAIRS: usize = 15;

/// How long one measurement should take at least.
const ENOUGH: Duration = Duration::from_millis(5);

/// The medians of both sides, each for one call.
#[derive(Clone, Copy)]
pub struct Pair {
    /// What is measured.
    pub ours: Duration,
    /// What it is measured against.
    pub theirs: Duration,
}

impl Pair {
    /// How many times as long ours takes.
    pub fn ratio(self) -> f64 {
        self.ours.as_secs_f64() / self.theirs.as_secs_f64()
    }
}

/// Calls both sides in turn, short ones several times in a row.
pub fn measure(mut ours: impl FnMut(), mut theirs: impl FnMut()) -> Pair {
    let (often, their_often) = (repeats(&mut ours), repeats(&mut theirs));
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        a.push(time(&mut ours, often));
        b.push(time(&mut theirs, their_often));
    }
    Pair {
        ours: median(a),
        theirs: median(b),
    }
}

/// Warms up, and sees how often to call it so that the clock can tell.
fn repeats(work: &mut dyn FnMut()) -> u32 {
    time(work, 1);
    let once = time(work, 1).max(Duration::from_nanos(1));
    (ENOUGH.as_nanos() / once.as_nanos()).clamp(1, 100_000) as u32
}

fn time(work: &mut dyn FnMut(), times: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        work();
    }
    start.elapsed() / times
}

/// The middle one.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Both sides of so many pairs, in the order in which they were measured.
pub struct Spread(Vec<(Duration, Duration)>);

/// Calls both sides in turn, once each in every pair, after one pair that does not count.
pub fn alternate(pairs: usize, mut ours: impl FnMut(), mut theirs: impl FnMut()) -> Spread {
    let mut pair = || (time(&mut ours, 1), time(&mut theirs, 1));
    pair();
    Spread((0..pairs).map(|_| pair()).collect())
}

impl Spread {
    /// The median of our side.
    pub fn ours(&self) -> Duration {
        median(self.0.iter().map(|(ours, _)| *ours).collect())
    }

    /// The median of the other side.
    pub fn theirs(&self) -> Duration {
        median(self.0.iter().map(|(_, theirs)| *theirs).collect())
    }
}

impl fmt::Display for Spread {
    /// The median of the pairs' ratios, and between which two the middle half of them lies.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ratio =
            |(ours, theirs): &(Duration, Duration)| ours.as_secs_f64() / theirs.as_secs_f64();
        let mut ratios: Vec<f64> = self.0.iter().map(ratio).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let at = |quarter: usize| ratios[(ratios.len() - 1) * quarter / 4];
        write!(f, "{:.2} ({:.2} to {:.2})", at(2), at(1), at(3))
    }
}
