//! What the components with a kind of their own become.

use easel_canvas::component::Component;
use easel_core::reference::Root;
use easel_core::reference::canvas::bare;
use indexmap::IndexSet;
use serde_json::{Map, Value, json};

use super::{Class, SWITCHED, Writer};
use crate::condition::{self, Case, Test};
use crate::edges::handler;
use crate::text::{Source, Why};

impl Writer<'_> {
    pub(super) fn model(
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
    pub(super) fn tools(&mut self, component: &Component) -> Vec<String> {
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

    pub(super) fn switch(
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
    pub(super) fn target(
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

    pub(super) fn case(
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

    pub(super) fn categorize(
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
        if let Some(last) = routes.values().next_back().cloned() {
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

    pub(super) fn iteration(
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
        self.depth += 1;
        let body = self.level(Some(&component.id));
        self.depth -= 1;
        node.insert("body".to_owned(), body.into());
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
}
