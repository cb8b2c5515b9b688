//! One run for people: where it stands, what it was given and gave, what it asks, and its steps.

use std::fmt::Write as _;

use easel_runtime::Timestamp;
use easel_runtime::clock::local_date_time;
use serde_json::Value as Json;

use super::{count, took};
use crate::cli::ShowRun;
use crate::columns::{Columns, one_line};
use crate::exit::Exit;
use crate::out;
use crate::problem::Problem;
use crate::reach::Reach;

/// How much of a value is shown in a line.
const SHORT: usize = 100;

/// Shows a run.
pub async fn show(arguments: &ShowRun) -> Result<Exit, Problem> {
    let reach = Reach::existing(&arguments.data).await?;
    let record = reach.run(&arguments.run).await?;
    let owner = &record.origin.owner;
    let mut view = reach.read(owner, format!("/v1/runs/{}", record.id)).await?;
    let steps = match arguments.steps {
        true => Some(steps(&reach, &record, arguments.node.as_deref()).await?),
        false => None,
    };
    if arguments.json {
        if let Some(steps) = steps {
            view["steps"] = steps.into();
        }
        view["owner"] = Json::from(&**owner);
        out::line(&format!("{view:#}"));
    } else {
        let said = said(&reach, &record).await;
        out::print(&about(&view, owner, &said));
        match &steps {
            Some(steps) => out::print(&format!("\n{}", table_of(steps))),
            None => out::print(&nodes(&view)),
        }
        if let Some(question) = question(&view) {
            out::print(&format!("\n{question}"));
        }
    }
    reach.close().await;
    Ok(Exit::Done)
}

/// Every attempt, of every page.
async fn steps(
    reach: &Reach,
    record: &easel_store::RunRecord,
    node: Option<&str>,
) -> Result<Vec<Json>, Problem> {
    let mut all = Vec::new();
    loop {
        let path = format!("/v1/runs/{}/steps?offset={}", record.id, all.len());
        let page = reach.read(&record.origin.owner, path).await?;
        let some = page["steps"].as_array().cloned().unwrap_or_default();
        let total = page["total"].as_u64().unwrap_or_default();
        let none = some.is_empty();
        all.extend(some);
        if none || all.len() as u64 >= total {
            break;
        }
    }
    if let Some(node) = node {
        all.retain(|step| step["node"] == node);
        if all.is_empty() {
            return Err(
                Problem::usage(format!("No attempt of {node:?} is in this run."))
                    .fix("`easel runs show RUN --steps` names the nodes."),
            );
        }
    }
    Ok(all)
}

/// What the user of a canvas said; blank if there is no such thing.
async fn said(reach: &Reach, record: &easel_store::RunRecord) -> Json {
    let path = format!("/v1/runs/{}/state?ref=sys.query", record.id);
    // A graph has no such reference, and of a run that just began nothing is known yet.
    let state = reach.read(&record.origin.owner, path).await;
    state
        .map(|state| state["value"].clone())
        .unwrap_or_default()
}

/// Where a run stands.
fn about(view: &Json, owner: &str, query: &Json) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(text, "{name:<8}  {value}");
        }
    };
    let said = |key: &str| view[key].as_str().unwrap_or_default().to_owned();
    line("Run", said("id"));
    line("State", said("state"));
    line("Agent", agent(view));
    let user = match said("user") {
        user if user.is_empty() => String::new(),
        user => format!(" for {user}"),
    };
    line("Owner", format!("{owner}{user}, by {}", said("trigger")));
    line("Session", said("session"));
    let (began, changed) = (time(view, "created_at"), time(view, "updated_at"));
    line(
        "Began",
        match view["state"].as_str() {
            Some("finished" | "failed" | "cancelled") => format!(
                "{}, over after {}",
                local_date_time(Timestamp(began)),
                took(changed - began)
            ),
            _ => format!(
                "{}, last changed {}",
                local_date_time(Timestamp(began)),
                local_date_time(Timestamp(changed))
            ),
        },
    );
    let (tokens, calls) = (
        view["usage"]["total_tokens"].as_u64().unwrap_or(0),
        view["usage"]["calls"].as_u64().unwrap_or(0),
    );
    if calls > 0 {
        line(
            "Tokens",
            format!("{tokens} in {}", count(calls, "request", "requests")),
        );
    }
    if !is_blank(query) {
        line("Asked", shown(query));
    }
    line("Given", members(&view["inputs"]));
    line("Gave", members(&view["final"]));
    line("Failed", said("error"));
    text
}

fn agent(view: &Json) -> String {
    let said = |key: &str| view[key].as_str().unwrap_or_default();
    match (said("workflow"), said("agent"), said("version")) {
        ("", "", _) => String::new(),
        ("", id, _) => format!("{id}, which is gone"),
        (name, _, "") => format!("{name}, its draft"),
        (name, _, version) => format!("{name}, version {version}"),
    }
}

fn time(view: &Json, key: &str) -> i64 {
    (view[key].as_f64().unwrap_or_default() * 1000.0).round() as i64
}

/// The members of an object in a line each, the first one behind the name of the line.
fn members(value: &Json) -> String {
    let Some(members) = value.as_object() else {
        return String::new();
    };
    let lines = members.iter().filter(|(_, value)| !is_blank(value));
    let lines: Vec<String> = lines
        .map(|(name, value)| format!("{name}: {}", shown(value)))
        .collect();
    lines.join("\n          ")
}

/// A value in a line.
pub fn shown(value: &Json) -> String {
    let text = match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    short(&one_line(&text))
}

