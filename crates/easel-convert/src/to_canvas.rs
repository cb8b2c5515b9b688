//! From a graph to a canvas.

use std::collections::HashMap;

use easel_catalog::Catalog;
use easel_graph::document::{Document, InputMode, InputType, Node, OutputSchema, Routing};
use easel_graph::kind::Kind;
use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value, json};

use crate::Losses;
use crate::condition;
use crate::text::{self, Piece, Read, Source, Why};

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
        let mut upstream: IndexSet<String> = IndexSet::new();
        self.before(
            carried,
            &node
                .depends_on
                .iter()
                .map(|dep| &*dep.value)
                .collect::<Vec<_>>(),
            &mut upstream,
            0,
        );
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
    fn before(
        &mut self,
        carried: &Carried<'a>,
        deps: &[&str],
        upstream: &mut IndexSet<String>,
        depth: usize,
    ) {
        if depth > carried.level.len() {
            return;
        }
        for &dep in deps {
            let Some(source) = carried.level.iter().find(|node| *node.id.value == *dep) else {
                continue;
            };
            // What handles a failure follows the failure alone.
            if source
                .on_error
                .as_ref()
                .is_some_and(|handler| handler.value == carried.node.id.value)
            {
                continue;
            }
            if *source.kind == Kind::Router
                && source
                    .targets()
                    .all(|target| target.value != carried.node.id.value)
            {
                let why = format!(
                    "It follows the router `{dep}` whatever that chooses, and a branch of a canvas is followed by its targets alone."
                );
                self.losses.say(&carried.node.id, "depends_on", why);
            }
            match self.ids.contains_key(dep) {
                true => drop(upstream.insert(dep.to_owned())),
                false => {
                    let further: Vec<&str> =
                        source.depends_on.iter().map(|dep| &*dep.value).collect();
                    self.before(carried, &further, upstream, depth + 1);
                }
            }
        }
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

    fn policy(&mut self, node: &Node, params: &mut Map<String, Value>) {
        let policy = &node.policy;
        if let Some(retries) = policy.retries {
            params.insert("max_retries".to_owned(), (*retries).into());
        }
        if let Some(delay) = policy.delay_s {
            params.insert("delay_after_error".to_owned(), json!(*delay));
        } else if policy.retries.is_some_and(|n| *n > 0) {
            // A canvas waits two seconds unless told.
            params.insert("delay_after_error".to_owned(), json!(0.0));
        }
        if policy.timeout_s.is_some() {
            self.losses.say(
                &node.id,
                "policy.timeout_s",
                "Left out: a component has its own limit.",
            );
        }
        let asks = matches!(*node.kind, Kind::Base | Kind::React);
        let sampling = [
            (
                "temperature",
                policy.temperature.map(|t| json!(*t)),
                "temperature",
                "temperatureEnabled",
            ),
            (
                "max_new_tokens",
                policy.max_new_tokens.map(|n| json!(*n)),
                "max_tokens",
                "maxTokensEnabled",
            ),
        ];
        for (key, value, param, switch) in sampling {
            let Some(value) = value else { continue };
            if asks {
                params.insert(param.to_owned(), value);
                params.insert(switch.to_owned(), true.into());
            } else {
                self.losses.say(
                    &node.id,
                    &format!("policy.{key}"),
                    "Left out: nothing there is sampled.",
                );
            }
        }
    }

    fn model(
        &mut self,
        carried: &Carried<'a>,
        params: &mut Map<String, Value>,
        read: &mut Vec<&'static str>,
    ) {
        let node = carried.node;
        read.extend(["provider", "model", "instructions", "tools"]);
        model_id(node, params);
        let said = node.instructions.as_ref().map_or("", |text| &*text.value);
        let dependencies: Vec<&str> = node.depends_on.iter().map(|dep| &*dep.value).collect();
        if let Some(said) = self.text(carried, "instructions", said, false) {
            params.insert(
                "prompts".to_owned(),
                json!([{"role": "user", "content": said}]),
            );
        }
        // A graph shows a model what its node depends on, beside the instructions.
        let named: Vec<String> = easel_core::format::parse(said, easel_core::format::Secrets::None)
            .chains()
            .iter()
            .map(|chain| chain.root.to_string())
            .collect();
        // Routers choose, and what failed has no value.
        let silent = |dep: &str| {
            carried
                .level
                .iter()
                .filter(|one| *one.id.value == *dep)
                .any(|one| {
                    *one.kind == Kind::Router
                        || one
                            .on_error
                            .as_ref()
                            .is_some_and(|handler| handler.value == node.id.value)
                })
        };
        if dependencies
            .iter()
            .any(|dep| !silent(dep) && !named.iter().any(|name| name == dep))
        {
            let why = "A model of a graph is shown the values of all that its node depends on; in a canvas only what the text names.";
            self.losses.say(&node.id, "depends_on", why);
        }
        let mut tools = Vec::new();
        for tool in &node.tools {
            let name = &*tool.value;
            let by_function = || {
                self.catalog.iter().find(|table| {
                    table
                        .tool
                        .as_ref()
                        .is_some_and(|tool| *tool.function == *name)
                })
            };
            let table = self
                .catalog
                .get(name)
                .filter(|table| table.tool.is_some())
                .or_else(by_function);
            match table {
                Some(table) => tools.push(
                    json!({"component_name": &*table.name, "name": &*table.name, "params": {}}),
                ),
                None => self.losses.say(
                    &node.id,
                    &format!("tools {name}"),
                    "Left out: there is no component that is this tool.",
                ),
            }
        }
        if !node.tools.is_empty() {
            params.insert("tools".to_owned(), tools.into());
            let why = match *node.kind {
                Kind::Base => {
                    "A `base` node uses tools for one round; an Agent for as many as it is set to."
                }
                _ => {
                    "How many rounds there are at most is not the same: a `react` node has its own ceiling."
                }
            };
            self.losses.say(&node.id, "tools", why);
        }
        if let Some(schema) = &node.output_schema {
            let what = match &schema.value {
                OutputSchema::Class(_) => "Left out: a canvas has no classes.",
                OutputSchema::Schema(_) => {
                    "Left out: how an Agent is held to a shape is not the same."
                }
            };
            self.losses.say(&node.id, "output_schema", what);
        }
    }

    fn switch(
        &mut self,
        carried: &Carried<'a>,
        params: &mut Map<String, Value>,
        read: &mut Vec<&'static str>,
    ) {
        let node = carried.node;
        read.extend(["cases", "default"]);
        let mut conditions = Vec::new();
        let mut otherwise = node.default.as_ref();
        for (at, case) in node.cases.iter().enumerate() {
            let place = format!("cases[{at}]");
            if case.label.is_some() {
                self.losses.say(
                    &node.id,
                    &format!("{place}.label"),
                    "Left out: a case of a Switch has no label.",
                );
            }
            let when = case.when.as_ref().map_or("", |when| when.trim());
            if when.is_empty() {
                // Behind a case that always holds none is reached.
                otherwise = Some(&case.to);
                break;
            }
            let Some(to) = self.target(node, &place, &case.to) else {
                continue;
            };
            let items = condition::case(when).ok_or("it is no test that a Switch has.".to_owned());
            let items = items.and_then(|case| Ok((case.any, self.items(carried, case)?)));
            match items {
                Ok((any, items)) => conditions.push(json!({
                    "logical_operator": if any { "or" } else { "and" },
                    "items": items,
                    "to": [to],
                })),
                Err(why) => self
                    .losses
                    .say(&node.id, &place, format!("Left out: {why}")),
            }
        }
        params.insert("conditions".to_owned(), conditions.into());
        match otherwise.cloned() {
            Some(to) => {
                if let Some(to) = self.target(node, "default", &to) {
                    params.insert("end_cpn_ids".to_owned(), json!([to]));
                }
            }
            None => self.losses.say(
                &node.id,
                "default",
                "A Switch has to lead somewhere if no case holds: give the router a `default`.",
            ),
        }
    }

    fn items(
        &mut self,
        carried: &Carried<'a>,
        case: condition::Case<String>,
    ) -> Result<Vec<Value>, Why> {
        let mut items = Vec::new();
        for test in case.tests {
            let steps: Vec<String> = test.left.split('.').map(str::to_owned).collect();
            let read = self.expression(carried, &steps)?;
            let doubt = |what: &str| {
                format!(
                    "`{}` is the same in both for {what} alone, and {} may be something else.",
                    test.operator, test.left
                )
            };
            if condition::compares_text(&test.operator) && !self.is_text(&read) {
                return Err(doubt("text"));
            }
            if condition::compares_numbers(&test.operator) && !self.is_number(&read) {
                return Err(doubt("numbers"));
            }
            let left = self.spell(carried, &read);
            items.push(json!({"cpn_id": left, "operator": test.operator, "value": test.right}));
        }
        Ok(items)
    }

    fn target(&mut self, node: &Node, place: &str, to: &str) -> Option<String> {
        let found = self.ids.get(to).cloned();
        if found.is_none() {
            self.losses.say(
                &node.id,
                place,
                "Left out: so is the node that it leads to.",
            );
        }
        found
    }

    fn categorize(
        &mut self,
        carried: &Carried<'a>,
        params: &mut Map<String, Value>,
        read: &mut Vec<&'static str>,
    ) {
        let node = carried.node;
        read.extend([
            "routes",
            "default",
            "instructions",
            "repair",
            "provider",
            "model",
        ]);
        model_id(node, params);
        let asked = node.instructions.as_ref().map_or("", |text| text.trim());
        let name = asked
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        let source = name.and_then(|name| self.input(name).ok());
        let read = source.map(|source| Read {
            source,
            path: Vec::new(),
        });
        match read.filter(|read| self.is_text(read)) {
            Some(read) => drop(params.insert("query".to_owned(), self.spell(carried, &read).into())),
            None => self.losses.say(
                &node.id,
                "instructions",
                "Left out: a Categorize has its own words, and is shown one text that the user gave.",
            ),
        }
        let mut categories = Map::new();
        for route in &node.routes {
            let place = format!("routes.{}", route.label);
            if let Some(to) = self.target(node, &place, &route.to) {
                categories.insert(
                    route.label.to_string(),
                    json!({"description": "", "examples": [], "to": [to]}),
                );
            }
        }
        params.insert("category_description".to_owned(), categories.into());
        let last = node.routes.last().map(|route| &route.to.value);
        if node.default.as_ref().map(|default| &default.value) != last {
            self.losses.say(
                &node.id,
                "default",
                "Left out: a Categorize takes its last category if the model names none.",
            );
        }
        if *node.repair {
            self.losses
                .say(&node.id, "repair", "Left out: a Categorize asks once.");
        }
        if node
            .depends_on
            .iter()
            .any(|dep| self.ids.contains_key(&*dep.value))
        {
            self.losses.say(
                &node.id,
                "depends_on",
                "A router is shown what it depends on; a Categorize the message alone.",
            );
        }
    }

    fn map(
        &mut self,
        carried: &Carried<'a>,
        params: &mut Map<String, Value>,
        read: &mut Vec<&'static str>,
    ) {
        let node = carried.node;
        read.extend(["over", "body", "body_outputs", "concurrency"]);
        let over = node.over.as_ref().map_or("", |over| over.trim());
        let steps: Vec<String> = over.split('.').map(str::to_owned).collect();
        match self.expression(carried, &steps) {
            Ok(list) => {
                drop(params.insert("items_ref".to_owned(), self.spell(carried, &list).into()))
            }
            Err(why) => self
                .losses
                .say(&node.id, "over", format!("Left out: {why}")),
        }
        if *node.concurrency > 1 {
            params.insert("max_concurrency".to_owned(), (*node.concurrency).into());
        }
        if *node.item_var.value != *"item" {
            self.losses.say(
                &node.id,
                "item_var",
                "In a canvas the item is called `item`.",
            );
        }
        let collected = match node.body_outputs.as_slice() {
            [only] => node.body.iter().find(|one| one.id.value == only.value),
            _ => None,
        };
        let collected = collected
            .and_then(|one| Some(format!("{}@{}", self.ids.get(&*one.id.value)?, port(one)?)));
        match collected {
            Some(reference) => drop(params.insert(
                "outputs".to_owned(),
                json!({COLLECTED: {"ref": reference, "type": "Array<string>"}}),
            )),
            None => self.losses.say(
                &node.id,
                "body_outputs",
                "Left out: an iteration collects the value of the one node that is named here.",
            ),
        }
    }

    /// A template as a text of a canvas.
    fn text(
        &mut self,
        carried: &Carried<'a>,
        key: &str,
        said: &str,
        jinja: bool,
    ) -> Option<String> {
        let read = text::of_graph(said, |steps| self.template(carried, steps));
        let pieces: Vec<Piece> = match read {
            Ok(pieces) => pieces,
            Err(why) => {
                self.losses
                    .say(&carried.node.id, key, format!("Left out: {why}"));
                return None;
            }
        };
        for read in text::reads(&pieces) {
            if !self.is_text(read)
                && !self.is_number(read)
                && !matches!(read.source, Source::Error(_))
            {
                let why = "It inserts what may be no text: a graph writes lists, objects and truth values as Python does, a canvas as JSON.";
                self.losses.say(&carried.node.id, key, why);
            }
        }
        match text::to_canvas(&pieces, jinja, |read| self.spell(carried, read)) {
            Ok(text) => Some(text),
            Err(why) => {
                self.losses
                    .say(&carried.node.id, key, format!("Left out: {why}"));
                None
            }
        }
    }

    /// A read as a reference of a canvas, without braces.
    fn spell(&self, carried: &Carried<'_>, read: &Read) -> String {
        let id = |name: &str| self.ids.get(name).cloned().unwrap_or_default();
        let root = match &read.source {
            Source::Query => "sys.query".to_owned(),
            Source::Input(name) => format!("begin@{name}"),
            Source::Node(name) => {
                let port = self.nodes.get(name).and_then(|carried| port(carried.node));
                format!("{}@{}", id(name), port.unwrap_or_default())
            }
            Source::Error(name) => format!("{}@_ERROR", id(name)),
            Source::Item | Source::Index => {
                let item = carried
                    .parent
                    .map(|parent| item_of(&parent.id))
                    .unwrap_or_default();
                let port = if read.source == Source::Item {
                    "item"
                } else {
                    "index"
                };
                format!("{item}@{port}")
            }
        };
        std::iter::once(&root)
            .chain(&read.path)
            .cloned()
            .collect::<Vec<_>>()
            .join(".")
    }

    /// What a placeholder reads.
    fn template(&self, carried: &Carried<'_>, steps: &[String]) -> Result<Read, Why> {
        let (root, path) = steps.split_first().ok_or("it names nothing.")?;
        let is_dependency = carried
            .node
            .depends_on
            .iter()
            .any(|dep| *dep.value == **root);
        let source = match self.pass(carried, root) {
            Some(source) => source,
            None if is_dependency => self.value_of(root)?,
            None => match root.strip_suffix("__error") {
                Some(failed) if self.ids.contains_key(failed) => Source::Error(failed.to_owned()),
                _ => {
                    return match root.as_str() {
                        "inputs" | "nodes" | "vars" => self.expression(carried, steps),
                        _ => Ok(Read {
                            source: self.input(root)?,
                            path: path.to_vec(),
                        }),
                    };
                }
            },
        };
        Ok(Read {
            source,
            path: path.to_vec(),
        })
    }

    /// What a name in an expression reads.
    fn expression(&self, carried: &Carried<'_>, steps: &[String]) -> Result<Read, Why> {
        let unknown = || format!("{} is no value that a canvas has.", steps.join("."));
        let (root, rest) = steps.split_first().ok_or_else(unknown)?;
        if let Some(source) = self.pass(carried, root) {
            return Ok(Read {
                source,
                path: rest.to_vec(),
            });
        }
        let (name, path) = rest.split_first().ok_or_else(unknown)?;
        let source = match root.as_str() {
            "inputs" => self.input(name)?,
            "nodes" => self.value_of(name)?,
            "vars" => match name.strip_suffix("__error") {
                Some(failed) if self.ids.contains_key(failed) => Source::Error(failed.to_owned()),
                _ => {
                    let writes = self
                        .nodes
                        .get(name)
                        .and_then(|carried| carried.node.writes.as_ref());
                    if writes.is_none_or(|written| *written.value != **name) {
                        return Err(unknown());
                    }
                    self.value_of(name)?
                }
            },
            _ => return Err(unknown()),
        };
        Ok(Read {
            source,
            path: path.to_vec(),
        })
    }

    fn pass(&self, carried: &Carried<'_>, name: &str) -> Option<Source> {
        let parent = carried.parent?;
        match name {
            "index" => Some(Source::Index),
            name if *parent.item_var.value == *name => Some(Source::Item),
            _ => None,
        }
    }

    fn value_of(&self, name: &str) -> Result<Source, Why> {
        let has_port = self
            .nodes
            .get(name)
            .is_some_and(|carried| port(carried.node).is_some());
        match has_port {
            true => Ok(Source::Node(name.to_owned())),
            false => Err(format!("the value of `{name}` is none that a canvas has.")),
        }
    }

    fn input(&self, name: &str) -> Result<Source, Why> {
        match self
            .graph
            .inputs
            .iter()
            .any(|input| *input.name.value == *name)
        {
            true if name == "query" && self.has_query() => Ok(Source::Query),
            true => Ok(Source::Input(name.to_owned())),
            false => Err(format!("`{name}` is no declared input and no dependency.")),
        }
    }

    fn has_query(&self) -> bool {
        self.graph.inputs.iter().any(|input| {
            *input.name.value == *"query" && *input.kind == InputType::String && *input.required
        })
    }

    fn is_text(&self, read: &Read) -> bool {
        read.path.is_empty()
            && match &read.source {
                Source::Query | Source::Error(_) => true,
                Source::Input(name) => self.is_input(name, &InputType::String),
                Source::Node(name) => self.nodes.get(name).is_some_and(|carried| {
                    matches!(*carried.node.kind, Kind::Base | Kind::React)
                        && carried.node.output_schema.is_none()
                }),
                Source::Item | Source::Index => false,
            }
    }

    fn is_number(&self, read: &Read) -> bool {
        read.path.is_empty()
            && match &read.source {
                Source::Index => true,
                Source::Input(name) => self.is_input(name, &InputType::Integer),
                _ => false,
            }
    }

    fn is_input(&self, name: &str, kind: &InputType) -> bool {
        let mut inputs = self.graph.inputs.iter();
        inputs
            .any(|input| *input.name.value == *name && input.kind.value == *kind && *input.required)
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

/// The port of a canvas that holds what is the node's value in a graph.
fn port(node: &Node) -> Option<&'static str> {
    match class(node)? {
        "Agent" | "Message" => Some("content"),
        "Iteration" => Some(COLLECTED),
        _ => None,
    }
}

fn model_id(node: &Node, params: &mut Map<String, Value>) {
    let text = |text: &Option<easel_graph::document::Text>| {
        text.as_ref().map_or("", |text| text.trim()).to_owned()
    };
    let (model, provider) = (text(&node.model), text(&node.provider));
    let id = match provider.is_empty() {
        true => model,
        false => format!("{model}@{provider}"),
    };
    if !id.is_empty() {
        params.insert("llm_id".to_owned(), id.into());
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
