//! Arguments of tools: data in whose texts secrets stand by name.
//!
//! A secret's value is never here. An [`Argument`] says where it goes ([`Part::Secret`]), and only the tool call puts it
//! there (design.md §5). So an argument may be written down, journaled and shown.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::Value;
use crate::bind::{Inputs, ReadId};
use crate::format::{self, Finding, FormatString, Secrets};
use crate::reference::graph::{Binding, Chain};
use crate::reference::{Path, Step};

/// An argument: JSON whose texts may hold secrets.
///
/// What holds no secret is a [`Value`](Argument::Value) as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Argument {
    /// Data without secrets.
    Value(Value),
    /// A text with at least one secret in it.
    Text(Vec<Part>),
    /// A list with a secret somewhere in it.
    Array(Vec<Argument>),
    /// An object with a secret somewhere in its members. Names of members hold none.
    Object(IndexMap<Arc<str>, Argument>),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Text as it is, whatever stands in it.
    Text(Arc<str>),
    /// The value of the secret of that name goes here.
    Secret(Arc<str>),
}

impl Argument {
    /// A text of these parts.
    pub fn text(parts: Vec<Part>) -> Argument {
        if parts.iter().any(|part| matches!(part, Part::Secret(_))) {
            return Argument::Text(parts);
        }
        Argument::Value(shown(&parts).into())
    }

    /// A list of these.
    pub fn array(items: Vec<Argument>) -> Argument {
        if !items.iter().all(Argument::is_value) {
            return Argument::Array(items);
        }
        Argument::Value(items.iter().map(Argument::shown).collect::<Vec<_>>().into())
    }

    /// An object of these.
    pub fn object(members: IndexMap<Arc<str>, Argument>) -> Argument {
        if !members.values().all(Argument::is_value) {
            return Argument::Object(members);
        }
        let members = members
            .iter()
            .map(|(name, member)| (name.clone(), member.shown()));
        Argument::Value(Value::from(members.collect::<crate::Object>()))
    }

    fn is_value(&self) -> bool {
        matches!(self, Argument::Value(_))
    }

    /// The names of the secrets in it, in order; one that stands twice comes twice.
    pub fn secrets(&self) -> Box<dyn Iterator<Item = &Arc<str>> + '_> {
        match self {
            Argument::Value(_) => Box::new(std::iter::empty()),
            Argument::Text(parts) => Box::new(parts.iter().filter_map(|part| match part {
                Part::Text(_) => None,
                Part::Secret(name) => Some(name),
            })),
            Argument::Array(items) => Box::new(items.iter().flat_map(Argument::secrets)),
            Argument::Object(members) => Box::new(members.values().flat_map(Argument::secrets)),
        }
    }

    /// As it is shown and recorded: a secret as `${NAME}`.
    pub fn shown(&self) -> Value {
        match self {
            Argument::Value(value) => value.clone(),
            Argument::Text(parts) => shown(parts).into(),
            Argument::Array(items) => items.iter().map(Argument::shown).collect::<Vec<_>>().into(),
            Argument::Object(members) => {
                let members = members
                    .iter()
                    .map(|(name, member)| (name.clone(), member.shown()));
                Value::from(members.collect::<crate::Object>())
            }
        }
    }
}

impl From<Value> for Argument {
    /// An argument without secrets.
    fn from(value: Value) -> Argument {
        Argument::Value(value)
    }
}

fn shown(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Secret(name) => text.extend(["${", name, "}"]),
        }
    }
    text
}

/// An argument as it is written in a graph, its texts compiled as templates. Names of members are no templates, and
/// what is no text keeps its type.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentTemplate {
    /// Data without templates.
    Value(Value),
    /// A text that is rendered.
    Text(FormatString),
    /// A list.
    Array(Vec<ArgumentTemplate>),
    /// An object.
    Object(IndexMap<Arc<str>, ArgumentTemplate>),
}

/// Something noticed in one of the texts of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedFinding {
    /// Where in the argument the text stands.
    pub path: Path,
    /// What was noticed; its span counts from the start of that text.
    pub finding: Finding,
}

/// A placeholder of an argument that could not be filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// Where in the argument its text stands.
    pub path: Path,
    /// What the placeholder names.
    pub name: Arc<str>,
}

impl ArgumentTemplate {
    /// Compiles an argument. In it, `${NAME}` is a secret where the name is one of `secrets`; `bind` says what the names
    /// in placeholders stand for, given where in the argument their text stands. Also returned is what was noticed in the texts, in the order in which they stand.
    pub fn compile(
        argument: &Value,
        secrets: Secrets<'_>,
        bind: &mut dyn FnMut(&Path, &Chain) -> Binding,
    ) -> (ArgumentTemplate, Vec<LocatedFinding>) {
        let mut compiler = Compiler {
            secrets,
            bind,
            path: Vec::new(),
            findings: Vec::new(),
        };
        let template = compiler.compile(argument);
        (template, compiler.findings)
    }

