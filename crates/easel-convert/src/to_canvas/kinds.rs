//! What the kinds with a component of their own become.

use easel_graph::document::{Node, OutputSchema};
use easel_graph::kind::Kind;
use serde_json::{Map, Value, json};

use super::{COLLECTED, Carried, Writer, port};
use crate::condition;
use crate::text::{Read, Why};

impl<'a> Writer<'a> {
    pub(super) fn policy(&mut self, node: &Node, params: &mut Map<String, Value>) {
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

    pub(super) fn model(
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

    pub(super) fn switch(
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

    pub(super) fn items(
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

    pub(super) fn target(&mut self, node: &Node, place: &str, to: &str) -> Option<String> {
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

    pub(super) fn categorize(
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

    pub(super) fn map(
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
