//! Compares what happened with what is expected, at three levels.
//!
//! | level | what is compared |
//! |---|---|
//! | 1 | how each turn ended; which nodes finished, how often, with or without an error; the text of each message and its thinking |
//! | 2 | also: outputs of every node, `env.*`, the query, the count of turns, variables, the roles of the history, what goes with a message, the fields a question asks for. Of a turn that failed: that what had finished has finished, and `env.*` |
//! | 3 | also: the messages and tools of every model call, by node, and all other calls |
//!
//! Never compared: the wording of errors and notices, times, ids, usage, `path`, the text of `sys.history`, when nodes began, and
//! whatever begins with an underscore.

mod difference;
mod graph;
mod same;
mod view;

use serde_json::Value as Json;

pub use difference::Difference;
pub use graph::graph;
use same::same;

/// True if a file is the record of runs, which can be compared, and not a description of one for other programs.
pub fn is_trace(expected: &Json) -> bool {
    if graph::is_trace(expected) {
        return true;
    }
    let loads = expected.get("loads").is_some_and(view::truthy);
    let refused = expected.get("load_error").is_some() || expected.get("reset_error").is_some();
    let whole =
        |turn: &Json| turn.get("events").is_some_and(Json::is_array) && turn.get("end").is_some();
    let turns = expected.get("turns").and_then(Json::as_array);
    loads || refused || turns.is_some_and(|turns| turns.iter().all(whole))
}

/// Where what happened is not what is expected. `canvas` is the workflow's file.
pub fn canvas(expected: &Json, trace: &Json, level: u8, canvas: &Json) -> Vec<Difference> {
    let wanted = same::worded(expected);
    let turns = view::list(trace, "turns");
    if wanted.get("loads").is_some_and(view::truthy) {
        return loads(trace, turns);
    }
    match (wanted.get("load_error"), trace.get("load_error")) {
        (None, None) => {}
        (Some(_), Some(_)) => return Vec::new(),
        (Some(_), None) => return vec![Difference::new("loading", "to be refused", "success")],
        (None, Some(refusal)) => {
            return vec![Difference::new(
                "loading",
                "success",
                &difference::short(refusal),
            )];
        }
    }
    let wanted = view::list(&wanted, "turns");
    let mut differences = Vec::new();
    if wanted.len() != turns.len() {
        let count = |turns: &[Json]| turns.len().to_string();
        differences.push(Difference::new(
            "the number of turns",
            &count(wanted),
            &count(turns),
        ));
    }
    let items = view::items(canvas);
    for (at, (wanted, got)) in wanted.iter().zip(turns).enumerate() {
        let mut turn = Turn {
            number: at + 1,
            differences: &mut differences,
        };
        turn.compare(wanted, got, level, &items);
    }
    differences
}

/// The weakest expectation: it loads, and every turn ends.
fn loads(trace: &Json, turns: &[Json]) -> Vec<Difference> {
    if let Some(refusal) = trace.get("load_error") {
        return vec![Difference::new(
            "loading",
            "success",
            &difference::short(refusal),
        )];
    }
    let ends = |turn: &Json| turn.get("end").is_some_and(view::truthy);
    match !turns.is_empty() && turns.iter().all(ends) {
        true => Vec::new(),
        false => vec![Difference::new(
            "the turns",
            "an end of each",
            "a turn without one, or no turn",
        )],
    }
}

/// One turn under comparison.
struct Turn<'a> {
    number: usize,
    differences: &'a mut Vec<Difference>,
}

