//! Comparing the trace of a graph.
//!
//! | level | what is compared |
//! |---|---|
//! | 1 | whether it loads; where each node stands; what the run gave out and whether it succeeded; the rows of a battery |
//! | 2 | also: outputs of every node, arguments that tools got, what is asked for, whether it is valid, that what the check should say is said, that no secret was seen where none belongs |
//! | 3 | also: every model request, constant texts by their names |

use std::collections::BTreeSet;

use easel_runtime::components::graph::WORDING;
use serde_json::{Value as Json, json};

use super::difference::Difference;
use super::same::same;
use super::view;

/// True if a file is the record of a graph's run.
pub fn is_trace(expected: &Json) -> bool {
    expected.get("load").is_some()
        || expected.get("results").is_some()
        || expected.get("run").is_some()
}

/// Where what happened is not what is expected.
pub fn graph(expected: &Json, trace: &Json, level: u8) -> Vec<Difference> {
    let mut found = Found(Vec::new());
    let loads = |trace: &Json| {
        trace
            .pointer("/load/ok")
            .and_then(Json::as_bool)
            .unwrap_or(true)
    };
    let (wanted, got) = (loads(expected), loads(trace));
    found.values("whether it loads", &json!(wanted), &json!(got));
    if !(wanted && got) {
        return found.0;
    }
    if expected.get("results").is_some() {
        found.rows(
            view::list(expected, "results"),
            view::list(trace, "results"),
        );
        return found.0;
    }
    match (expected.get("run"), trace.get("run")) {
        // What left the old engine as an exception is a failed run here.
        (None, Some(run)) if expected.get("raised").is_some() && expected["valid"] != false => {
            found.values(
                "whether it succeeded",
                &json!(false),
                view::part(run, "succeeded"),
            );
            return found.0;
        }
        (Some(wanted), Some(got)) => found.run(wanted, got, level),
        (None, None) => {}
        (wanted, _) => {
            let (wanted, got) = if wanted.is_some() {
                ("one", "none")
            } else {
                ("none", "one")
            };
            found.0.push(Difference::new("the run", wanted, got));
            return found.0;
        }
    }
    if level >= 2 {
        found.around(expected, trace);
    }
    if level >= 3 {
        let wanted = requests(expected);
        found.values("the model requests", &wanted, &requests(trace));
    }
    found.0
}

struct Found(Vec<Difference>);

impl Found {
    fn values(&mut self, what: &str, wanted: &Json, got: &Json) {
        if !same(wanted, got) {
            self.0
                .push(Difference::of_values(what.to_owned(), wanted, got));
        }
    }

    fn rows(&mut self, wanted: &[Json], got: &[Json]) {
        self.values(
            "the number of rows",
            &json!(wanted.len()),
            &json!(got.len()),
        );
        const KEYS: [&str; 7] = [
            "value",
            "normalised",
            "redacted",
            "expanded",
            "rendered",
            "output",
            "as_guard",
        ];
        for (at, (wanted, got)) in wanted.iter().zip(got).enumerate() {
            let fails = |row: &Json| row.get("error").is_some();
            let holds = match fails(wanted) || fails(got) {
                true => fails(wanted) == fails(got),
                false => KEYS.iter().all(|key| {
                    wanted
                        .get(key)
                        .is_none_or(|wanted| same(wanted, view::part(got, key)))
                }),
            };
            if !holds {
                self.0.push(Difference::of_values(
                    format!("row {}", at + 1),
                    wanted,
                    got,
                ));
            }
        }
    }