    /// Everything its texts read, in order; what stands twice comes twice.
    pub fn reads(&self) -> Box<dyn Iterator<Item = ReadId> + '_> {
        match self {
            ArgumentTemplate::Value(_) => Box::new(std::iter::empty()),
            ArgumentTemplate::Text(text) => Box::new(text.reads()),
            ArgumentTemplate::Array(items) => {
                Box::new(items.iter().flat_map(ArgumentTemplate::reads))
            }
            ArgumentTemplate::Object(members) => {
                Box::new(members.values().flat_map(ArgumentTemplate::reads))
            }
        }
    }

    /// The secrets that stand in its texts, in order; one that stands twice comes twice.
    pub fn secrets(&self) -> Box<dyn Iterator<Item = &Arc<str>> + '_> {
        match self {
            ArgumentTemplate::Value(_) => Box::new(std::iter::empty()),
            ArgumentTemplate::Text(text) => Box::new(text.secrets()),
            ArgumentTemplate::Array(items) => {
                Box::new(items.iter().flat_map(ArgumentTemplate::secrets))
            }
            ArgumentTemplate::Object(members) => {
                Box::new(members.values().flat_map(ArgumentTemplate::secrets))
            }
        }
    }

    /// The argument with its placeholders filled.
    ///
    /// # Errors
    /// Every placeholder that could not be filled: its value is missing, or its format is not for such a value.
    pub fn render(&self, inputs: &Inputs) -> Result<Argument, Vec<Unresolved>> {
        let mut unresolved = Vec::new();
        let argument = self.fill(inputs, &mut Vec::new(), &mut unresolved);
        match unresolved.is_empty() {
            true => Ok(argument),
            false => Err(unresolved),
        }
    }

    fn fill(
        &self,
        inputs: &Inputs,
        path: &mut Vec<Step>,
        unresolved: &mut Vec<Unresolved>,
    ) -> Argument {
        match self {
            ArgumentTemplate::Value(value) => Argument::Value(value.clone()),
            ArgumentTemplate::Text(text) => {
                let (parts, missed) = text.render_parts(inputs);
                unresolved.extend(missed.into_iter().map(|name| Unresolved {
                    path: Path(path.as_slice().into()),
                    name,
                }));
                Argument::text(parts)
            }
            ArgumentTemplate::Array(items) => {
                let items = items.iter().enumerate().map(|(position, item)| {
                    path.push(Step::parse(&position.to_string()));
                    let item = item.fill(inputs, path, unresolved);
                    path.pop();
                    item
                });
                Argument::array(items.collect())
            }
            ArgumentTemplate::Object(members) => {
                let members = members.iter().map(|(name, member)| {
                    path.push(Step::member(name));
                    let member = member.fill(inputs, path, unresolved);
                    path.pop();
                    (name.clone(), member)
                });
                Argument::object(members.collect())
            }
        }
    }
}

struct Compiler<'c> {
    secrets: Secrets<'c>,
    bind: &'c mut dyn FnMut(&Path, &Chain) -> Binding,
    path: Vec<Step>,
    findings: Vec<LocatedFinding>,
}

