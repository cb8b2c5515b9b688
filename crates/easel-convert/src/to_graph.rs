//! From a canvas to a graph.

use std::collections::HashSet;
use std::sync::Arc;

use easel_canvas::component::Component;
use easel_canvas::document::Document;
use easel_catalog::Catalog;
use easel_core::reference::canvas::bare;
use easel_core::reference::{Reference, Root};
use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value, json};

use crate::Losses;
use crate::condition::{self, Case, Test};
use crate::names;
use crate::text::{self, Piece, Read, Source, Why};

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
        mute: mute.clone(),
        names,
        declared,
        reads_query: false,
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

/// The fields of a Begin.
fn inputs_of(begin: &Component) -> IndexMap<Arc<str>, Value> {
    let inputs = begin
        .params
        .get("inputs")
        .and_then(|inputs| inputs.as_object());
    let inputs = inputs.into_iter().flatten();
    inputs
        .map(|(key, field)| (key.clone(), field.to_json()))
        .collect()
}

struct Writer<'a> {
    canvas: &'a Document,
    catalog: &'a Catalog,
    components: &'a IndexMap<Arc<str>, Component>,
    /// Messages to which failures lead.
    mute: HashSet<Arc<str>>,
    /// The id in the graph of each node that is carried.
    names: IndexMap<String, String>,
    declared: IndexMap<Arc<str>, Value>,
    reads_query: bool,
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
        let mut deps = IndexSet::new();
        let mut begins = false;
        self.before(component, &mut deps, &mut begins, 0);
        if begins && !deps.is_empty() {
            let why = "It also starts with the run, whatever becomes of the nodes before it, which a graph cannot say.";
            self.losses.say(&component.id, "upstream", why);
        }
        deps
    }

    fn before(
        &mut self,
        component: &Component,
        deps: &mut IndexSet<String>,
        begins: &mut bool,
        depth: usize,
    ) {
        if depth > self.components.len() {
            self.losses.say(
                &component.id,
                "upstream",
                "Left out: a circle of edges, which a graph does not have.",
            );
            return;
        }
        for id in self.sources(component) {
            let Some(source) = self.components.get(id.as_str()) else {
                continue;
            };
            let same_level = source.parent == component.parent;
            match self.class(source) {
                _ if source.is("Begin") || source.is("IterationItem") => *begins = true,
                _ if !same_level => {
                    self.losses.say(
                        &component.id,
                        "upstream",
                        "Left out: an edge between a body and what is around it.",
                    );
                }
                Some(Class::Message) => {
                    let why = "It says its text at the end: a graph gives out results and goes on at none of them.";
                    self.losses.say(&id, "downstream", why);
                    self.before(source, deps, begins, depth + 1);
                }
                Some(_) => drop(deps.insert(id)),
                None => self.before(source, deps, begins, depth + 1),
            }
        }
    }

    /// Ids of the nodes before one: as its own list has them, then those that others have; then what it handles.
    fn sources(&self, component: &Component) -> IndexSet<String> {
        let mut sources: IndexSet<String> = component
            .upstream
            .iter()
            .flatten()
            .map(|id| id.to_string())
            .collect();
        let edges = self.canvas.edges_between(self.components);
        let edges = edges.into_iter().filter(|edge| edge.to == component.id);
        sources.extend(edges.map(|edge| edge.from.to_string()));
        let handled = self
            .components
            .values()
            .filter(|one| handler(one) == Some(&*component.id));
        sources.extend(handled.map(|one| one.id.to_string()));
        sources
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

    fn model(
        &mut self,
        component: &Component,
        deps: &IndexSet<String>,
        node: &mut Map<String, Value>,
        carried: &mut Vec<&str>,
    ) {
        carried.extend(["llm_id", "sys_prompt", "prompts"]);
        let params = &component.params;
        let id = params
            .get("llm_id")
            .and_then(|id| id.as_str())
            .unwrap_or_default();
        let (model, provider) = match id.rsplit_once('@') {
            Some((model, provider)) => (model, provider),
            None => (id, ""),
        };
        for (key, text) in [("provider", provider), ("model", model)] {
            if !text.trim().is_empty() {
                node.insert(key.to_owned(), text.into());
            }
        }
        let system = params
            .get("sys_prompt")
            .and_then(|text| text.as_str())
            .unwrap_or_default();
        let default = json!([{"role": "user", "content": "{sys.query}"}]);
        let prompts = params
            .get("prompts")
            .map_or(default, |prompts| prompts.to_json());
        let prompts: Vec<Value> = match prompts {
            Value::Array(prompts) => prompts,
            Value::Null => Vec::new(),
            one => vec![one],
        };
        let mut texts = Vec::new();
        if !system.trim().is_empty() {
            let why = "Written before the prompt: a node of a graph has one text.";
            self.losses.say(&component.id, "sys_prompt", why);
            texts.extend(self.text(component, deps, "sys_prompt", system, false));
        }
        if prompts.len() > 1
            || prompts
                .iter()
                .any(|prompt| prompt.get("role").is_some_and(|role| role != "user"))
        {
            let why = "Written as one text, without the roles: a node of a graph has one text.";
            self.losses.say(&component.id, "prompts", why);
        }
        for prompt in &prompts {
            let content = prompt
                .get("content")
                .unwrap_or(prompt)
                .as_str()
                .unwrap_or_default();
            texts.extend(self.text(component, deps, "prompts", content, false));
        }
        let said = texts.join("\n\n");
        let unnamed = deps.iter().any(|id| {
            let source = self.components.get(id.as_str());
            let silent = source.is_none_or(|source| {
                matches!(self.class(source), Some(Class::Switch | Class::Categorize))
                    || handler(source) == Some(&*component.id)
            });
            let name = self.names.get(id);
            !silent && name.is_some_and(|name| !said.contains(&format!("{{{name}}}")))
        });
        if unnamed {
            let why = "A model of a graph is shown the values of all that its node depends on; in a canvas only what the text names.";
            self.losses.say(&component.id, "upstream", why);
        }
        node.insert("instructions".to_owned(), said.into());
        let tools = self.tools(component);
        match tools.is_empty() {
            // Without tools there are no rounds.
            true => carried.extend(["tools", "max_rounds"]),
            false => drop(node.insert("tools".to_owned(), json!(tools))),
        }
        carried.push("tools");
        let mut policy = Map::new();
        for (param, switch, key) in SWITCHED {
            let value = params
                .get(param)
                .filter(|_| params.get(switch).is_some_and(|on| on.is_truthy()));
            if let (Some(value), Some(key)) = (value, key) {
                policy.insert(key.to_owned(), value.to_json());
                carried.extend([param, switch]);
            }
        }
        if !policy.is_empty() {
            node.insert("policy".to_owned(), policy.into());
        }
    }

    /// The names of a model's tools.
    fn tools(&mut self, component: &Component) -> Vec<String> {
        let tools = component
            .params
            .get("tools")
            .and_then(|tools| tools.as_array());
        let mut names = Vec::new();
        for tool in tools.unwrap_or_default() {
            let class = tool
                .get("component_name")
                .and_then(|name| name.as_str())
                .unwrap_or_default();
            if self
                .catalog
                .get(class)
                .is_none_or(|table| table.tool.is_none())
                || class == "Agent"
            {
                self.losses.say(
                    &component.id,
                    &format!("tools {class}"),
                    "Left out: a graph names tools, and this is none that has a name.",
                );
                continue;
            }
            if tool
                .get("params")
                .and_then(|params| params.as_object())
                .is_some_and(|params| !params.is_empty())
            {
                self.losses.say(
                    &component.id,
                    &format!("tools {class}"),
                    "Its settings are left out: a graph names a tool alone.",
                );
            }
            names.push(class.to_owned());
        }
        names
    }

    fn switch(
        &mut self,
        component: &Component,
        node: &mut Map<String, Value>,
        carried: &mut Vec<&str>,
    ) {
        carried.extend(["conditions", "end_cpn_ids"]);
        let conditions = component
            .params
            .get("conditions")
            .and_then(|all| all.as_array());
        let mut cases = Vec::new();
        for (at, condition) in conditions.unwrap_or_default().iter().enumerate() {
            let place = format!("conditions.{at}");
            let Some(to) = self.target(component, &place, condition.get("to")) else {
                continue;
            };
            match self.case(component, condition) {
                Ok(when) => cases.push(json!({"when": when, "to": to})),
                Err(why) => self
                    .losses
                    .say(&component.id, &place, format!("Left out: {why}")),
            }
        }
        node.insert("cases".to_owned(), cases.into());
        if let Some(to) = self.target(
            component,
            "end_cpn_ids",
            component.params.get("end_cpn_ids"),
        ) {
            node.insert("default".to_owned(), to.into());
        }
    }

    /// The only node that a branch leads to.
    fn target(
        &mut self,
        component: &Component,
        place: &str,
        to: Option<&easel_core::Value>,
    ) -> Option<String> {
        let to = match to.map(|to| to.to_json()) {
            Some(Value::Array(ids)) => ids,
            Some(one @ Value::String(_)) => vec![one],
            _ => Vec::new(),
        };
        if let [one] = to.as_slice()
            && let Some(name) = one.as_str().and_then(|id| self.names.get(id))
        {
            return Some(name.clone());
        }
        let why = "Left out: it leads to none or several nodes, or to one that is left out, and a case of a router leads to one.";
        self.losses.say(&component.id, place, why);
        None
    }

    fn case(
        &mut self,
        component: &Component,
        condition: &easel_core::Value,
    ) -> Result<String, Why> {
        let items = condition
            .get("items")
            .and_then(|items| items.as_array())
            .unwrap_or_default();
        let mut tests = Vec::new();
        for item in items {
            let text = |key: &str| {
                item.get(key)
                    .and_then(|text| text.as_str())
                    .unwrap_or_default()
            };
            let operator = text("operator").to_owned();
            let reference = bare(text("cpn_id")).ok_or("a test has no value to look at.")?;
            let read = self.resolve(component, &reference)?;
            if condition::compares_text(&operator) && !self.is_text(&read) {
                return Err(format!(
                    "`{operator}` is the same in both for text alone, and {} may be something else.",
                    reference.text
                ));
            }
            if condition::compares_numbers(&operator) && !self.is_number(&read) {
                return Err(format!(
                    "`{operator}` is the same in both for numbers alone, and {} may be something else.",
                    reference.text
                ));
            }
            let right = item
                .get("value")
                .map_or(Value::Null, |value| value.to_json());
            let left = self.named(&read);
            tests.push(Test {
                left,
                operator,
                right,
            });
        }
        let any = condition
            .get("logical_operator")
            .and_then(|word| word.as_str())
            == Some("or");
        condition::expression(&Case { any, tests })
            .ok_or("it has a test that an expression cannot surely make.".to_owned())
    }

    fn categorize(
        &mut self,
        component: &Component,
        node: &mut Map<String, Value>,
        carried: &mut Vec<&str>,
    ) {
        carried.extend(["category_description", "query", "llm_id"]);
        let query = component
            .params
            .get("query")
            .and_then(|text| text.as_str())
            .unwrap_or("sys.query");
        match bare(query).map(|reference| self.resolve(component, &reference)) {
            Some(Ok(read)) if self.is_text(&read) && !matches!(read.source, Source::Node(_)) => {
                let said = match &read.source {
                    Source::Input(name) => format!("{{{name}}}"),
                    _ => "{query}".to_owned(),
                };
                node.insert("instructions".to_owned(), said.into());
            }
            _ => self.losses.say(
                &component.id,
                "query",
                "Left out: a router is told what the user gave, and nothing of other nodes.",
            ),
        }
        let categories = component
            .params
            .get("category_description")
            .and_then(|all| all.as_object());
        let mut routes = Map::new();
        for (label, category) in categories.into_iter().flatten() {
            let place = format!("category_description.{label}");
            if category
                .get("description")
                .is_some_and(|text| text.is_truthy())
                || category.get("examples").is_some_and(|all| all.is_truthy())
            {
                self.losses.say(
                    &component.id,
                    &format!("{place}.description"),
                    "Description and examples are left out: a router knows the labels alone.",
                );
            }
            if let Some(to) = self.target(component, &place, category.get("to")) {
                routes.insert(label.to_string(), to.into());
            }
        }
        if let Some(last) = routes.values().last().cloned() {
            node.insert("default".to_owned(), last);
        }
        node.insert("routes".to_owned(), routes.into());
        node.insert("repair".to_owned(), false.into());
        let id = component
            .params
            .get("llm_id")
            .and_then(|id| id.as_str())
            .unwrap_or_default();
        let (model, provider) = id.rsplit_once('@').unwrap_or((id, ""));
        for (key, text) in [("provider", provider), ("model", model)] {
            if !text.trim().is_empty() {
                node.insert(key.to_owned(), text.into());
            }
        }
    }

    fn iteration(
        &mut self,
        component: &Component,
        node: &mut Map<String, Value>,
        carried: &mut Vec<&str>,
    ) {
        carried.extend(["items_ref", "max_concurrency"]);
        let items = component
            .params
            .get("items_ref")
            .and_then(|text| text.as_str())
            .unwrap_or_default();
        match bare(items)
            .ok_or("it names no list.".to_owned())
            .and_then(|reference| self.resolve(component, &reference))
        {
            Ok(read) => drop(node.insert("over".to_owned(), self.named(&read).into())),
            Err(why) => self
                .losses
                .say(&component.id, "items_ref", format!("Left out: {why}")),
        }
        let concurrency = component
            .params
            .get("max_concurrency")
            .and_then(|n| n.as_i64());
        if let Some(concurrency) = concurrency.filter(|n| *n > 1) {
            node.insert("concurrency".to_owned(), concurrency.into());
        }
        node.insert("body".to_owned(), self.level(Some(&component.id)).into());
        let outputs = component
            .params
            .get("outputs")
            .and_then(|all| all.as_object());
        let outputs: Vec<_> = outputs
            .into_iter()
            .flatten()
            .filter(|(_, output)| output.get("ref").is_some())
            .collect();
        let collected = match outputs.as_slice() {
            [(_, output)] => output
                .get("ref")
                .and_then(|text| text.as_str())
                .and_then(bare),
            _ => None,
        };
        let collected =
            collected.and_then(
                |reference| match (&reference.root, reference.path.is_empty()) {
                    (Root::Output { node, port }, true) => self.value_of(node, port),
                    _ => None,
                },
            );
        match collected {
            Some(name) => drop(node.insert("body_outputs".to_owned(), json!([name]))),
            None => self.losses.say(
                &component.id,
                "outputs",
                "Left out: a map collects the whole value of one node, under one name.",
            ),
        }
    }

    /// The id in the graph of a node, if its value there is that port.
    fn value_of(&self, id: &str, port: &str) -> Option<String> {
        let component = self.components.get(id)?;
        let is_value = match self.class(component)? {
            Class::Iteration => {
                let outputs = component
                    .params
                    .get("outputs")
                    .and_then(|all| all.as_object());
                let mut outputs = outputs
                    .into_iter()
                    .flatten()
                    .filter(|(_, output)| output.get("ref").is_some());
                outputs.next().is_some_and(|(name, _)| **name == *port) && outputs.next().is_none()
            }
            class => class.port() == Some(port),
        };
        is_value.then(|| self.names.get(id).cloned()).flatten()
    }

    /// A text as a template.
    fn text(
        &mut self,
        component: &Component,
        deps: &IndexSet<String>,
        key: &str,
        said: &str,
        jinja: bool,
    ) -> Option<String> {
        let read = text::of_canvas(said, jinja, |reference| self.resolve(component, reference));
        let pieces: Vec<Piece> = match read {
            Ok(pieces) => pieces,
            Err(why) => {
                self.losses
                    .say(&component.id, key, format!("Left out: {why}"));
                return None;
            }
        };
        for read in text::reads(&pieces) {
            if !self.is_text(read)
                && !self.is_number(read)
                && !matches!(read.source, Source::Error(_))
            {
                let why = "It inserts what may be no text: a canvas writes lists, objects and truth values as JSON and nothing for what is missing, a graph writes them as Python does.";
                self.losses.say(&component.id, key, why);
            } else if let Source::Node(name) = &read.source
                && !self.surely_ran(component, name)
            {
                let why = "It inserts the text of a node that may not have run: a canvas writes nothing there, a graph None or the placeholder.";
                self.losses.say(&component.id, key, why);
            }
        }
        let near: HashSet<String> = deps
            .iter()
            .filter_map(|id| self.names.get(id).cloned())
            .collect();
        let mut published = Vec::new();
        let written = text::to_graph(&pieces, |read| {
            let root = match &read.source {
                Source::Query => "query".to_owned(),
                Source::Input(name) => name.clone(),
                Source::Node(name) if near.contains(name) => name.clone(),
                Source::Node(name) => {
                    published.push(name.clone());
                    format!("vars.{name}")
                }
                Source::Error(name) => format!("{name}__error"),
                Source::Item => "item".to_owned(),
                Source::Index => "index".to_owned(),
            };
            spelt(root, &read.path)
        });
        self.published.extend(published);
        match written {
            Ok(written) => Some(written),
            Err(why) => {
                self.losses
                    .say(&component.id, key, format!("Left out: {why}"));
                None
            }
        }
    }

    /// A read as an expression.
    fn named(&mut self, read: &Read) -> String {
        let root = match &read.source {
            Source::Query => "inputs.query".to_owned(),
            Source::Input(name) => format!("inputs.{name}"),
            Source::Node(name) => format!("nodes.{name}"),
            Source::Error(name) => format!("vars.{name}__error"),
            Source::Item => "item".to_owned(),
            Source::Index => "index".to_owned(),
        };
        spelt(root, &read.path)
    }

    fn resolve(&mut self, component: &Component, reference: &Reference) -> Result<Read, Why> {
        let path: Vec<String> = reference
            .path
            .0
            .iter()
            .map(|step| step.name.to_string())
            .collect();
        if !path.iter().all(|step| names::is_identifier(step)) {
            return Err(format!(
                "{} has a step that is no plain name.",
                reference.text
            ));
        }
        let source = match &reference.root {
            Root::Variable(key) if **key == *"sys.query" => {
                self.reads_query = true;
                Source::Query
            }
            Root::Output { node, port } => {
                let source = self.components.get(node);
                match source {
                    Some(source)
                        if source.is("Begin")
                            && self.declared.contains_key(port)
                            && names::is_identifier(port)
                            && **port != *"query" =>
                    {
                        Source::Input(port.to_string())
                    }
                    Some(source)
                        if source.is("IterationItem") && source.parent == component.parent =>
                    {
                        match &**port {
                            "item" => Source::Item,
                            "index" => Source::Index,
                            _ => {
                                return Err(format!(
                                    "{} is nothing that a graph has.",
                                    reference.text
                                ));
                            }
                        }
                    }
                    Some(source) if **port == *"_ERROR" && source.parent == component.parent => {
                        match self.names.get(&**node) {
                            Some(name) => Source::Error(name.clone()),
                            None => {
                                return Err(format!(
                                    "{} is of a node that is left out.",
                                    reference.text
                                ));
                            }
                        }
                    }
                    Some(_) => match self.value_of(node, port) {
                        Some(name) => Source::Node(name),
                        None => {
                            return Err(format!(
                                "{} is of a node or port that a graph does not have.",
                                reference.text
                            ));
                        }
                    },
                    None => return Err(format!("there is no node for {}.", reference.text)),
                }
            }
            _ => return Err(format!("{} is nothing that a graph has.", reference.text)),
        };
        Ok(Read { source, path })
    }

    /// Whether a value is surely text.
    fn is_text(&self, read: &Read) -> bool {
        read.path.is_empty()
            && match &read.source {
                Source::Query => true,
                Source::Input(name) => self.declared.get(name.as_str()).is_some_and(|field| {
                    matches!(input_type(field), Some("string")) && !is_optional(field)
                }),
                Source::Node(name) => {
                    let id = self.id_of(name);
                    id.and_then(|id| self.components.get(id))
                        .is_some_and(|one| self.class(one) == Some(Class::Model))
                }
                Source::Error(_) => true,
                Source::Item | Source::Index => false,
            }
    }

    fn is_number(&self, read: &Read) -> bool {
        read.path.is_empty()
            && match &read.source {
                Source::Index => true,
                Source::Input(name) => self.declared.get(name.as_str()).is_some_and(|field| {
                    matches!(input_type(field), Some("integer")) && !is_optional(field)
                }),
                _ => false,
            }
    }

    fn id_of(&self, name: &str) -> Option<&str> {
        self.names
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(id, _)| id.as_str())
    }

    /// Whether a node ran whenever another does: there is no branch before it, or every way to the other leads through it.
    fn surely_ran(&self, reader: &Component, name: &str) -> bool {
        let Some(id) = self.id_of(name) else {
            return false;
        };
        let above = |start: &str, without: Option<&str>| -> HashSet<String> {
            let mut seen = HashSet::new();
            let mut open = vec![start.to_owned()];
            while let Some(at) = open.pop() {
                let Some(component) = self.components.get(at.as_str()) else {
                    continue;
                };
                for before in self.sources(component) {
                    if Some(before.as_str()) != without && seen.insert(before.clone()) {
                        open.push(before);
                    }
                }
            }
            seen
        };
        let branches = |id: &String| {
            self.components.get(id.as_str()).is_some_and(|one| {
                matches!(self.class(one), Some(Class::Switch | Class::Categorize))
                    || handler(one).is_some()
            })
        };
        // A failure that is handled leaves no value, and only its handler goes on.
        let handler = self.components.get(id).and_then(handler);
        let unconditional = handler.is_none() && !above(id, None).iter().any(branches);
        let handles = handler.is_some_and(|handler| {
            handler == &*reader.id || above(&reader.id, None).contains(handler)
        });
        let same_level = self
            .components
            .get(id)
            .is_some_and(|one| one.parent == reader.parent);
        // Without the node, nothing that starts a run or a pass leads to the reader.
        let starts = |id: &String| {
            let one = self.components.get(id.as_str());
            one.is_some_and(|one| one.is("Begin") || one.is("IterationItem"))
        };
        let only_way = || same_level && !above(&reader.id, Some(id)).iter().any(starts);
        unconditional || !handles && only_way()
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

    /// The declared inputs, if there are any.
    fn inputs(&mut self) -> Option<Value> {
        let mut inputs = Map::new();
        if self.reads_query {
            inputs.insert("query".to_owned(), "string".into());
        }
        for (key, field) in &self.declared {
            let place = format!("inputs.{key}");
            let Some(kind) =
                input_type(field).filter(|_| names::is_identifier(key) && **key != *"query")
            else {
                self.losses.say(
                    "begin",
                    &place,
                    "Left out: a graph has no input of that name or type.",
                );
                continue;
            };
            let mut declared = Map::new();
            declared.insert("type".to_owned(), kind.into());
            if is_optional(field) {
                declared.insert("required".to_owned(), false.into());
            }
            let text = |name: &str| {
                field
                    .get(name)
                    .and_then(Value::as_str)
                    .filter(|text| !text.is_empty())
            };
            if let Some(label) = text("name").filter(|label| **label != **key) {
                declared.insert("description".to_owned(), label.into());
            }
            if let Some(options) = field
                .get("options")
                .and_then(Value::as_array)
                .filter(|all| !all.is_empty())
            {
                declared.insert("enum".to_owned(), json!(options));
            }
            if field
                .get("value")
                .is_some_and(|value| !value.is_null() && value != "")
            {
                self.losses.say(
                    "begin",
                    &format!("{place}.value"),
                    "Left out: an input of a graph starts without a value.",
                );
            }
            let short = declared.len() == 1;
            inputs.insert(
                key.to_string(),
                if short { kind.into() } else { declared.into() },
            );
        }
        (!inputs.is_empty()).then(|| inputs.into())
    }

    /// What a canvas has beside its nodes.
    fn about_the_canvas(&mut self, begin: Option<&Component>) {
        let mode = begin
            .and_then(|begin| begin.params.get("mode"))
            .and_then(|mode| mode.as_str());
        if mode != Some("task") {
            let why = "Each run of a graph is a conversation of one turn: what was said before is not known to it.";
            self.losses.say("begin", "mode", why);
        }
        let greets = begin.is_some_and(|begin| {
            begin
                .params
                .get("prologue")
                .is_some_and(|text| text.is_truthy())
                && !begin
                    .params
                    .get("enablePrologue")
                    .is_some_and(|on| !on.is_truthy())
        });
        if greets && mode != Some("task") {
            self.losses
                .say("begin", "prologue", "Left out: a graph does not greet.");
        }
        let variables = self.canvas.get("globals").and_then(|all| all.as_object());
        for (name, value) in variables.into_iter().flatten() {
            if name.starts_with("env.") && value.is_truthy() {
                self.losses.say(
                    "",
                    name,
                    "Left out: variables of a graph have no value to begin with.",
                );
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

/// The only node that a failure leads to.
fn handler(component: &Component) -> Option<&str> {
    let method = component
        .params
        .get("exception_method")
        .and_then(|method| method.as_str());
    let goto = component.params.get("exception_goto")?;
    let only = match goto.as_array() {
        Some([only]) => only.as_str(),
        Some(_) => None,
        None => goto.as_str(),
    };
    only.filter(|_| method == Some("goto"))
}

fn spelt(root: String, path: &[String]) -> String {
    std::iter::once(&root)
        .chain(path)
        .cloned()
        .collect::<Vec<_>>()
        .join(".")
}

/// The type of an input for a field of a form.
fn input_type(field: &Value) -> Option<&str> {
    let kind = field
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match kind {
        "" | "line" | "paragraph" | "options" => Some("string"),
        "integer" | "boolean" | "object" | "file" | "array" => Some(kind),
        _ => None,
    }
}

fn is_optional(field: &Value) -> bool {
    field
        .get("optional")
        .and_then(Value::as_bool)
        .unwrap_or(false)
}
