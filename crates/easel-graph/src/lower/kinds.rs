//! The eleven kinds: what each is to the machine, and what its behaviour is told.

use std::collections::HashSet;
use std::sync::Arc;

use easel_core::draft::{
    EffectClass, FEEDBACK, Field, FormField, INDEX, Items, Kind as Machine, RESULTS, VERDICTS,
};
use easel_core::event::Fault;
use easel_core::expression::Expression;
use easel_core::template::Template;
use easel_core::{Object, Value};

use super::finding::FindingKind;
use super::names::{self, Language, VALUE};
use super::reader::{Keywords, Reader};
use super::{Lowering, results};
use crate::document::{InputMode, Mode, Node, OutputSchema, Routing, Text};
use crate::kind::Kind;

/// What a node of some kind came to.
pub(super) struct Made {
    pub kind: Machine,
    /// What its behaviour reads.
    pub params: Object,
    pub effect: EffectClass,
    pub broken: Option<Fault>,
}

impl Made {
    fn task(params: Object, effect: EffectClass) -> Made {
        Made {
            kind: Machine::Task,
            params,
            effect,
            broken: None,
        }
    }
}

impl Lowering<'_> {
    pub(super) fn kind(&self, reader: &mut Reader<'_>) -> Made {
        match *self.it().kind {
            Kind::Base | Kind::React => self.model(reader),
            Kind::Tool => self.tool(reader),
            Kind::Function | Kind::Python => self.function(reader),
            Kind::Router => self.router(reader),
            Kind::Loop => self.repeat(reader),
            Kind::Map => self.map(reader),
            Kind::Subgraph => Made {
                kind: Machine::Once {
                    give: results::of_body(self),
                },
                ..Made::task(Object::new(), EffectClass::Pure)
            },
            Kind::Input => self.input(reader),
            Kind::Output => self.output(reader),
        }
    }

    /// `base` and `react`.
    fn model(&self, reader: &mut Reader<'_>) -> Made {
        let node = self.it();
        let mut params = self.asking();
        params.insert("compat".into(), Value::from(self.document.is_compat()));
        self.task(reader, &mut params);
        let dependencies = reader.dependencies();
        params.insert("depends_on".into(), texts(dependencies));
        params.insert(
            "tools".into(),
            texts(node.tools.iter().map(|t| (**t).clone())),
        );
        self.arguments(reader);
        let structured = *node.mode == Mode::Structured;
        params.insert("structured".into(), Value::from(structured));
        self.settings(&mut params);
        let mut broken = None;
        if let Some(schema) = &node.output_schema {
            match self.schema(schema) {
                Ok(schema) => drop(params.insert("schema".into(), schema)),
                Err(why) => {
                    let message = format!(
                        "\"{}\" cannot run: the shape of its answer cannot be used: {why}.",
                        node.id
                    );
                    broken = Some(Fault::new("bad_schema", message));
                    let why = why.into();
                    reader.find_at(&node.key("output_schema"), FindingKind::Schema { why });
                }
            }
        }
        let tools = node.tools.iter().map(|tool| (self.surroundings.tool)(tool));
        // What is not known may do anything.
        let worst = tools.map(|tool| tool.unwrap_or(EffectClass::Writes));
        let effect = worst.fold(EffectClass::Reads, |worst, effect| match effect {
            EffectClass::Writes => EffectClass::Writes,
            _ => worst,
        });
        Made {
            broken,
            ..Made::task(params, effect)
        }
    }

    /// The task text: instructions, or the three older keys.
    fn task(&self, reader: &mut Reader<'_>, params: &mut Object) {
        let node = self.it();
        let mut render = |key: &str, text: &Text| {
            let template = reader.template(&node.key(key), text, Language::Template);
            reader.fields.push((key.into(), Field::Format(template)));
        };
        if let Some(instructions) = filled(&node.instructions) {
            return render("instructions", instructions);
        }
        let purpose = [
            ("purpose", &node.purpose),
            ("description", &node.description),
        ];
        let purpose = purpose.into_iter().find_map(|(k, t)| Some((k, filled(t)?)));
        let rest = [
            ("goal", &node.goal),
            ("expected_result", &node.expected_result),
        ];
        let rest = rest.into_iter().filter_map(|(k, t)| Some((k, filled(t)?)));
        for (key, text) in purpose.into_iter().chain(rest) {
            render(key, text);
        }
        params.insert("name".into(), Value::from((*node.id).clone()));
    }

    /// Arguments and settings of tools, in which secrets may stand.
    fn arguments(&self, reader: &mut Reader<'_>) {
        let node = self.it();
        for (key, arguments) in [
            ("tool_args", &node.tool_args),
            ("tool_settings", &node.tool_settings),
        ] {
            if let Some(arguments) = arguments {
                let compiled = reader.arguments(&node.key(key), arguments);
                reader.fields.push((key.into(), Field::Arguments(compiled)));
            }
        }
    }

    /// Settings of tools as they are written, by which a tool is made; its texts are filled in for each call.
    fn settings(&self, params: &mut Object) {
        if let Some(settings) = &self.it().tool_settings {
            let settings = Value::from((**settings).clone());
            params.insert("tool_settings".into(), settings);
        }
    }

    /// Which model is asked, and how.
    fn asking(&self) -> Object {
        let node = self.it();
        let mut params = Object::new();
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                params.insert(key.into(), value);
            }
        };
        let text = |text: &Option<Text>| filled(text).map(|text| Value::from((**text).clone()));
        set("provider", text(&node.provider));
        set("model", text(&node.model));
        let policy = &node.policy;
        set("temperature", policy.temperature.map(|t| Value::from(*t)));
        set(
            "max_tokens",
            policy.max_new_tokens.map(|n| Value::from(i64::from(*n))),
        );
        params
    }

    fn schema(&self, schema: &OutputSchema) -> Result<Value, String> {
        match schema {
            OutputSchema::Class(path) => (self.surroundings.schema)(path),
            OutputSchema::Schema(schema) => Ok(Value::from(schema.clone())),
        }
    }

    fn tool(&self, reader: &mut Reader<'_>) -> Made {
        let node = self.it();
        let mut params = keyword_params(reader.keywords());
        let tool = node.tools.first();
        if let Some(tool) = tool {
            params.insert("tool".into(), Value::from((**tool).clone()));
        }
        self.settings(&mut params);
        self.arguments(reader);
        let effect = tool.and_then(|tool| (self.surroundings.tool)(tool));
        Made::task(params, effect.unwrap_or(EffectClass::Writes))
    }

    fn function(&self, reader: &mut Reader<'_>) -> Made {
        let mut params = keyword_params(reader.keywords());
        if let Some(callable) = filled(&self.it().callable) {
            params.insert("callable".into(), Value::from((**callable).clone()));
        }
        // Code changes nothing outside but what its operator lets it; a failed call may be made again.
        Made::task(params, EffectClass::Reads)
    }

    fn router(&self, reader: &mut Reader<'_>) -> Made {
        let node = self.it();
        let mut params = self.asking();
        params.insert("compat".into(), Value::from(self.document.is_compat()));
        let here = self.here();
        let known = |id: &str| here.find(id).map(|(_, id)| id.clone());
        let target = |to: &str| Value::from(known(to).unwrap_or_else(|| to.into()));
        let choice = |label: &str, to: &str| {
            let members = [
                ("label", Value::from(label)),
                ("to", target(to)),
                ("id", Value::from(to)),
            ];
            Value::from(Object::from_iter(members.map(|(k, v)| (Arc::from(k), v))))
        };
        let targets: Vec<Arc<str>> = node.targets().map(|t| (**t).clone()).collect();
        let chosen: HashSet<Arc<str>> = targets.iter().filter_map(|t| known(t)).collect();
        let always = self
            .dependents()
            .filter(|&(id, handles)| !handles && !chosen.contains(id));
        params.insert("always".into(), texts(always.map(|(id, _)| id.clone())));
        if let Some(default) = &node.default {
            params.insert("default".into(), target(default));
        }
        let mut effect = EffectClass::Reads;
        match node.routing() {
            Some(Routing::Cases) => {
                effect = EffectClass::Pure;
                let mut cases = Vec::new();
                for case in &node.cases {
                    let place = case.place.key("when");
                    if let Some(when) = filled(&case.when)
                        && let Some(when) = reader.expression(&place, when)
                    {
                        let path = format!("cases.{}.when", cases.len());
                        reader.fields.push((path.into(), Field::Expression(when)));
                    }
                    let label = case.label.as_ref().map_or("", |label| &***label);
                    cases.push(choice(label, &case.to));
                }
                params.insert("cases".into(), Value::from(cases));
            }
            Some(Routing::Routes) => {
                let routes = node.routes.iter();
                let routes: Vec<Value> = routes.map(|r| choice(&r.label, &r.to)).collect();
                params.insert("routes".into(), Value::from(routes));
            }
            Some(Routing::Labels) => {
                let cases = node.cases.iter();
                let cases: Vec<Value> = cases.map(|c| choice(c.label(), &c.to)).collect();
                params.insert("routes".into(), Value::from(cases));
            }
            None => {}
        }
        if effect == EffectClass::Reads {
            if let Some((key, text)) = asked_in(node) {
                let text = reader.template(&node.key(key), text, Language::Question);
                reader.fields.push(("question".into(), Field::Format(text)));
            }
            params.insert("depends_on".into(), texts(reader.dependencies()));
            params.insert("repair".into(), Value::from(*node.repair));
        }
        Made {
            kind: Machine::Branch {
                targets: targets.iter().filter_map(|t| known(t)).collect(),
            },
            ..Made::task(params, effect)
        }
    }

    fn repeat(&self, reader: &mut Reader<'_>) -> Made {
        let node = self.it();
        let maximum = node.max_iterations.map_or(1, |n| u64::from(*n));
        let mut params = Object::new();
        let mut broken = None;
        if let Some(until) = filled(&node.until) {
            params = self.asking();
            let own = |port: &str| names::port_of(self.id(), port, format!("{}@{port}", node.id));
            for port in [VALUE, RESULTS, FEEDBACK, VERDICTS] {
                reader.field(port, own(port));
            }
            params.insert("max_iterations".into(), Value::from(maximum as i64));
            params.insert("repair".into(), Value::from(*node.repair));
            params.insert("index".into(), Value::from(INDEX));
            match self.function_named(until) {
                Until::Function => {
                    params.insert("function".into(), Value::from((**until).clone()));
                    params.insert("vars".into(), texts(self.names.variables.iter().cloned()));
                    for (at, name) in self.names.variables.iter().enumerate() {
                        reader.field(&format!("vars.{at}"), names::variable(name));
                    }
                }
                Until::Prose => {
                    reader.literal(&node.key("until"), until);
                    params.insert("prose".into(), Value::from((**until).clone()));
                }
                Until::Wrong(kind) => {
                    let message = format!(
                        "\"{}\" cannot run: its `until` is {until:?}, and the sidecar has no such function. Name one that it has, or write a sentence.",
                        node.id
                    );
                    broken = Some(Fault::new("no_function", message));
                    reader.find_at(&node.key("until"), kind);
                }
            }
        }
        let judged = filled(&node.until).is_some();
        let accumulator = node.accumulate.as_ref();
        let accumulator = accumulator.map(|name| reader.write(names::variable(name)));
        let effect = match params.contains_key("prose") {
            true => EffectClass::Reads,
            false => EffectClass::Pure,
        };
        Made {
            kind: Machine::Repeat {
                give: results::of_body(self),
                maximum,
                judged,
                accumulates: accumulator.is_some(),
                accumulator,
            },
            broken,
            ..Made::task(params, effect)
        }
    }

    /// Whether a loop ends by a function of the sidecar or by a sentence: a name that the sidecar defines is one, any
    /// other bare name a mistake, all else a sentence (spec/graph-engine §7.8).
    fn function_named(&self, until: &Text) -> Until {
        let Some(sidecar) = self.surroundings.sidecar else {
            return Until::Prose;
        };
        let name: Arc<str> = until.trim().into();
        match sidecar.iter().find(|(known, _)| *known == name) {
            Some((_, true)) => Until::Function,
            Some((_, false)) => Until::Wrong(FindingKind::NotCallable { name }),
            None if is_identifier(&name) => {
                let known = sidecar.iter().filter(|(_, callable)| *callable);
                let known = known.map(|(name, _)| name.clone()).collect();
                Until::Wrong(FindingKind::NoFunction { name, known })
            }
            None => Until::Prose,
        }
    }

    fn map(&self, reader: &mut Reader<'_>) -> Made {
        let node = self.it();
        let mut broken = None;
        let over = filled(&node.over);
        let over = over.and_then(|over| reader.expression(&node.key("over"), over));
        if over.is_none() {
            let message = format!(
                "\"{}\" cannot run: it does not say which list it runs over. Set `over` to an expression such as `inputs.items`.",
                node.id
            );
            broken = Some(Fault::new("bad_parameter", message));
        }
        Made {
            kind: Machine::Each {
                items: Items::Expression(over.unwrap_or_else(Expression::null)),
                concurrency: (*node.concurrency).max(1),
                collect: vec![(VALUE.into(), results::of_body(self))],
            },
            broken,
            ..Made::task(Object::new(), EffectClass::Pure)
        }
    }

    fn input(&self, reader: &mut Reader<'_>) -> Made {
        let node = self.it();
        let mut params = Object::new();
        let question = asked_in(node);
        if let Some((key, question)) = question {
            reader.literal(&node.key(key), question);
        }
        let asked = match question {
            Some((_, question)) => question.to_string(),
            None => format!("A value for {} is needed.", node.id),
        };
        let mut fields = Vec::new();
        if *node.input_mode == InputMode::Dict {
            params.insert("dict".into(), Value::from(true));
            for input in &self.document.inputs {
                let mut declaration = Object::new();
                declaration.insert("name".into(), Value::from((*input.name).clone()));
                declaration.insert("type".into(), Value::from(input.kind.name()));
                declaration.insert("optional".into(), Value::from(!*input.required));
                if let Some(text) = &input.description {
                    declaration.insert("description".into(), Value::from((**text).clone()));
                }
                if let Some(allowed) = &input.allowed {
                    declaration.insert("options".into(), Value::from((**allowed).clone()));
                }
                fields.push(FormField {
                    key: (*input.name).clone(),
                    declaration,
                    optional: !*input.required,
                    unasked: false,
                    given: vec![reader.read(names::input(&input.name))],
                });
            }
        } else {
            let key = node.input_key();
            let mut declaration = Object::new();
            declaration.insert("name".into(), Value::from((**key).clone()));
            declaration.insert("type".into(), Value::from("string"));
            declaration.insert("optional".into(), Value::from(false));
            if !node.options.is_empty() {
                let options = node.options.iter().map(|option| (**option).clone());
                declaration.insert("options".into(), texts(options));
            }
            let mut given = vec![reader.read(names::input(key))];
            // What a node before it wrote; what it writes itself comes after.
            let written = self.names.variables.contains(&(**key).clone());
            if written && self.names.is_written_elsewhere(key, node) {
                given.push(reader.read(names::variable(key)));
            }
            params.insert("key".into(), Value::from((**key).clone()));
            fields.push(FormField {
                key: (**key).clone(),
                declaration,
                optional: false,
                unasked: false,
                given,
            });
        }
        Made {
            kind: Machine::Form {
                fields,
                tips: Some(Template::literal(&asked)),
            },
            ..Made::task(params, EffectClass::Pure)
        }
    }

    fn output(&self, reader: &mut Reader<'_>) -> Made {
        let node = self.it();
        let mut params = Object::new();
        params.insert("depends_on".into(), texts(reader.dependencies()));
        params.insert("name".into(), Value::from((*node.id).clone()));
        if let Some(value) = &node.value {
            let template = reader.template(&node.key("value"), value, Language::Template);
            reader
                .fields
                .push(("value".into(), Field::Format(template)));
        }
        Made::task(params, EffectClass::Pure)
    }
}

