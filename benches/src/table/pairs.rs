//! Measuring in alternating pairs: both sides meet the same weather.

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

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
