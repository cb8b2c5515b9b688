//! What a run was like: its state at any moment, and what people saw of it.

use std::time::Duration;

use easel_runtime::clock::local_date_time;
use easel_runtime::core::event::Timestamp;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value as Json;

use super::show::shown;
use crate::cli::{EventsOfRun, StateOfRun};
use crate::columns::Columns;
use crate::exit::Exit;
use crate::out;
use crate::problem::Problem;
use crate::reach::Reach;

/// How often it is looked for further events.
const LOOK_EVERY: Duration = Duration::from_millis(300);

/// Shows what a reference stood for, or everything.
pub async fn state(arguments: &StateOfRun) -> Result<Exit, Problem> {
    let reach = Reach::existing(&arguments.data).await?;
    let record = reach.run(&arguments.run).await?;
    let mut query = Vec::new();
    for (name, value) in [
        ("ref", &arguments.reference),
        ("at", &arguments.at),
        ("within", &arguments.within),
    ] {
        if let Some(value) = value {
            query.push(format!("{name}={}", encoded(value)));
        }
    }
    let path = format!("/v1/runs/{}/state?{}", record.id, query.join("&"));
    let view = reach.read(&record.origin.owner, path).await?;
    reach.close().await;
    let missing = view["found"] == false;
    if arguments.json {
        out::line(&format!("{view:#}"));
    } else if missing {
        let why = view["why"].as_str().unwrap_or("It stood for nothing.");
        out::tell(why);
    } else if arguments.reference.is_some() {
        out::line(&match &view["value"] {
            Json::String(text) => text.clone(),
            value => format!("{value:#}"),
        });
    } else {
        out::print(&everything(&view));
    }
    Ok(if missing { Exit::Failed } else { Exit::Done })
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Variables and outputs, a line each.
fn everything(view: &Json) -> String {
    let mut table = Columns::new(&["REFERENCE", "VALUE"]);
    let variables = view["variables"].as_object();
    for (name, value) in variables.into_iter().flatten() {
        table.row([name.clone(), shown(value)]);
    }
    let nodes = view["nodes"].as_object();
    for (id, node) in nodes.into_iter().flatten() {
        let outputs = node["outputs"].as_object();
        for (port, value) in outputs.into_iter().flatten() {
            table.row([format!("{id}@{port}"), shown(value)]);
        }
    }
    let life = view["life"].as_str().unwrap_or_default();
    let at = view["at"].as_u64().unwrap_or_default();
    format!(
        "At entry {at} of its journal, the run was {life}.\n\n{}",
        table.for_output()
    )
}

/// Prints what people saw.
pub async fn events(arguments: &EventsOfRun) -> Result<Exit, Problem> {
    let reach = Reach::existing(&arguments.data).await?;
    let record = reach.run(&arguments.run).await?;
    let mut after = arguments.after.clone();
    loop {
        let behind = after
            .as_deref()
            .map(|after| format!("?after={}", encoded(after)));
        let path = format!(
            "/v1/runs/{}/events{}",
            record.id,
            behind.unwrap_or_default()
        );
        let page = reach.read(&record.origin.owner, path).await?;
        let events = page["events"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        for event in events {
            out::line(&match arguments.json {
                true => event.to_string(),
                false => line(event),
            });
        }
        if let Some(next) = page["next"].as_str() {
            after = Some(next.to_owned());
        }
        let over = page["state"] != "running";
        match (arguments.follow, events.is_empty()) {
            // A full page may have another one behind it.
            (_, false) => continue,
            (true, true) if !over => tokio::time::sleep(LOOK_EVERY).await,
            _ => break,
        }
    }
    reach.close().await;
    Ok(Exit::Done)
}

/// An event in a line: its id, when it is known its time, its name, the node and what there is to say.
fn line(event: &Json) -> String {
    let said = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let data = &event["data"];
    let node = match (
        data["component_name"].as_str(),
        data["component_id"].as_str(),
    ) {
        (Some(name), _) if !name.is_empty() => name.to_owned(),
        (_, Some(id)) => id.to_owned(),
        _ => String::new(),
    };
    let what = match event["event"].as_str().unwrap_or_default() {
        "message" => shown(&data["content"]),
        "node_finished" if data["error"].is_string() => shown(&data["error"]),
        "node_finished" | "workflow_finished" => shown(&data["outputs"]),
        "workflow_started" => shown(&data["inputs"]),
        "user_inputs" => shown(&data["tips"]),
        "node_started" => String::new(),
        _ => shown(data),
    };
    let what = if what == "null" { String::new() } else { what };
    let when = data["created_at"].as_f64().map(|seconds| {
        let date = local_date_time(Timestamp((seconds * 1000.0) as i64));
        date.split_once(' ')
            .map(|(_, clock)| clock.to_owned())
            .unwrap_or(date)
    });
    let line = format!(
        "{:<8} {:<8} {:<18} {node:<20} {what}",
        said(&event["id"]),
        when.unwrap_or_default(),
        said(&event["event"]),
    );
    line.trim_end().to_owned()
}
