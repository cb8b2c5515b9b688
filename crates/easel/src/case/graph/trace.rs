//! What a graph case did, in the form of `expected.json`.

use std::sync::Arc;

use easel_runtime::check::Diagnostic;
use easel_runtime::core::draft::{RESULTS, STOP, VERDICTS};
use easel_runtime::core::machine::NodeLife;
use easel_runtime::graphs::document::{Node, OutputSchema};
use easel_runtime::graphs::kind::Kind;
use easel_runtime::{Ending, Engine, Object, Value, Workflow};
use serde_json::{Map, Value as Json, json};

use super::Ran;
use super::files::Case;

/// What the check says, without prose.
pub fn diagnostics(found: &[Diagnostic]) -> Json {
    let shown = found.iter().map(|found| {
        json!({
            "code": found.code, "severity": found.severity, "node": found.node.as_deref(),
            "message": found.message,
        })
    });
    shown.collect()
}

/// The stored values that the graph asks for, each once, by name.
pub fn requirements(engine: &Engine, workflow: &Workflow) -> Json {
    let mut asked: Vec<(Arc<str>, Arc<str>)> = Vec::new();
    for use_ in workflow.secrets().asked() {
        if !asked.iter().any(|(name, _)| *name == use_.name) {
            asked.push((use_.name.clone(), use_.node.clone()));
        }
    }
    asked.sort();
    let file = |node: &Arc<str>| {
        let graph = workflow.graph();
        graph.map_or(node.clone(), |graph| graph.id_in_file(node).clone())
    };
    let shown = asked.iter().map(|(name, node)| {
        let found = engine.secrets().find(name).ok().flatten();
        json!({
            "name": &**name, "source": format!("node:{}", file(node)),
            "satisfied": found.is_some(), "problem": false,
        })
    });
    shown.collect()
}

/// Adds what a run did.
pub fn add_run(
    trace: &mut Json,
    case: &Case,
    workflow: &Workflow,
    ran: &Ran,
    tool_calls: &[Json],
    model_calls: &[Json],
) {
    let top: Vec<&Node> = match workflow.graph() {
        Some(graph) => graph.document().nodes.iter().collect(),
        None => Vec::new(),
    };
    match &ran.ending {
        Err(error) => trace["raised"] = json!({"type": "inputs", "message": error.to_string()}),
        Ok(ending) => {
            let mut nodes = Map::new();
            let mut errors = Map::new();
            for node in &top {
                let Some((_, life, ports)) = ran.nodes.iter().find(|(id, ..)| **id == **node.id)
                else {
                    continue;
                };
                let (shown, error) = shown(node, *life, ports);
                if let (Some(error), Some(NodeLife::Failed | NodeLife::Handled)) = (error, life) {
                    errors.insert(node.id.to_string(), error);
                }
                nodes.insert(node.id.to_string(), shown);
            }
            let finals = ran.outputs.iter().map(|(id, value)| {
                let node = top.iter().find(|node| **node.id == **id);
                (
                    id.to_string(),
                    node.map_or(value.to_json(), |node| modelled(node, value)),
                )
            });
            trace["run"] = json!({
                "nodes": nodes,
                "final": finals.collect::<Map<_, _>>(),
                "errors": errors,
                "succeeded": matches!(ending, Ending::Finished),
                "waiting": matches!(ending, Ending::Waiting),
            });
        }
    }
    if !tool_calls.is_empty() {
        trace["tool_calls"] = json!(tool_calls);
    }
    if !model_calls.is_empty() {
        trace["llm_calls"] = json!(model_calls);
    }
    trace["events"] = json!(ran.events);
    let places = [
        ("tool_args", json!(tool_calls).to_string()),
        ("llm_prompt", json!(model_calls).to_string()),
        ("run_record_inputs_or_nodes", record(ran, "node_finished")),
        ("trace_file", json!(ran.events).to_string()),
        ("node_output", member(ran, "outputs")),
        ("node_error", member(ran, "error")),
        ("node_input", member(ran, "inputs")),
        ("logs", String::new()),
    ];
    add_seen(trace, case, &places);
}

/// Says of a case whose graph did not run that no secret was seen anywhere.
pub fn add_nothing_seen(trace: &mut Json, case: &Case) {
    let names = [
        "tool_args",
        "llm_prompt",
        "run_record_inputs_or_nodes",
        "trace_file",
        "node_output",
        "node_error",
        "node_input",
        "logs",
    ];
    add_seen(trace, case, &names.map(|name| (name, String::new())));
}

