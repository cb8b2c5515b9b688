//! From a graph to a canvas.

mod kinds;
mod reads;

use std::collections::{HashMap, HashSet};

use easel_catalog::Catalog;
use easel_graph::document::{Document, InputMode, InputType, Node, Routing};
use easel_graph::kind::Kind;
use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value, json};

use crate::Losses;

/// The class that stands for a kind; `None` if none surely does the same.
fn class(node: &Node) -> Option<&'static str> {
    match *node.kind {
        Kind::Base | Kind::React => Some("Agent"),
        Kind::Router => match node.routing() {
            Some(Routing::Cases) => Some("Switch"),
            Some(Routing::Routes) => Some("Categorize"),
            Some(Routing::Labels) | None => None,
        },
        Kind::Map => Some("Iteration"),
        Kind::Output => Some("Message"),
        Kind::Tool | Kind::Function | Kind::Python | Kind::Loop | Kind::Subgraph | Kind::Input => {
            None
        }
    }
}

/// The name of the list that an iteration collects.
const COLLECTED: &str = "value";

/// The canvas as data.
pub(crate) fn canvas(graph: &Document, catalog: &Catalog, losses: &mut Losses) -> Value {
    let mut writer = Writer {
        graph,
        catalog,
        ids: HashMap::new(),
        nodes: IndexMap::new(),
        losses,
    };
    writer.collect(&graph.nodes, None);
    let mut components: IndexMap<String, Value> = IndexMap::new();
    components.insert("begin".to_owned(), writer.begin());
    let nodes: Vec<Carried<'_>> = writer.nodes.values().cloned().collect();
    for carried in &nodes {
        let id = writer
            .ids
            .get(&*carried.node.id.value)
            .cloned()
            .unwrap_or_default();
        if *carried.node.kind == Kind::Map {
            let mut item = component("IterationItem", json!({}));
            put(&mut item, "parent_id", id.clone().into());
            let written = writer.node(carried);
            components.insert(id.clone(), written);
            components.insert(item_of(&carried.node.id), item);
        } else {
            let written = writer.node(carried);
            components.insert(id, written);
        }
    }
    wire(&mut components);
    writer.about_the_graph();
    let mut canvas = Map::new();
    canvas.insert("title".to_owned(), (*graph.name.value).into());
    if let Some(text) = &graph.description {
        canvas.insert("description".to_owned(), (*text.value).into());
    }
    let components: Map<String, Value> = components.into_iter().collect();
    canvas.insert("components".to_owned(), components.into());
    canvas.insert(
        "globals".to_owned(),
        json!({"sys.query": "", "sys.user_id": "", "sys.conversation_turns": 0, "sys.files": []}),
    );
    for (key, empty) in [
        ("history", json!([])),
        ("path", json!([])),
        ("retrieval", json!([])),
    ] {
        canvas.insert(key.to_owned(), empty);
    }
    Value::Object(canvas)
}

/// A node that is carried, and the map whose body it stands in.
#[derive(Clone)]
struct Carried<'a> {
    node: &'a Node,
    parent: Option<&'a Node>,
    /// The nodes beside it.
    level: &'a [Node],
}

struct Writer<'a> {
    graph: &'a Document,
    catalog: &'a Catalog,
    /// The id in the canvas of each node that is carried.
    ids: HashMap<String, String>,
    nodes: IndexMap<String, Carried<'a>>,
    losses: &'a mut Losses,
}

impl<'a> Writer<'a> {
    fn collect(&mut self, level: &'a [Node], parent: Option<&'a Node>) {
        for node in level {
            let id = node.id.to_string();
            let Some(class) = class(node).filter(|_| !*node.disabled) else {
                let why = match *node.disabled {
                    true => "Left out: it is disabled.".to_owned(),
                    false => format!(
                        "Left out: no component surely does what a `{}` does here. What stands behind it follows what stood before it.",
                        node.kind.value
                    ),
                };
                self.losses.say(&id, "", why);
                continue;
            };
            if self.nodes.contains_key(&id) {
                self.losses.say(
                    &id,
                    "",
                    "Left out: a canvas has each id once, bodies included.",
                );
                continue;
            }
            self.ids.insert(id.clone(), format!("{class}:{id}"));
            self.nodes.insert(
                id,
                Carried {
                    node,
                    parent,
                    level,
                },
            );
            if *node.kind == Kind::Map {
                self.collect(&node.body, Some(node));
            }
        }
    }