    fn run(&mut self, wanted: &Json, got: &Json, level: u8) {
        let nodes = |run| view::object(run, "nodes");
        for id in view::keys([nodes(wanted), nodes(got)]) {
            let node = |run: &Json| run.pointer("/nodes").and_then(|n| n.get(id)).cloned();
            let (wanted, got) = (
                node(wanted).unwrap_or_default(),
                node(got).unwrap_or_default(),
            );
            let mut part = |what: &str, key: &str| {
                self.values(
                    &format!("{what} of {id}"),
                    view::part(&wanted, key),
                    view::part(&got, key),
                );
            };
            part("the status", "status");
            if level >= 2 {
                part("the output", "output");
                part("what stands beside the output", "structured");
            }
        }
        self.values(
            "what the run gave out",
            view::part(wanted, "final"),
            view::part(got, "final"),
        );
        if let Some(succeeded) = wanted.get("succeeded") {
            self.values(
                "whether it succeeded",
                succeeded,
                view::part(got, "succeeded"),
            );
        }
    }

    fn around(&mut self, wanted: &Json, got: &Json) {
        if let Some(valid) = wanted.get("valid") {
            self.values("whether it is valid", valid, view::part(got, "valid"));
        }
        let (said, wanted_said) = (said(got), said(wanted));
        let missing: Vec<&(String, String)> = wanted_said.difference(&said).collect();
        if !missing.is_empty() {
            let missing: Vec<String> = missing
                .iter()
                .map(|(severity, node)| format!("{severity} {node}"))
                .collect();
            self.0.push(Difference::new(
                "what the check says",
                &missing.join(", "),
                "nothing of it",
            ));
        }
        if wanted["valid"] == true && said.iter().any(|(severity, _)| severity == "error") {
            self.0.push(Difference::new(
                "what the check says",
                "no error",
                "an error",
            ));
        }
        let calls = |trace: &Json| json!(view::list(trace, "tool_calls"));
        self.values("the calls of tools", &calls(wanted), &calls(got));
        let asked = |trace: &Json| {
            let mut asked: Vec<String> = view::list(trace, "requirements")
                .iter()
                .map(Json::to_string)
                .collect();
            asked.sort();
            json!(asked)
        };
        self.values("what is asked for", &asked(wanted), &asked(got));
        let seen = view::object(got, "secret_seen_in");
        for (name, places) in seen.into_iter().flatten() {
            for (place, seen) in places.as_object().into_iter().flatten() {
                let allowed = &wanted["secret_seen_in"][name][place];
                if view::truthy(seen) && !view::truthy(allowed) {
                    let what = format!("the secret {name}");
                    self.0.push(Difference::new(
                        &what,
                        "not to be seen",
                        &format!("in {place}"),
                    ));
                }
            }
        }
    }
}

/// What the check says, as severity and node.
fn said(trace: &Json) -> BTreeSet<(String, String)> {
    let said = view::list(trace, "diagnostics").iter().map(|one| {
        let node = one["node"].as_str().unwrap_or("the graph");
        (view::text(one, "severity").to_lowercase(), node.to_owned())
    });
    said.collect()
}

/// What models were asked. Constant texts go by their names, so that only what differs from run to run is compared. A
/// description of the host is never told, whoever expects it (design.md §4).
fn requests(trace: &Json) -> Json {
    let calls = view::list(trace, "llm_calls").iter();
    let parts = calls.map(|call| {
        json!({
            "system": by_name(view::part(call, "system")),
            "messages": by_name(view::part(call, "messages")),
            "tools": call.get("tools"),
        })
    });
    parts.collect()
}

const HOST: &str = "<ENVIRONMENT>";

fn by_name(told: &Json) -> Json {
    match told {
        Json::String(text) => {
            let mut text = text.clone();
            for (name, words) in WORDING {
                text = text.replace(words, name);
            }
            if let Some((before, after)) = text.split_once(HOST) {
                text = format!("{}{after}", before.trim_end());
            }
            text.into()
        }
        Json::Array(items) => items.iter().map(by_name).collect(),
        Json::Object(members) => {
            let members = members.iter().map(|(key, it)| (key.clone(), by_name(it)));
            Json::Object(members.collect())
        }
        other => other.clone(),
    }
}
