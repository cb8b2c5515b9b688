//! From a canvas to a graph.

mod inputs;
mod kinds;
mod reads;

use std::collections::HashSet;
use std::sync::Arc;

use easel_canvas::component::Component;
use easel_canvas::document::Document;
use easel_catalog::Catalog;
use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value, json};

use crate::Losses;
use crate::edges::{Edges, handler};
use crate::names;
use inputs::inputs_of;

/// The classes that a graph has a kind for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Model,
    Switch,
    Categorize,
    Iteration,
    Message,
}

impl Class {
    fn of(component: &Component) -> Option<Class> {
        let classes = [
            ("Agent", Class::Model),
            ("LLM", Class::Model),
            ("Switch", Class::Switch),
            ("Categorize", Class::Categorize),
            ("Iteration", Class::Iteration),
            ("Message", Class::Message),
        ];
        let found = classes.into_iter().find(|(name, _)| component.is(name));
        found.map(|(_, class)| class)
    }

    /// The port whose value the graph's node has.
    fn port(self) -> Option<&'static str> {
        match self {
            Class::Model | Class::Message => Some("content"),
            Class::Switch | Class::Categorize | Class::Iteration => None,
        }
    }
}

/// Bodies inside one another, at most.
const DEEPEST: usize = 32;

/// Parameters of models that count only if a switch beside them is on.
const SWITCHED: [(&str, &str, Option<&str>); 5] = [
    ("temperature", "temperatureEnabled", Some("temperature")),
    ("max_tokens", "maxTokensEnabled", Some("max_new_tokens")),
    ("top_p", "topPEnabled", None),
    ("presence_penalty", "presencePenaltyEnabled", None),
    ("frequency_penalty", "frequencyPenaltyEnabled", None),
];

/// Parameters of models that say nothing where there is neither a conversation nor a retrieval.
const IDLE: [&str; 3] = ["message_history_window_size", "cite", "outputs"];

/// The graph as data.
pub(crate) fn graph(canvas: &Document, catalog: &Catalog, losses: &mut Losses) -> Value {
    let components = canvas.components();
    let begin = components.values().find(|one| one.is("Begin"));
    let declared = begin.map(inputs_of).unwrap_or_default();
    let edges = Edges::of(canvas, &components, losses);
    let mute = messages_of_failures(&components);
    let carried = components
        .values()
        .filter(|one| Class::of(one).is_some() && !mute.contains(&one.id))
        .map(|one| (&*one.id, &*one.class));
    let names = names::in_graph(carried, declared.keys().map(|key| &**key), losses);
    let mut writer = Writer {
        canvas,
        catalog,
        components: &components,
        edges,
        mute: mute.clone(),
        names,
        declared,
        reads_query: false,
        depth: 0,
        published: HashSet::new(),
        losses,
    };
    let mut nodes = writer.level(None);
    writer.publish(&mut nodes);
    let mut graph = Map::new();
    let title = canvas.get("title").or_else(|| canvas.title());
    let title = title.and_then(|title| title.as_str().or_else(|| title.get("en")?.as_str()));
    if title.is_none() {
        writer.losses.say(
            "",
            "name",
            "A canvas has no name, and a graph needs one: it is called `canvas`.",
        );
    }
    graph.insert("name".to_owned(), title.unwrap_or("canvas").into());
    if let Some(text) = canvas.get("description").and_then(|text| text.as_str()) {
        graph.insert("description".to_owned(), text.into());
    }
    writer.about_the_canvas(begin);
    graph.extend(writer.inputs().map(|inputs| ("inputs".to_owned(), inputs)));
    // As a canvas does, the graph ends with the first failure that nothing handles.
    graph.insert("fail_fast".to_owned(), true.into());
    graph.insert("nodes".to_owned(), nodes.into());
    Value::Object(graph)
}

struct Writer<'a> {
    canvas: &'a Document,
    catalog: &'a Catalog,
    components: &'a IndexMap<Arc<str>, Component>,
    edges: Edges,
    /// Messages to which failures lead.
    mute: HashSet<Arc<str>>,
    /// The id in the graph of each node that is carried.
    names: IndexMap<String, String>,
    declared: IndexMap<Arc<str>, Value>,
    reads_query: bool,
    /// How many bodies are around the node at hand.
    depth: usize,
    /// Nodes whose value is read by some that do not depend on them.
    published: HashSet<String>,
    losses: &'a mut Losses,
}