impl Turn<'_> {
    fn compare(&mut self, wanted: &Json, got: &Json, level: u8, items: &view::Items) {
        let (end, got_end) = (view::end(wanted), view::end(got));
        let failed = matches!(
            view::text(wanted, "end"),
            "error" | "raised" | "disconnected"
        );
        let (events, got_events) = (view::list(wanted, "events"), view::list(got, "events"));
        self.values("how it ended", &end.into(), &got_end.into());
        if !matches!(end, "cancelled" | "disconnected") {
            self.values(
                "messages",
                &view::messages(events),
                &view::messages(got_events),
            );
        }
        self.nodes(
            end,
            failed,
            &view::finished(events, items),
            &view::finished(got_events, items),
        );
        if level >= 2 {
            self.state(wanted, got, failed, items);
        }
        if level >= 2 && !failed {
            self.values(
                "what goes with messages",
                &view::message_ends(events),
                &view::message_ends(got_events),
            );
            self.values(
                "the question",
                &view::question(events),
                &view::question(got_events),
            );
        }
        if level >= 3 && !failed {
            let (calls, got_calls) = (
                view::object(wanted, "llm_calls"),
                view::object(got, "llm_calls"),
            );
            for node in view::keys([calls, got_calls]) {
                let what = format!("model calls of {node}");
                self.values(
                    &what,
                    &view::requests(calls, node),
                    &view::requests(got_calls, node),
                );
            }
            let other = |turn| Json::from(view::list(turn, "other_calls"));
            self.values("other calls", &other(wanted), &other(got));
        }
    }

    /// Which nodes finished, how often, and whether with an error.
    fn nodes(&mut self, end: &str, failed: bool, wanted: &view::Finished, got: &view::Finished) {
        let name = |(node, error): &(String, bool)| match error {
            true => format!("{node} (with an error)"),
            false => node.clone(),
        };
        for (key, times) in wanted {
            let got = got.get(key).copied().unwrap_or_default();
            // A turn that failed is over as soon as it fails: how often the others ran is a matter of luck.
            let enough = if failed {
                got > 0 || end == "cancelled"
            } else {
                got == *times
            };
            if !enough {
                let what = format!("how often {} finished", name(key));
                self.differ(&what, &times.to_string(), &got.to_string());
            }
        }
        for (key, times) in got
            .iter()
            .filter(|(key, _)| !failed && !wanted.contains_key(*key))
        {
            let what = format!("how often {} finished", name(key));
            self.differ(&what, "0", &times.to_string());
        }
    }

    /// What the turn left.
    fn state(&mut self, wanted: &Json, got: &Json, failed: bool, items: &view::Items) {
        let (wanted, got) = (view::part(wanted, "final"), view::part(got, "final"));
        let (globals, got_globals) = (
            view::object(wanted, "globals"),
            view::object(got, "globals"),
        );
        for name in view::keys([globals, got_globals]) {
            let compared = name.starts_with("env.")
                || (!failed && matches!(name, "sys.query" | "sys.conversation_turns"));
            if compared {
                let value = |globals: Option<&view::Members>| {
                    globals
                        .and_then(|g| g.get(name))
                        .cloned()
                        .unwrap_or_default()
                };
                self.values(name, &value(globals), &value(got_globals));
            }
        }
        if failed {
            return;
        }
        let (outputs, got_outputs) = (view::outputs(wanted), view::outputs(got));
        for node in view::keys([Some(&outputs), Some(&got_outputs)]) {
            if !items.contains(node) {
                let of = |outputs: &view::Members| {
                    outputs
                        .get(node)
                        .cloned()
                        .unwrap_or_else(|| Json::Object(view::Members::new()))
                };
                self.values(
                    &format!("outputs of {node}"),
                    &of(&outputs),
                    &of(&got_outputs),
                );
            }
        }
        self.values("variables", &view::variables(wanted), &view::variables(got));
        self.values(
            "the roles of the history",
            &view::roles(wanted),
            &view::roles(got),
        );
    }

    fn values(&mut self, what: &str, wanted: &Json, got: &Json) {
        if !same(wanted, got) {
            let what = format!("turn {}, {what}", self.number);
            self.differences
                .push(Difference::of_values(what, wanted, got));
        }
    }

    fn differ(&mut self, what: &str, wanted: &str, got: &str) {
        let what = format!("turn {}, {what}", self.number);
        self.differences.push(Difference::new(&what, wanted, got));
    }
}

#[cfg(test)]
mod tests;