fn add_seen(trace: &mut Json, case: &Case, places: &[(&str, String)]) {
    let mut seen = Map::new();
    for (name, value) in &case.inputs.secrets {
        let Some(value) = value.as_str() else {
            continue;
        };
        // As it stands in JSON.
        let written = json!(value).to_string();
        let written = written.trim_matches('"');
        let found = places
            .iter()
            .map(|(place, text)| ((*place).to_owned(), json!(text.contains(written))));
        let mut found: Map<String, Json> = found.collect();
        found.insert("length".to_owned(), json!(0));
        seen.insert(name.clone(), Json::Object(found));
    }
    if !seen.is_empty() {
        trace["secret_seen_in"] = Json::Object(seen);
    }
}

fn record(ran: &Ran, event: &str) -> String {
    let events = ran.events.iter().filter(|e| e["event"] == event);
    json!(events.collect::<Vec<_>>()).to_string()
}

fn member(ran: &Ran, name: &str) -> String {
    let events = ran.events.iter().map(|event| &event["data"][name]);
    json!(events.collect::<Vec<_>>()).to_string()
}

/// A node of the run, and the text of its error.
fn shown(node: &Node, life: Option<NodeLife>, ports: &Object) -> (Json, Option<Json>) {
    let status = match life {
        Some(NodeLife::Done) => "ok",
        Some(NodeLife::Failed | NodeLife::Handled | NodeLife::Cancelled) => "error",
        Some(NodeLife::Dead | NodeLife::Skipped) => "skipped",
        _ => "waiting",
    };
    let ran = status == "ok";
    let value = ports
        .get("value")
        .filter(|_| ran)
        .cloned()
        .unwrap_or_default();
    let mut shown = json!({"status": status, "output": modelled(node, &value)});
    let error = ports.get("_ERROR").map(Value::to_json);
    if status == "error" {
        shown["error"] = error.clone().unwrap_or_default();
    }
    if ran && let Some(structured) = structured(node, &value, ports) {
        shown["structured"] = structured;
    }
    (shown, error)
}

/// A value; the answer in a shape of a model node as that of an instance of its class.
fn modelled(node: &Node, value: &Value) -> Json {
    let class = match (*node.kind, node.output_schema.as_deref()) {
        (Kind::Base | Kind::React, Some(OutputSchema::Schema(_))) => {
            format!("{}_output", &*node.id)
        }
        (Kind::Base | Kind::React, Some(OutputSchema::Class(path))) => path
            .rsplit([':', '.'])
            .next()
            .unwrap_or_default()
            .to_owned(),
        _ => return value.to_json(),
    };
    match value {
        Value::Object(_) => json!({"$model": class, "fields": value.to_json()}),
        other => other.to_json(),
    }
}

/// What stands beside the value of a node.
fn structured(node: &Node, value: &Value, ports: &Object) -> Option<Json> {
    let details = ports.get("details").map(Value::to_json);
    match *node.kind {
        Kind::Base | Kind::React => {
            node.output_schema.as_ref()?;
            Some(modelled(node, value))
        }
        Kind::Router | Kind::Input | Kind::Output => details,
        Kind::Map => Some(json!({"count": value.as_array().map_or(0, <[Value]>::len)})),
        Kind::Subgraph => {
            let ids: Vec<&str> = node.body.iter().map(|node| &**node.id).collect();
            Some(json!({"body_nodes": ids}))
        }
        Kind::Loop => Some(iterations(ports)),
        Kind::Tool | Kind::Function | Kind::Python => None,
    }
}

fn iterations(ports: &Object) -> Json {
    let list = |port: &str| {
        ports
            .get(port)
            .and_then(Value::as_array)
            .unwrap_or_default()
    };
    let (results, verdicts) = (list(RESULTS), list(VERDICTS));
    let stops = |verdict: &Value| verdict.get(STOP).is_some_and(Value::is_truthy);
    let results: Vec<Json> = results.iter().map(Value::to_json).collect();
    let mut shown = json!({
        "iterations": results.len(),
        "broke_early": verdicts.last().is_some_and(stops),
        "results": results,
    });
    let by_model = verdicts
        .iter()
        .any(|verdict| verdict.get("related").is_some());
    if by_model {
        let judged = verdicts.iter().enumerate().map(|(at, verdict)| {
            let text = |name: &str| verdict.get(name).map(Value::to_json).unwrap_or_default();
            json!({
                "iteration": at + 1, "stop": stops(verdict), "reason": text("feedback"),
                "related": text("related"),
            })
        });
        shown["judge"] = judged.collect();
        let last = verdicts.last();
        if last.is_some_and(|last| last.get("related") == Some(&Value::from(false))) {
            shown["stopped_reason"] = json!("condition_unrelated");
            let reason = last
                .and_then(|last| last.get("feedback"))
                .map(Value::to_json);
            shown["stopped_detail"] = reason.unwrap_or_default();
        }
    }
    shown
}