impl Compiler<'_> {
    fn compile(&mut self, argument: &Value) -> ArgumentTemplate {
        match argument {
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                ArgumentTemplate::Value(argument.clone())
            }
            Value::String(text) => self.text(text),
            Value::Array(items) => {
                let items = items.iter().enumerate();
                let items =
                    items.map(|(position, item)| self.at(Step::parse(&position.to_string()), item));
                ArgumentTemplate::Array(items.collect())
            }
            Value::Object(members) => {
                let members = members.iter();
                let members = members
                    .map(|(name, member)| (name.clone(), self.at(Step::member(name), member)));
                ArgumentTemplate::Object(members.collect())
            }
        }
    }

    fn at(&mut self, step: Step, argument: &Value) -> ArgumentTemplate {
        self.path.push(step);
        let template = self.compile(argument);
        self.path.pop();
        template
    }

    fn text(&mut self, text: &str) -> ArgumentTemplate {
        let parsed = format::parse(text, self.secrets);
        let path = Path(self.path.as_slice().into());
        self.findings
            .extend(parsed.findings().iter().map(|finding| LocatedFinding {
                path: path.clone(),
                finding: finding.clone(),
            }));
        ArgumentTemplate::Text(parsed.bind(|chain| (self.bind)(&path, chain)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bind::Resolved;
    use crate::format::FindingKind;
    use crate::value::tests::{any_value, json};

    fn compile(argument: &str, declared: &[&str]) -> (ArgumentTemplate, Vec<LocatedFinding>) {
        let declared: Vec<Arc<str>> = declared.iter().map(|name| Arc::from(*name)).collect();
        ArgumentTemplate::compile(
            &json(argument),
            Secrets::Declared(&declared),
            &mut |_, chain| match &*chain.root {
                "topic" => Binding::Read {
                    read: ReadId(0),
                    used: 0,
                },
                _ => Binding::Unknown("there is no such name".into()),
            },
        )
    }

    fn inputs(topic: &str) -> Inputs {
        Inputs([Resolved::Value(topic.into())].into())
    }

    #[test]
    fn texts_are_templates_and_all_else_keeps_its_type() {
        let (template, findings) = compile(
            r#"{"{topic}": ["{topic}!", 1, 2.0, true, null, {"q": "x"}]}"#,
            &[],
        );
        assert_eq!(findings, []);
        assert_eq!(
            template.render(&inputs("cats")),
            Ok(Argument::Value(json(
                r#"{"{topic}": ["cats!", 1, 2.0, true, null, {"q": "x"}]}"#
            )))
        );
        assert_eq!(template.reads().collect::<Vec<_>>(), [ReadId(0)]);
    }

    #[test]
    fn a_secret_goes_where_the_author_wrote_it_and_nowhere_else() {
        let (template, _) = compile(r#"{"h": ["Bearer ${KEY}", "{topic}"], "n": 1}"#, &["KEY"]);
        let argument = template.render(&inputs("${KEY}")).unwrap();
        assert_eq!(
            argument.secrets().map(|name| &**name).collect::<Vec<_>>(),
            ["KEY"]
        );
        assert_eq!(
            argument.shown(),
            json(r#"{"h": ["Bearer ${KEY}", "${KEY}"], "n": 1}"#)
        );
        let Argument::Object(members) = &argument else {
            panic!("{argument:?}")
        };
        let injected = Argument::Value("${KEY}".into());
        let written = Argument::Text(vec![
            Part::Text("Bearer ".into()),
            Part::Secret("KEY".into()),
        ]);
        assert_eq!(members["h"], Argument::Array(vec![written, injected]));
    }

    #[test]
    fn every_placeholder_that_could_not_be_filled_is_named_with_its_place() {
        let (template, _) = compile(
            r#"{"a": ["x", "{nope} {topic} {}"], "b": "{topic:d}"}"#,
            &[],
        );
        let unresolved = template.render(&inputs("cats")).unwrap_err();
        let shown: Vec<_> = unresolved
            .iter()
            .map(|miss| format!("{}: {}", miss.path, miss.name))
            .collect();
        assert_eq!(shown, ["a.1: nope", "a.1: ", "b: topic"]);
    }

    #[test]
    fn what_is_odd_in_a_text_is_reported_with_its_place() {
        let (_, findings) = compile(r#"{"a": ["${NOPE}", "{"]}"#, &["KEY"]);
        let shown: Vec<_> = findings
            .iter()
            .map(|found| (found.path.to_string(), found.finding.kind.clone()))
            .collect();
        assert_eq!(
            shown,
            [
                ("a.0".to_owned(), FindingKind::Secret("NOPE".into())),
                ("a.1".to_owned(), FindingKind::UnpairedBrace)
            ]
        );
    }

    #[test]
    fn a_journaled_argument_holds_names_and_is_read_back() {
        let (template, _) = compile(r#"["Bearer ${KEY}", {"topic": "{topic}"}]"#, &["KEY"]);
        let argument = template.render(&inputs("${KEY}")).unwrap();
        let written = serde_json::to_string(&argument).unwrap();
        assert_eq!(
            written,
            r#"{"array":[{"text":[{"text":"Bearer "},{"secret":"KEY"}]},{"value":{"topic":"${KEY}"}}]}"#
        );
        assert_eq!(
            serde_json::from_str::<Argument>(&written).unwrap(),
            argument
        );
    }

    proptest! {
        #[test]
        fn an_argument_without_names_is_the_value_that_was_written(value in any_value()) {
            fn doubled(value: &Value) -> Value {
                match value {
                    Value::String(text) => text.replace('{', "{{").replace('}', "}}").into(),
                    Value::Array(items) => items.iter().map(doubled).collect::<Vec<_>>().into(),
                    Value::Object(members) => {
                        Value::from(members.iter().map(|(name, member)| (name.clone(), doubled(member))).collect::<crate::Object>())
                    }
                    other => other.clone(),
                }
            }
            prop_assume!(!value.to_json_text().contains('$'));
            let mut bind = |_: &Path, _: &Chain| Binding::Unknown("".into());
            let (template, _) = ArgumentTemplate::compile(&doubled(&value), Secrets::None, &mut bind);
            prop_assert_eq!(template.render(&Inputs::default()), Ok(Argument::Value(value)));
        }
    }
}
