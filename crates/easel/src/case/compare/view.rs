//! What of a trace is compared.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::{Map, Value as Json, json};

/// Members of a JSON object.
pub type Members = Map<String, Json>;

/// The ids of nodes that only start the body of a container: how often they run is the engine's own business.
pub type Items = HashSet<String>;

/// How often each node finished, without and with an error.
pub type Finished = BTreeMap<(String, bool), usize>;

/// What counts as something: not `null`, `false`, 0, `""`, `[]` or `{}`.
pub fn truthy(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(held) => *held,
        Json::Number(number) => number.as_f64() != Some(0.0),
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(members) => !members.is_empty(),
    }
}

/// The list of that name; empty if there is none.
pub fn list<'j>(value: &'j Json, name: &str) -> &'j [Json] {
    value
        .get(name)
        .and_then(Json::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The object of that name.
pub fn object<'j>(value: &'j Json, name: &str) -> Option<&'j Members> {
    value.get(name).and_then(Json::as_object)
}

/// The member of that name; `null` if there is none.
pub fn part<'j>(value: &'j Json, name: &str) -> &'j Json {
    value.get(name).unwrap_or(&Json::Null)
}

/// The text of that name; blank if there is none.
pub fn text<'j>(value: &'j Json, name: &str) -> &'j str {
    value.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// All names of several objects, in order.
pub fn keys<const N: usize>(objects: [Option<&Members>; N]) -> BTreeSet<&str> {
    objects
        .into_iter()
        .flatten()
        .flat_map(Map::keys)
        .map(String::as_str)
        .collect()
}

/// The nodes of a canvas that only start a body.
pub fn items(canvas: &Json) -> Items {
    let wrapped = || object(part(canvas, "dsl"), "components");
    let components = object(canvas, "components").or_else(wrapped);
    let is_item = |node: &Json| {
        let name = text(part(node, "obj"), "component_name");
        ["iterationitem", "loopitem"].contains(&name.to_lowercase().as_str())
    };
    let items = components
        .into_iter()
        .flatten()
        .filter(|(_, node)| is_item(node));
    items.map(|(id, _)| id.clone()).collect()
}

/// How a turn ended. An exception that left another engine is an error here, or a cancellation.
pub fn end(turn: &Json) -> &str {
    match text(turn, "end") {
        "raised" => {
            let kind = text(part(turn, "raised"), "type").to_lowercase();
            if kind.contains("cancel") {
                "cancelled"
            } else {
                "error"
            }
        }
        end => end,
    }
}

fn data(event: &Json) -> &Json {
    part(event, "data")
}

/// Each message: its text and what the model thought.
pub fn messages(events: &[Json]) -> Json {
    let (mut messages, mut said, mut thought) = (Vec::new(), String::new(), String::new());
    let (mut thinking, mut open) = (false, false);
    for event in events {
        let data = data(event);
        match text(event, "event") {
            "message" => {
                open = true;
                thinking |= data.get("start_to_think").is_some_and(truthy);
                let piece = text(data, "content");
                if thinking {
                    thought.push_str(piece)
                } else {
                    said.push_str(piece)
                }
                thinking &= !data.get("end_to_think").is_some_and(truthy);
            }
            "message_end" => {
                open = false;
                messages.push(json!({"text": std::mem::take(&mut said), "thinking": std::mem::take(&mut thought).trim()}));
            }
            _ => {}
        }
    }
    if open {
        messages.push(json!({"text": said, "thinking": thought.trim()}));
    }
    messages.into()
}

/// How often each node finished, with and without an error; starts of bodies left out.
pub fn finished(events: &[Json], items: &Items) -> Finished {
    let mut finished = Finished::new();
    for event in events
        .iter()
        .filter(|event| text(event, "event") == "node_finished")
    {
        let data = data(event);
        let node = text(data, "component_id");
        if !items.contains(node) {
            let failed = data.get("error").is_some_and(truthy);
            *finished.entry((node.to_owned(), failed)).or_default() += 1;
        }
    }
    finished
}

/// The names of what goes with each message.
pub fn message_ends(events: &[Json]) -> Json {
    let ends = events
        .iter()
        .filter(|event| text(event, "event") == "message_end");
    let names = |event: &Json| {
        let names = ["attachment", "downloads", "reference", "status"];
        let there = names
            .into_iter()
            .filter(|name| data(event).get(*name).is_some_and(truthy));
        there.collect::<Vec<_>>()
    };
    json!(ends.map(names).collect::<Vec<_>>())
}

/// The last question: its text, and each field with type and whether it may stay empty. `null` if nothing was asked.
pub fn question(events: &[Json]) -> Json {
    let asked = events
        .iter()
        .rev()
        .find(|event| text(event, "event") == "user_inputs");
    let Some(data) = asked.map(data) else {
        return Json::Null;
    };
    let fields = object(data, "inputs").into_iter().flatten();
    let mut fields: Vec<(&String, Json)> = fields
        .map(|(key, field)| {
            let optional = field.get("optional").is_some_and(truthy);
            (key, json!([key, part(field, "type"), optional]))
        })
        .collect();
    fields.sort_by_key(|(key, _)| *key);
    let fields: Vec<Json> = fields.into_iter().map(|(_, field)| field).collect();
    json!([text(data, "tips"), fields])
}

/// The outputs of each node that has any, without those of the engine, and whether it failed.
pub fn outputs(state: &Json) -> Members {
    let nodes = object(state, "outputs").into_iter().flatten();
    nodes
        .filter_map(|(node, ports)| {
            let ports = ports.as_object()?;
            let own = ports
                .iter()
                .filter(|(name, value)| !name.starts_with('_') && !value.is_null());
            let mut kept: Members = own
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            let failed = ports.get("_ERROR").is_some_and(truthy);
            if kept.is_empty() && !failed {
                return None;
            }
            kept.insert("_ERROR".to_owned(), failed.into());
            Some((node.clone(), kept.into()))
        })
        .collect()
}

/// The declared variables.
pub fn variables(state: &Json) -> Json {
    match part(state, "variables") {
        variables if truthy(variables) => variables.clone(),
        _ => Json::Object(Members::new()),
    }
}

/// Who spoke, in order.
pub fn roles(state: &Json) -> Json {
    list(state, "history")
        .iter()
        .map(|entry| part_at(entry, 0))
        .collect()
}

fn part_at(value: &Json, at: usize) -> Json {
    value.get(at).cloned().unwrap_or_default()
}

/// The messages and tools of each model call of a node.
pub fn requests(calls: Option<&Members>, node: &str) -> Json {
    let calls = calls
        .and_then(|calls| calls.get(node))
        .and_then(Json::as_array);
    let request =
        |call: &Json| json!({"messages": part(call, "messages"), "tools": part(call, "tools")});
    calls.into_iter().flatten().map(request).collect()
}
