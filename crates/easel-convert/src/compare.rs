//! What came back otherwise than it was: a conversion holds itself to its report.

use easel_canvas::component::Component;
use easel_canvas::document::Document as Canvas;
use easel_catalog::Catalog;
use easel_core::Value as Core;
use easel_graph::document::{Document as Graph, Node};
use serde_json::{Map, Value, json};

use crate::Losses;

/// Parameters that say nothing of what a run does.
const SILENT: [&str; 3] = ["outputs", "message_history_window_size", "cite"];

/// Says where a canvas that went through a graph is not what it was.
pub(crate) fn canvases(before: &Canvas, after: &Canvas, catalog: &Catalog, losses: &mut Losses) {
    let (before, after) = (before.components(), after.components());
    for component in before.values() {
        let id = &component.id;
        // The start of a body has no name of its own in a graph.
        let back = match component.is("IterationItem") {
            true => after
                .values()
                .find(|one| one.is("IterationItem") && one.parent == component.parent),
            false => after.get(id),
        };
        let Some(back) = back else {
            losses.say(id, "", "It does not come back under this id.");
            continue;
        };
        if component.class != back.class {
            losses.say(
                id,
                "component_name",
                format!("It comes back as {}.", back.class),
            );
        }
        if component.parent != back.parent {
            losses.say(id, "parent_id", "It comes back in another body.");
        }
        let Some(table) = catalog.get(&component.class) else {
            continue;
        };
        for param in table
            .all_params()
            .filter(|param| !SILENT.contains(&&*param.name))
        {
            let value = |one: &Component| {
                one.params
                    .get(&param.name)
                    .unwrap_or(&param.default)
                    .clone()
            };
            let said = losses.has(id, &param.name) || losses.has_under(id, &param.name);
            if !said
                && !is_idle(component, &param.name)
                && plain(&value(component)) != plain(&value(back))
            {
                losses.say(id, &param.name, "It comes back written otherwise.");
            }
        }
    }
}

/// Parameters that count only together with another.
fn is_idle(component: &Component, name: &str) -> bool {
    let on = |switch: &str| component.params.get(switch).is_some_and(Core::is_truthy);
    match name {
        "prologue" | "enablePrologue" => true,
        "delay_after_error" => !on("max_retries"),
        "exception_goto" | "exception_default_value" => !on("exception_method"),
        "max_rounds" => !on("tools"),
        "temperature" => !on("temperatureEnabled"),
        "top_p" => !on("topPEnabled"),
        "presence_penalty" => !on("presencePenaltyEnabled"),
        "frequency_penalty" => !on("frequencyPenaltyEnabled"),
        "max_tokens" => !on("maxTokensEnabled"),
        _ => false,
    }
}

/// A value without what makes no difference: members that are empty, numbers in another form.
fn plain(value: &Core) -> Value {
    fn of(value: Value) -> Value {
        match value {
            Value::Object(members) => {
                let members = members.into_iter().map(|(key, member)| (key, of(member)));
                Value::Object(members.filter(|(_, member)| !is_empty(member)).collect())
            }
            Value::Array(items) => Value::Array(items.into_iter().map(of).collect()),
            Value::Number(number) => json!(number.as_f64()),
            other => other,
        }
    }
    let value = of(value.to_json());
    if is_empty(&value) { Value::Null } else { value }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// Says where a graph that went through a canvas is not what it was.
pub(crate) fn graphs(before: &Graph, after: &Graph, losses: &mut Losses) {
    if inputs(before) != inputs(after) && !losses.has_under("", "inputs") {
        losses.say("", "inputs", "They come back otherwise.");
    }
    for node in before.all_nodes() {
        let id = &*node.id.value;
        let Some(back) = after
            .all_nodes()
            .find(|back| back.id.value == node.id.value)
        else {
            losses.say(id, "", "It does not come back.");
            continue;
        };
        let (written, rewritten) = (keys(before, node), keys(after, back));
        for key in written.keys().chain(rewritten.keys()) {
            let said = losses.has(id, key) || losses.has_under(id, key);
            if key != "body" && !said && written.get(key) != rewritten.get(key) {
                losses.say(id, key, "It comes back written otherwise.");
            }
        }
    }
}

/// The keys of a node, without those that say what is so anyway.
pub(crate) fn keys(graph: &Graph, node: &Node) -> Map<String, Value> {
    let written = graph.get(&node.place).map(|node| node.to_value().to_json());
    let mut keys = match written {
        Some(Value::Object(keys)) => keys,
        _ => Map::new(),
    };
    keys.entry("kind").or_insert("base".into());
    keys.retain(|key, value| {
        let usual = match key.as_str() {
            "item_var" => *value == "item",
            "concurrency" => *value == 1,
            "disabled" => *value == false,
            _ => false,
        };
        !usual && !is_empty(value) || key == "repair"
    });
    if let Some(policy) = keys.get_mut("policy").and_then(Value::as_object_mut) {
        for value in policy.values_mut() {
            *value = json!(value.as_f64());
        }
        // Without a delay there is none.
        policy.retain(|key, value| !(key == "delay_s" && *value == 0.0));
    }
    if keys.get("kind").is_some_and(|kind| kind != "router") {
        keys.remove("repair");
    }
    keys
}

/// The declared inputs, in whatever way they are written.
pub(crate) fn inputs(graph: &Graph) -> Value {
    let declared = graph.inputs.iter().map(|input| {
        let allowed = input.allowed.as_ref();
        json!({
            "name": &*input.name.value,
            "type": input.kind.name(),
            "required": *input.required,
            "description": input.description.as_ref().map(|text| text.to_string()),
            "enum": allowed.map(|all| all.iter().map(Core::to_json).collect::<Vec<_>>()),
        })
    });
    declared.collect()
}
