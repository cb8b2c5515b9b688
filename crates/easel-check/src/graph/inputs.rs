//! Declared inputs that no step names.

use std::collections::HashSet;

use easel_core::format::{self, Secrets};
use easel_core::{Value, expression};
use easel_graph::document::{InputMode, Node};
use easel_graph::kind::Kind;
use easel_graph::lower::FindingKind;
use easel_graph::lower::names::Missing;

use super::Callable;
use super::context::{Context, Findings, at};
use crate::code::Code;
use crate::diagnostic::Severity;
use crate::findings::Found;

/// Reports declared inputs that nothing names.
pub(super) fn report(context: &Context<'_>, findings: &mut Findings) {
    if context.document.inputs.is_empty() {
        return;
    }
    let named = Named::of(context);
    if named.all {
        return;
    }
    for input in &context.document.inputs {
        if named.names.contains(&**input.name) {
            continue;
        }
        let name = &input.name;
        let message = format!("No step names the input `{name}`.");
        let found = Found::new(Code::UnreadInput, message).fix(format!(
            "Name it where it belongs, as `{{{name}}}` in a text or `inputs.{name}` in an expression, or leave the declaration out."
        ));
        let found = match named.perhaps {
            Some(taker) => found.severity(Severity::Warning).detail(format!(
                "`{}` is called with everything, and may take it.",
                taker.id
            )),
            None => found.detail("Steps are told what they name and nothing else."),
        };
        findings.add(at(name), found);
    }
}

/// The names that stand in the texts of a graph where an input could be meant.
struct Named<'a> {
    names: HashSet<String>,
    /// True if something takes all inputs.
    all: bool,
    /// A node that may take any input without naming it.
    perhaps: Option<&'a Node>,
}

impl<'a> Named<'a> {
    fn of(context: &Context<'a>) -> Named<'a> {
        let mut named = Named {
            names: HashSet::new(),
            all: false,
            perhaps: None,
        };
        for here in context.nodes() {
            named.node(context, here.node);
        }
        // What is misspelt is told of once, where it is.
        for finding in context.graph.texts {
            if let FindingKind::Missing { why, .. } = &finding.kind
                && let Missing::Unknown { like, .. } = why
            {
                named.names.extend(like.iter().map(|name| name.to_string()));
            }
        }
        named
    }

    fn node(&mut self, context: &Context<'a>, node: &'a Node) {
        let texts = [
            &node.instructions,
            &node.purpose,
            &node.goal,
            &node.expected_result,
            &node.description,
            &node.value,
        ];
        texts
            .into_iter()
            .flatten()
            .for_each(|text| self.template(text));
        for arguments in [&node.tool_args, &node.tool_settings].into_iter().flatten() {
            for (_, argument) in arguments.iter() {
                self.argument(argument);
            }
        }
        let conditions = node.cases.iter().filter_map(|case| case.when.as_ref());
        let expressions = node.when.iter().chain(&node.over).chain(conditions);
        expressions.for_each(|text| self.expression(text));
        match *node.kind {
            Kind::Input if *node.input_mode == InputMode::Dict => self.all = true,
            Kind::Input => drop(self.names.insert(node.input_key().to_string())),
            Kind::Tool => {
                let arguments = node.tool_args.iter().flat_map(|arguments| arguments.keys());
                self.names.extend(arguments.map(|name| name.to_string()));
                self.perhaps = self.perhaps.or(Some(node));
            }
            Kind::Function | Kind::Python => self.code(context, node),
            _ => {}
        }
    }

    fn code(&mut self, context: &Context<'a>, node: &'a Node) {
        let callable = node.callable.as_ref().map_or("", |callable| callable);
        match (context.graph.functions)(callable) {
            Callable::Found(signature) if signature.takes_any_keyword => self.all = true,
            Callable::Found(signature) => match signature.parameters {
                Some(parameters) => {
                    let names = parameters.iter().map(|(name, _)| name.to_string());
                    self.names.extend(names);
                }
                None => self.perhaps = self.perhaps.or(Some(node)),
            },
            Callable::Unread => self.perhaps = self.perhaps.or(Some(node)),
            Callable::Missing { .. } => {}
        }
    }

    fn argument(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.template(text),
            Value::Array(items) => items.iter().for_each(|item| self.argument(item)),
            Value::Object(members) => members.values().for_each(|member| self.argument(member)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn template(&mut self, text: &str) {
        if !text.contains('{') {
            return;
        }
        for chain in format::parse(text, Secrets::None).chains() {
            match (&*chain.root, chain.steps.first()) {
                ("inputs", Some(step)) => drop(self.names.insert(step.name.to_string())),
                ("inputs", None) => self.all = true,
                (root, _) => drop(self.names.insert(root.to_owned())),
            }
        }
    }

    /// Every word of it, in texts too: a graph that runs must not be refused for how it spells a name.
    fn expression(&mut self, text: &str) {
        // A name that is no word, such as `inputs['my-topic']`, stands in a step.
        let parsed = expression::parse(text).ok();
        let chains = parsed.iter().flat_map(|parsed| parsed.chains());
        let steps = chains.flat_map(|chain| &chain.steps);
        self.names.extend(steps.map(|step| step.name.to_string()));
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        self.names
            .extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
        let whole = text.match_indices("inputs").any(|(at, name)| {
            let before = text.get(..at).unwrap_or_default();
            let rest = text.get(at + name.len()..).unwrap_or_default();
            let word = |c: char| c.is_alphanumeric() || c == '_';
            let alone = !before.ends_with(word) && !rest.starts_with(word);
            alone && !rest.trim_start().starts_with(['.', '['])
        });
        self.all |= whole;
    }
}
