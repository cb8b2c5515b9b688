//! The terminal that an answer and the nodes at work share.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::out;

/// Standard output for the answer, standard error for everything else. Where both are one terminal they take turns: while a
/// line of the answer is unfinished, what moves is hidden and remarks wait.
pub struct Screen {
    /// What moves; `None` where nobody watches.
    moving: Option<MultiProgress>,
    /// Whether answer and remarks come out at the same place.
    shared: bool,
    /// Whether the answer stands in an unfinished line.
    open: bool,
    waiting: Vec<String>,
}

/// How often what moves is drawn anew.
const TICK: Duration = Duration::from_millis(100);

impl Screen {
    /// The screen of a command; `quiet` shows no nodes.
    pub fn new(quiet: bool) -> Screen {
        let watched = super::watched() && !quiet;
        Screen {
            moving: watched.then(MultiProgress::new),
            shared: watched && std::io::stdout().is_terminal(),
            open: false,
            waiting: Vec::new(),
        }
    }

    /// Whether somebody watches.
    pub fn is_watched(&self) -> bool {
        self.moving.is_some()
    }

    /// Adds a text to the answer.
    pub fn answer(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.hide();
        out::print(text);
        self.open = !text.ends_with('\n');
    }

    /// Shows a text that is beside the answer, dimmed. People who watch see it; pipes don't.
    pub fn aside(&mut self, text: &str) {
        if self.is_watched() && !text.is_empty() {
            self.hide();
            let mut err = std::io::stderr().lock();
            // A terminal that is gone shows nothing.
            let _ = write!(err, "\u{1b}[2m{text}\u{1b}[0m").and_then(|()| err.flush());
            self.open = !text.ends_with('\n');
        }
    }

    /// Ends a line of the answer that is unfinished.
    pub fn close_line(&mut self) {
        if std::mem::take(&mut self.open) {
            out::print("\n");
        }
        let Some(moving) = self.moving.as_ref().filter(|_| self.shared) else {
            return;
        };
        moving.set_draw_target(ProgressDrawTarget::stderr());
        for remark in self.waiting.drain(..) {
            moving.suspend(|| out::tell(&remark));
        }
    }

    /// Shows a line to people who watch.
    pub fn remark(&mut self, text: &str) {
        let line = one_line(text);
        match &self.moving {
            Some(_) if self.shared && self.open => self.waiting.push(line),
            Some(moving) => moving.suspend(|| out::tell(&line)),
            None => {}
        }
    }

    /// Shows a line, whoever reads it.
    pub fn notice(&mut self, text: &str) {
        match self.is_watched() {
            true => self.remark(text),
            false => out::tell(&one_line(text)),
        }
    }

    /// Something that moves until it is [done](Screen::done); `None` where nobody watches.
    pub fn begin(&self, text: &str) -> Option<ProgressBar> {
        let moving = self.moving.as_ref()?;
        let style = ProgressStyle::with_template("{spinner:.cyan} {msg} {elapsed:.dim}").ok()?;
        let bar = moving.add(
            ProgressBar::new_spinner()
                .with_style(style)
                .with_message(one_line(text)),
        );
        bar.enable_steady_tick(TICK);
        Some(bar)
    }

    /// Takes something that moved away.
    pub fn done(&self, bar: &ProgressBar) {
        bar.finish_and_clear();
        if let Some(moving) = &self.moving {
            moving.remove(bar);
        }
    }

    /// Makes room for an unfinished line.
    fn hide(&self) {
        if let Some(moving) = self.moving.as_ref().filter(|_| self.shared && !self.open) {
            // A terminal that is gone shows nothing.
            let _ = moving.clear();
            moving.set_draw_target(ProgressDrawTarget::hidden());
        }
    }
}

/// A text in one line, without what would move the cursor of a terminal: names and errors are other people's words.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}