fn is_blank(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn short(text: &str) -> String {
    match text.chars().count() {
        count if count > SHORT => {
            let cut: String = text.chars().take(SHORT - 1).collect();
            format!("{cut}…")
        }
        _ => text.to_owned(),
    }
}

/// What became of each node outside of bodies.
fn nodes(view: &Json) -> String {
    let Some(nodes) = view["nodes"].as_object().filter(|nodes| !nodes.is_empty()) else {
        return String::new();
    };
    let mut table = Columns::new(&["NODE", "NAME", "STATE", "TRIES", "TOOK", "GAVE"]);
    for (id, node) in nodes {
        let gave = match node["error"].as_str() {
            Some(error) => short(&one_line(error)),
            None => outputs(&node["output"]),
        };
        table.row([
            id.clone(),
            node["name"].as_str().unwrap_or_default().to_owned(),
            node["status"].as_str().unwrap_or_default().to_owned(),
            tries(&node["attempts"]),
            took(node["duration_ms"].as_i64().unwrap_or(0)),
            gave,
        ]);
    }
    format!("\n{}", table.for_output())
}

/// A number of attempts; a form makes none.
fn tries(count: &Json) -> String {
    count
        .as_u64()
        .filter(|count| *count > 0)
        .map(|count| count.to_string())
        .unwrap_or_default()
}

/// What a node gave, in a line; of several ports those that are not blank.
fn outputs(value: &Json) -> String {
    let Some(ports) = value.as_object() else {
        return shown(value);
    };
    let ports: Vec<(&String, &Json)> = ports
        .iter()
        .filter(|(name, value)| !name.starts_with('_') && !is_blank(value))
        .collect();
    match ports.as_slice() {
        [(_, only)] => shown(only),
        several => {
            let parts = several.iter().map(|(name, value)| {
                let text = shown(value);
                format!("{name}: {text}")
            });
            short(&parts.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Every attempt in a line, with what it gave or why it failed.
fn table_of(steps: &[Json]) -> String {
    let mut table = Columns::new(&[
        "BEGAN", "NODE", "PASS", "TRY", "STATE", "TOOK", "TOKENS", "GAVE",
    ]);
    for step in steps {
        let said = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
        let passes = step["scope"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let passes = passes.iter().map(|pass| {
            let index = pass["index"].as_u64().unwrap_or_default();
            (index + 1).to_string()
        });
        let gave = match step["fault"]["message"].as_str() {
            Some(fault) => short(&one_line(fault)),
            None => outputs(&step["outputs"]),
        };
        let tokens = step["usage"]["total_tokens"].as_u64().unwrap_or(0);
        let began = local_date_time(Timestamp(time(step, "started_at")));
        let clock = began.split_once(' ').map(|(_, clock)| clock.to_owned());
        table.row([
            clock.unwrap_or(began),
            said("node"),
            passes.collect::<Vec<_>>().join("."),
            tries(&step["attempt"]),
            said("state"),
            step["duration_ms"].as_i64().map(took).unwrap_or_default(),
            if tokens > 0 {
                tokens.to_string()
            } else {
                String::new()
            },
            gave,
        ]);
    }
    table.for_output()
}

/// What a run asks, and how to answer; `None` if it asks nothing.
pub fn question(view: &Json) -> Option<String> {
    let id = view["id"].as_str().unwrap_or_default();
    let mut text = String::new();
    if let Some(fields) = view["question"]["fields"].as_object() {
        text.push_str("It waits for an answer.\n");
        let tips = view["question"]["tips"].as_str().unwrap_or_default();
        if !tips.trim().is_empty() {
            let _ = write!(text, "\n{}\n", tips.trim_end());
        }
        text.push('\n');
        for (key, field) in fields {
            let _ = writeln!(text, "  {}", declared(key, field));
        }
        let example = fields
            .iter()
            .map(|(key, field)| match field["optional"] == true {
                true => format!("[{key}=…]"),
                false => format!("{key}=…"),
            });
        let example: Vec<String> = example.collect();
        let _ = writeln!(
            text,
            "\nAnswer: easel runs answer {id} {}",
            example.join(" ")
        );
        return Some(text);
    }
    let writes = view["uncertain"]
        .as_array()
        .filter(|writes| !writes.is_empty())?;
    text.push_str("It does not know whether a write reached the outside.\n\n");
    let several = writes.len() > 1;
    for write in writes {
        let number = &write["activation"];
        let asked = write["question"].as_str().unwrap_or_default();
        let _ = match several {
            true => writeln!(text, "  {number}: {asked}"),
            false => writeln!(text, "  {asked}"),
        };
        let key = write["key"].as_str().unwrap_or_default();
        let _ = writeln!(text, "  Idempotency key: {key}");
    }
    let which = if several { " --write N" } else { "" };
    let _ = writeln!(
        text,
        "\nDecide: easel runs answer {id}{which} --repeat | --happened JSON | --failed REASON"
    );
    Some(text)
}

/// A field of a form in a line.
fn declared(key: &str, field: &Json) -> String {
    let mut line = key.to_owned();
    if let Some(name) = field["name"]
        .as_str()
        .filter(|name| *name != key && !name.is_empty())
    {
        let _ = write!(line, ": {name}");
    }
    let mut about: Vec<String> = Vec::new();
    if let Some(kind) = field["type"].as_str().filter(|kind| !kind.is_empty()) {
        about.push(kind.to_owned());
    }
    if let Some(options) = field["options"]
        .as_array()
        .filter(|options| !options.is_empty())
    {
        about.push(options.iter().map(shown).collect::<Vec<_>>().join(" | "));
    }
    if field["optional"] == true {
        about.push("may stay empty".to_owned());
    }
    if !about.is_empty() {
        let _ = write!(line, " ({})", about.join(", "));
    }
    line
}