    fn begin(&mut self) -> Value {
        let mut inputs = Map::new();
        let mut asks = false;
        for input in &self.graph.inputs {
            let name = &*input.name.value;
            let place = format!("inputs.{name}");
            if name == "query" && *input.kind == InputType::String && *input.required {
                asks = true;
                continue;
            }
            let kind = match &input.kind.value {
                InputType::String if input.allowed.is_some() => "options",
                InputType::String => "line",
                InputType::Integer => "integer",
                InputType::Boolean => "boolean",
                InputType::Object => "object",
                InputType::File => "file",
                InputType::Array => "array",
                InputType::Float | InputType::Image | InputType::Other(_) => {
                    self.losses.say(
                        "",
                        &place,
                        "Left out: a form of a canvas has no field of that type.",
                    );
                    continue;
                }
            };
            let label = input.description.as_ref().map_or(name, |text| &*text.value);
            let mut field = json!({"name": label, "type": kind, "optional": !*input.required});
            if let Some(allowed) = &input.allowed {
                let options: Vec<Value> = allowed.iter().map(easel_core::Value::to_json).collect();
                put(&mut field, "options", options.into());
            }
            inputs.insert(name.to_owned(), field);
        }
        let mode = if asks { "conversational" } else { "task" };
        component(
            "Begin",
            json!({"mode": mode, "prologue": "", "enablePrologue": false, "inputs": inputs}),
        )
    }

    fn node(&mut self, carried: &Carried<'a>) -> Value {
        let node = carried.node;
        let id = node.id.to_string();
        let mut params = Map::new();
        let mut read: Vec<&str> = vec!["id", "kind", "depends_on", "policy", "item_var"];
        let upstream = self.before(carried);
        match *node.kind {
            Kind::Base | Kind::React => self.model(carried, &mut params, &mut read),
            Kind::Router if node.routing() == Some(Routing::Cases) => {
                self.switch(carried, &mut params, &mut read)
            }
            Kind::Router => self.categorize(carried, &mut params, &mut read),
            Kind::Map => self.map(carried, &mut params, &mut read),
            _ => {
                read.push("value");
                match &node.value {
                    Some(value) => {
                        if let Some(said) = self.text(carried, "value", value, true) {
                            params.insert("content".to_owned(), json!([said]));
                        }
                    }
                    None => self.losses.say(
                        &id,
                        "value",
                        "Without it a graph gives out what it depends on; a Message says a text.",
                    ),
                }
            }
        }
        self.policy(node, &mut params);
        if let Some(handler) = &node.on_error {
            read.push("on_error");
            match self.ids.get(&*handler.value) {
                Some(target) => {
                    params.insert("exception_method".to_owned(), "goto".into());
                    params.insert("exception_goto".to_owned(), json!([target]));
                }
                None => self.losses.say(
                    &id,
                    "on_error",
                    "Left out: so is the node that handles the error.",
                ),
            }
        }
        // A value that is published under the node's own name is what a canvas reads anyway.
        if node
            .writes
            .as_ref()
            .is_some_and(|name| name.value == node.id.value)
        {
            read.push("writes");
        }
        self.rest(node, &read);
        let mut written = component(class(node).unwrap_or_default(), params.into());
        let mut ids: Vec<Value> = upstream
            .iter()
            .filter_map(|name| self.ids.get(name))
            .map(|id| id.clone().into())
            .collect();
        let starts = self.starts(carried);
        if ids.is_empty() && starts {
            ids.push(match carried.parent {
                Some(parent) => item_of(&parent.id).into(),
                None => "begin".into(),
            });
        }
        put(&mut written, "upstream", ids.into());
        if let Some(parent) = carried.parent
            && let Some(parent) = self.ids.get(&*parent.id.value)
        {
            put(&mut written, "parent_id", parent.clone().into());
        }
        written
    }

    /// Whether a node starts with its run or pass: nothing stands before it, not even a failure.
    fn starts(&self, carried: &Carried<'_>) -> bool {
        let handles = |dep: &str| {
            let dep = carried.level.iter().find(|node| *node.id.value == *dep);
            dep.and_then(|dep| dep.on_error.as_ref())
                .is_some_and(|handler| handler.value == carried.node.id.value)
        };
        carried.node.depends_on.iter().all(|dep| !handles(dep))
    }

