//! The nodes of a run as they go, for people who watch.

use std::collections::HashMap;

use easel_runtime::core::bind::Activation;
use easel_runtime::{EventKind, RunEvent, Subject};
use indicatif::ProgressBar;

use super::screen::Screen;

/// The nodes that are at work, each with what moves for it.
#[derive(Default)]
pub struct Tree {
    working: HashMap<Activation, ProgressBar>,
}

/// How far a body is set in.
const INDENT: &str = "  ";

impl Tree {
    /// Shows what an event says about nodes.
    pub fn event(&mut self, event: &RunEvent, screen: &mut Screen) {
        match &event.kind {
            EventKind::NodeStarted {
                subject,
                activation,
                scope,
                ..
            } if shown(subject) => {
                let name = format!("{}{}", INDENT.repeat(scope.len()), subject.name());
                if opens_body(subject) {
                    screen.remark(&format!("▾ {name}"));
                }
                if let Some(bar) = screen.begin(&name) {
                    self.working.insert(*activation, bar);
                }
            }
            EventKind::AttemptFailed { subject, step } => {
                let fault = step.fault.as_ref().map_or("", |fault| &fault.message);
                let indent = INDENT.repeat(step.scope.len());
                screen.remark(&format!(
                    "↻ {indent}{} is tried again: {fault}",
                    subject.name()
                ));
            }
            EventKind::NodeFinished {
                subject,
                step,
                started,
            } if shown(subject) => {
                if let Some(bar) = self.working.remove(&step.activation) {
                    screen.done(&bar);
                }
                let mark = if step.fault.is_some() { "✗" } else { "✓" };
                let indent = INDENT.repeat(step.scope.len());
                let took = duration(step.ended.0 - started.0);
                screen.remark(&format!("{mark} {indent}{} {took}", subject.name()));
            }
            EventKind::ToolCall {
                subject,
                tool,
                milliseconds,
                ..
            } => {
                let took = duration(i64::try_from(*milliseconds).unwrap_or(i64::MAX));
                screen.remark(&format!("  {} called {tool} {took}", subject.name()));
            }
            EventKind::Warning {
                subject: Some(subject),
                text,
            } => screen.remark(&format!("! {}: {text}", subject.name())),
            // It is about what the user gave, so it reaches the user.
            EventKind::Warning {
                subject: None,
                text,
            } => screen.notice(text),
            _ => {}
        }
    }

    /// Takes away whatever still moves.
    pub fn clear(&mut self, screen: &Screen) {
        for (_, bar) in self.working.drain() {
            screen.done(&bar);
        }
    }
}

/// The start of a body is a place to draw edges from, and nothing that works.
fn shown(subject: &Subject) -> bool {
    !matches!(&**subject.component(), "IterationItem" | "LoopItem")
}

fn opens_body(subject: &Subject) -> bool {
    matches!(
        &**subject.component(),
        "Iteration" | "Loop" | "map" | "loop" | "subgraph"
    )
}

/// Milliseconds as people read them.
pub fn duration(milliseconds: i64) -> String {
    match milliseconds {
        ..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{:.1} s", milliseconds as f64 / 1_000.0),
        _ => format!(
            "{} min {} s",
            milliseconds / 60_000,
            milliseconds / 1_000 % 60
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn times_are_short() {
        assert_eq!(duration(7), "7 ms");
        assert_eq!(duration(1_250), "1.2 s");
        assert_eq!(duration(125_000), "2 min 5 s");
    }
}
