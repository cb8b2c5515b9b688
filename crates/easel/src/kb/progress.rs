//! How far adding documents is: a bar where somebody watches, a line for each document that is done.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::time::Duration;

use easel_knowledge::Outcome;
use indicatif::{ProgressBar, ProgressStyle};

use crate::out;

/// How often the bar is drawn anew.
const TICK: Duration = Duration::from_millis(100);

/// Shows how far adding is.
pub struct Shown {
    /// What moves; `None` where nobody watches.
    bar: Option<ProgressBar>,
    /// Nothing is told, since one object is printed in the end.
    quiet: bool,
    /// What was warned of.
    warnings: HashSet<String>,
}

impl Shown {
    /// `quiet` tells nothing.
    pub fn new(quiet: bool) -> Shown {
        let watched = !quiet && std::io::stderr().is_terminal();
        Shown {
            bar: watched.then(bar),
            quiet,
            warnings: HashSet::new(),
        }
    }

    /// A document is at hand, behind `done` of `total`.
    pub fn begins(&self, name: &str, done: usize, total: usize) {
        if let Some(bar) = &self.bar {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            bar.set_message(name.to_owned());
        }
    }

    /// What happens to it.
    pub fn step(&self, name: &str, step: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{name}: {step}"));
        }
    }

    /// What a user should know; the same is told once.
    pub fn warning(&mut self, text: &str) {
        if self.warnings.insert(text.to_owned()) {
            self.line(&format!("! {text}"));
        }
    }

    /// A document is done. What was there already needs no line.
    pub fn ended(&self, name: &str, done: usize, total: usize, outcome: &Outcome) {
        let outcome = match outcome {
            Outcome::Added => "added",
            Outcome::Replaced => "replaced",
            Outcome::Unchanged => return,
            Outcome::Partial(why) | Outcome::Failed(why) => why,
        };
        self.line(&format!("[{}/{total}] {name}: {outcome}", done + 1));
    }

    /// Nothing more will come.
    pub fn over(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            _ if self.quiet => {}
            Some(bar) => bar.suspend(|| out::tell(text)),
            None => out::tell(text),
        }
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:24.cyan} {pos}/{len} {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(TICK);
    bar
}