    /// The nodes that one depends on; one that is left out is replaced by what stood before it.
    fn before(&mut self, carried: &Carried<'a>) -> IndexSet<String> {
        let own = &*carried.node.id.value;
        let (mut upstream, mut seen) = (IndexSet::new(), HashSet::new());
        let mut open: Vec<&'a Node> = dependencies(carried.level, carried.node);
        while let Some(source) = open.pop() {
            let id = &*source.id.value;
            let handled = source.on_error.as_ref().map(|handler| &*handler.value);
            // What handles a failure follows the failure alone.
            if handled == Some(own) || !seen.insert(id) {
                continue;
            }
            if *source.kind == Kind::Router && source.targets().all(|target| *target.value != *own)
            {
                let why = format!(
                    "It follows the router `{id}` whatever that chooses, and a branch of a canvas is followed by its targets alone."
                );
                self.losses.say(own, "depends_on", why);
            }
            match self.ids.contains_key(id) {
                true => drop(upstream.insert(id.to_owned())),
                false => open.extend(dependencies(carried.level, source)),
            }
        }
        upstream
    }

    /// Every key that is set and was not read.
    fn rest(&mut self, node: &Node, read: &[&str]) {
        let Some(written) = self.graph.get(&node.place).and_then(|node| node.as_map()) else {
            return;
        };
        let keys: Vec<String> = written
            .iter()
            .map(|entry| entry.key.name.to_string())
            .collect();
        for key in keys.iter().filter(|key| !read.contains(&key.as_str())) {
            let why = "Left out: a canvas has nothing that surely does the same.";
            self.losses.say(&node.id, key, why);
        }
    }

    /// What a graph has beside its nodes.
    fn about_the_graph(&mut self) {
        let graph = self.graph;
        if !*graph.fail_fast {
            let why = "A canvas ends with the first failure that nothing handles; this graph goes on with what does not depend on it.";
            self.losses.say("", "fail_fast", why);
        }
        let said = graph.nodes.iter().any(|node| *node.kind == Kind::Output);
        if !graph.outputs.is_empty() || !said {
            self.losses.say(
                "",
                "outputs",
                "A canvas gives out what its Messages say: add output nodes.",
            );
        }
        if graph.functions.is_some() {
            self.losses.say(
                "",
                "functions",
                "Left out: a canvas has no Python beside it.",
            );
        }
        if *graph.strict_inputs {
            self.losses
                .say("", "strict_inputs", "Left out: a canvas takes any input.");
        }
        if graph.compat.is_some() {
            self.losses.say(
                "",
                "compat",
                "Left out: a canvas has none of the old engine's accidents.",
            );
        }
        if graph
            .all_nodes()
            .any(|node| *node.kind == Kind::Input && *node.input_mode != InputMode::Text)
        {
            self.losses.say(
                "",
                "input_mode",
                "Left out: a canvas asks for all inputs when it starts.",
            );
        }
    }
}

/// The nodes that one depends on, last to first.
fn dependencies<'a>(level: &'a [Node], node: &Node) -> Vec<&'a Node> {
    let named = node.depends_on.iter().rev();
    let found = named.filter_map(|dep| level.iter().find(|one| one.id.value == dep.value));
    found.collect()
}

/// The port of a canvas that holds what is the node's value in a graph.
fn port(node: &Node) -> Option<&'static str> {
    match class(node)? {
        "Agent" | "Message" => Some("content"),
        "Iteration" => Some(COLLECTED),
        _ => None,
    }
}

fn item_of(map: &str) -> String {
    format!("IterationItem:{map}")
}

fn component(class: &str, params: Value) -> Value {
    json!({"obj": {"component_name": class, "params": params}, "downstream": [], "upstream": []})
}

fn put(value: &mut Value, key: &str, member: Value) {
    if let Some(members) = value.as_object_mut() {
        members.insert(key.to_owned(), member);
    }
}

/// Lists each edge at its source too.
fn wire(components: &mut IndexMap<String, Value>) {
    let mut downstream: HashMap<String, Vec<Value>> = HashMap::new();
    for (id, component) in components.iter() {
        let upstream = component.get("upstream").and_then(Value::as_array);
        for source in upstream.into_iter().flatten().filter_map(Value::as_str) {
            downstream
                .entry(source.to_owned())
                .or_default()
                .push(id.clone().into());
        }
    }
    for (id, component) in components.iter_mut() {
        put(
            component,
            "downstream",
            downstream.remove(id).unwrap_or_default().into(),
        );
    }
}