/// What a loop's `until` is.
enum Until {
    Function,
    Prose,
    Wrong(FindingKind),
}

/// The text in which a node asks, and the key under which that stands: the first of the three that says something.
fn asked_in(node: &Node) -> Option<(&'static str, &Text)> {
    let keys = [
        ("instructions", &node.instructions),
        ("purpose", &node.purpose),
        ("goal", &node.goal),
    ];
    keys.into_iter()
        .find_map(|(key, text)| Some((key, filled(text)?)))
}

/// A text that says something.
fn filled(text: &Option<Text>) -> Option<&Text> {
    text.as_ref().filter(|text| !text.trim().is_empty())
}

fn texts(texts: impl IntoIterator<Item = Arc<str>>) -> Value {
    Value::from(texts.into_iter().map(Value::from).collect::<Vec<Value>>())
}

fn keyword_params(keywords: Keywords) -> Object {
    let Keywords { dependencies, pass } = keywords;
    let members = [("depends_on", texts(dependencies)), ("pass", texts(pass))];
    members.into_iter().map(|(k, v)| (k.into(), v)).collect()
}

/// A name as Python has them, as far as letters, digits and underscores go.
fn is_identifier(text: &str) -> bool {
    let mut letters = text.chars();
    let first = letters
        .next()
        .is_some_and(|c| c == '_' || c.is_alphabetic());
    first && letters.all(|c| c == '_' || c.is_alphanumeric())
}