impl Writer<'_> {
    /// The class of a node that is carried.
    fn class(&self, component: &Component) -> Option<Class> {
        Class::of(component).filter(|_| !self.mute.contains(&component.id))
    }

    /// The nodes of one body, or of the top level.
    fn level(&mut self, parent: Option<&str>) -> Vec<Value> {
        let components = self.components;
        let here = components
            .values()
            .filter(|one| one.parent.as_deref() == parent);
        let mut nodes = Vec::new();
        for component in here {
            let id = &component.id;
            if component.is("Begin") || component.is("IterationItem") {
                continue;
            }
            match self.class(component) {
                Some(_) if self.depth > DEEPEST => {
                    let why =
                        "Left out: it stands in more bodies inside one another than are converted.";
                    self.losses.say(id, "", why);
                }
                Some(class) => nodes.push(self.node(component, class)),
                None if self.mute.contains(id) => {
                    let why = "Left out: a failure leads to it, and a graph does not let an output handle one.";
                    self.losses.say(id, "", why);
                }
                None => {
                    let class = &component.class;
                    self.losses.say(id, "", format!(
                        "Left out: no kind of node does what {class} does. What stands behind it follows what stood before it."
                    ));
                }
            }
        }
        nodes
    }

    fn node(&mut self, component: &Component, class: Class) -> Value {
        let id = component.id.clone();
        let mut node = Map::new();
        let name = self.names.get(&*id).cloned().unwrap_or_default();
        node.insert("id".to_owned(), name.into());
        let kind = match class {
            Class::Model if self.tools(component).is_empty() => "base",
            Class::Model => "react",
            Class::Switch | Class::Categorize => "router",
            Class::Iteration => "map",
            Class::Message => "output",
        };
        node.insert("kind".to_owned(), kind.into());
        let deps = self.dependencies(component);
        let names: Vec<&String> = deps.iter().filter_map(|id| self.names.get(id)).collect();
        if !names.is_empty() {
            node.insert("depends_on".to_owned(), json!(names));
        }
        let mut carried: Vec<&str> = IDLE.to_vec();
        match class {
            Class::Model => self.model(component, &deps, &mut node, &mut carried),
            Class::Switch => self.switch(component, &mut node, &mut carried),
            Class::Categorize => self.categorize(component, &mut node, &mut carried),
            Class::Iteration => self.iteration(component, &mut node, &mut carried),
            Class::Message => {
                carried.extend(["content", "stream"]);
                let contents = component
                    .params
                    .get("content")
                    .and_then(|all| all.as_array());
                match contents.unwrap_or_default() {
                    [only] => {
                        let said = only.as_str().unwrap_or_default();
                        if let Some(said) = self.text(component, &deps, "content", said, true) {
                            node.insert("value".to_owned(), said.into());
                        }
                    }
                    _ => self.losses.say(
                        &id,
                        "content",
                        "Left out: a graph says one text, and does not pick one of several.",
                    ),
                }
            }
        }
        self.failures(component, &mut node, &mut carried);
        self.rest(component, &carried);
        Value::Object(node)
    }

    /// What else is set and does something.
    fn rest(&mut self, component: &Component, carried: &[&str]) {
        let Some(table) = self.catalog.get(&component.class) else {
            return;
        };
        for param in table.all_params() {
            let value = component.params.get(&param.name);
            let off = SWITCHED.iter().any(|(name, switch, _)| {
                (**name == *param.name || **switch == *param.name)
                    && !component
                        .params
                        .get(*switch)
                        .is_some_and(|on| on.is_truthy())
            });
            let Some(value) = value.filter(|value| !off && **value != param.default) else {
                continue;
            };
            let empty = value.is_null()
                || value.as_str() == Some("")
                || value.as_array().is_some_and(<[_]>::is_empty)
                || value.as_object().is_some_and(|members| members.is_empty());
            if !empty && !carried.contains(&&*param.name) {
                let why = "Left out: a graph has nothing that surely does the same.";
                self.losses.say(&component.id, &param.name, why);
            }
        }
    }

    /// Ids of the nodes that a node depends on, those that are not carried replaced by what stood before them.
    fn dependencies(&mut self, component: &Component) -> IndexSet<String> {
        let (mut deps, mut seen) = (IndexSet::new(), HashSet::new());
        let mut begins = false;
        let reversed = |edges: &Edges, id: &str| {
            let mut before: Vec<Arc<str>> = edges.before(id).cloned().collect();
            before.reverse();
            before
        };
        let mut open = reversed(&self.edges, &component.id);
        while let Some(id) = open.pop() {
            let Some(source) = self.components.get(&id).filter(|_| seen.insert(id.clone())) else {
                continue;
            };
            match self.class(source) {
                _ if source.is("Begin") || source.is("IterationItem") => begins = true,
                _ if source.parent != component.parent => {
                    let why = "Left out: an edge between a body and what is around it.";
                    self.losses.say(&component.id, "upstream", why);
                }
                Some(Class::Message) => {
                    let why = "It says its text at the end: a graph gives out results and goes on at none of them.";
                    self.losses.say(&id, "downstream", why);
                    open.extend(reversed(&self.edges, &id));
                }
                Some(_) => drop(deps.insert(id.to_string())),
                None => open.extend(reversed(&self.edges, &id)),
            }
        }
        if begins && !deps.is_empty() {
            let why = "It also starts with the run, whatever becomes of the nodes before it, which a graph cannot say.";
            self.losses.say(&component.id, "upstream", why);
        }
        deps
    }

    /// Retries, and where a failure leads.
    fn failures(
        &mut self,
        component: &Component,
        node: &mut Map<String, Value>,
        carried: &mut Vec<&str>,
    ) {
        let mut policy = node
            .remove("policy")
            .and_then(|policy| policy.as_object().cloned())
            .unwrap_or_default();
        let retries = component.params.get("max_retries").and_then(|n| n.as_i64());
        if let Some(retries) = retries.filter(|n| (1..=4).contains(n)) {
            policy.insert("retries".to_owned(), retries.into());
            carried.push("max_retries");
            let delay = component
                .params
                .get("delay_after_error")
                .and_then(|n| n.as_f64());
            if let Some(delay) = delay {
                policy.insert("delay_s".to_owned(), json!(delay));
            }
            carried.push("delay_after_error");
        } else if retries.is_none_or(|n| n == 0) {
            carried.extend(["max_retries", "delay_after_error"]);
        }
        if !policy.is_empty() {
            node.insert("policy".to_owned(), policy.into());
        }
        if let Some(target) = handler(component)
            && let Some(name) = self.names.get(target)
        {
            node.insert("on_error".to_owned(), name.clone().into());
            carried.extend([
                "exception_method",
                "exception_goto",
                "exception_default_value",
            ]);
        } else if !component
            .params
            .get("exception_method")
            .is_some_and(|method| method.is_truthy())
        {
            carried.extend([
                "exception_method",
                "exception_goto",
                "exception_default_value",
            ]);
        }
    }

    /// Lets nodes whose values others read write them to a variable of their name.
    fn publish(&self, nodes: &mut [Value]) {
        for node in nodes {
            let id = node
                .get("id")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            if let Some(members) = node.as_object_mut() {
                if self.published.contains(&id) {
                    members.insert("writes".to_owned(), id.into());
                }
                if let Some(Value::Array(body)) = members.get_mut("body") {
                    self.publish(body);
                }
            }
        }
    }
}

/// Messages to which failures lead: an output of a graph handles none.
fn messages_of_failures(components: &IndexMap<Arc<str>, Component>) -> HashSet<Arc<str>> {
    let handlers = components.values().filter_map(handler);
    let handlers = handlers.filter_map(|id| components.get(id));
    let messages = handlers.filter(|one| Class::of(one) == Some(Class::Message));
    messages.map(|one| one.id.clone()).collect()
}
