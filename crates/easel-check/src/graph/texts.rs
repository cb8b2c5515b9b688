//! Names, braces and secrets in templates and expressions.

use std::collections::HashSet;
use std::sync::Arc;

use easel_core::format::{self, Secrets};
use easel_graph::document::Routing;
use easel_graph::lower::names::{Language, Missing};
use easel_graph::lower::{Finding, FindingKind};
use easel_graph::place::{Place, Step};

use super::context::{Context, Findings};
use crate::code::Code;
use crate::diagnostic::sentence;
use crate::findings::Found;
use crate::rules::listed;

/// Reports what lowering found in the texts, and placeholders in texts that nobody reads.
pub(super) fn report(context: &Context<'_>, findings: &mut Findings) {
    let text_at = |place: &Place| context.document.get(place).and_then(|it| it.as_text());
    // Braces around text name nothing either: that is told once.
    let texts = context.graph.texts.iter();
    let literals: HashSet<(&Place, usize)> = texts
        .filter(|finding| matches!(finding.kind, FindingKind::Literal { .. }))
        .map(|finding| (&finding.place, finding.span.start))
        .collect();
    for finding in context.graph.texts {
        let text = text_at(&finding.place);
        let told = match &finding.kind {
            // A blank guard is told of as such.
            FindingKind::Syntax(_) => text.is_some_and(|text| text.trim().is_empty()),
            FindingKind::Missing { .. } => literals.contains(&(&finding.place, finding.span.start)),
            _ => false,
        };
        if told {
            continue;
        }
        let written = text.and_then(|text| text.get(finding.span.clone()));
        let found = found(finding, written.unwrap_or_default()).node(&finding.node);
        findings.add(context.within(&finding.place, &finding.span), found);
    }
    questions_that_nobody_asks(context, findings);
}

/// Placeholders in the question of a router that decides by conditions.
fn questions_that_nobody_asks(context: &Context<'_>, findings: &mut Findings) {
    let routers = context.nodes().map(|here| here.node);
    for node in routers.filter(|node| node.routing() == Some(Routing::Cases)) {
        let texts = [
            ("instructions", &node.instructions),
            ("purpose", &node.purpose),
            ("goal", &node.goal),
        ];
        for (key, text) in texts {
            let Some(text) = text.as_ref().filter(|text| text.contains('{')) else {
                continue;
            };
            for chain in format::parse(text, Secrets::None).chains() {
                let found = not_rendered(&node.id, key, &chain.root)
                    .detail("A router that decides by conditions asks nobody.");
                let place = context.within(&node.key(key), &chain.span);
                findings.add(place, found.node(&node.id));
            }
        }
    }
}

/// The key of the node in which a text stands: `tool_args` of `nodes[1].body[0].tool_args.url`.
fn field(place: &Place) -> Arc<str> {
    let mut steps = place.iter();
    let mut field: Arc<str> = "".into();
    while let (Some(Step::Key(name)), next) = (steps.next(), steps.next()) {
        field = name.clone();
        let inward = matches!(&**name, "nodes" | "body") && matches!(next, Some(Step::Index(_)));
        if !inward {
            break;
        }
    }
    field
}

/// What kind of text it is, for what is said of it.
#[derive(Clone, Copy, PartialEq)]
enum Sort {
    /// A prompt, or another text that somebody reads.
    Prompt,
    /// An argument or a setting of a tool.
    Argument,
    /// What an output gives out.
    Result,
}

impl Sort {
    fn of(field: &str) -> Sort {
        match field {
            "tool_args" | "tool_settings" => Sort::Argument,
            "value" => Sort::Result,
            _ => Sort::Prompt,
        }
    }

    /// The code of a placeholder that nothing fills.
    fn unfilled(self) -> Code {
        match self {
            Sort::Prompt => Code::TemplateVar,
            Sort::Argument => Code::ToolArgsTemplate,
            Sort::Result => Code::OutputTemplate,
        }
    }
}

fn found(finding: &Finding, written: &str) -> Found {
    let (node, field) = (&finding.node, field(&finding.place));
    let sort = Sort::of(&field);
    match &finding.kind {
        FindingKind::Syntax(error) => {
            let message = format!("`{field}` of `{node}` cannot be read: {}", error.message);
            Found::new(Code::ExpressionSyntax, sentence(&message)).fix(sentence(&error.fix))
        }
        FindingKind::Missing {
            language: Language::Expression,
            written,
            why,
        } => in_expression(node, &field, written, why),
        FindingKind::Missing {
            language,
            written,
            why,
        } => in_template(node, &field, *language, written, why),
        FindingKind::Unsure { variable } => {
            let message = format!(
                "`{node}` names the variable `{variable}`, which may not be written when it runs."
            );
            Found::new(Code::TemplateVarUnsure, message)
                .detail(format!("No node that `{node}` depends on writes it."))
        }
        FindingKind::UnpairedBrace => {
            let message = format!("A brace in `{field}` of `{node}` has no partner.");
            match sort {
                Sort::Prompt => Found::new(Code::TemplateBraces, message).detail(
                    "It stays as it is; placeholders around it are filled in all the same.",
                ),
                _ => Found::new(sort.unfilled(), message)
                    .fix("Give it a partner, or double it if it is meant as text."),
            }
        }
        FindingKind::Literal { .. } => literal(node, &field, sort, written),
        FindingKind::Secret { name, allowed } => secret(node, &field, sort, name, *allowed),
        FindingKind::NotRendered { name } => not_rendered(node, &field, name),
        FindingKind::NoFunction { name, known } => {
            let message = format!(
                "The loop `{node}` ends by `{name}`, and the sidecar defines no function of that name."
            );
            let found = Found::new(Code::Callable, message);
            let found = match known.is_empty() {
                true => found,
                false => found.detail(format!("It defines {}.", listed(known))),
            };
            match easel_catalog::nearest(name, known.iter().map(|name| &**name)) {
                Some(like) => found.fix(format!("Did you mean `{like}`?")),
                None => found.fix(
                    "Name a function that it defines, or write a sentence that a model judges.",
                ),
            }
        }
        FindingKind::NotCallable { name } => {
            let message =
                format!("The loop `{node}` ends by `{name}`, which is no function of the sidecar.");
            Found::new(Code::Callable, message)
                .fix("Name a function that it defines, or write a sentence that a model judges.")
        }
        FindingKind::Schema { why } => {
            let message = format!("The shape of the answer of `{node}` cannot be used: {why}");
            Found::new(Code::Schema, sentence(&message))
        }
    }
}

fn in_template(
    node: &Arc<str>,
    field: &str,
    language: Language,
    written: &str,
    why: &Missing,
) -> Found {
    let code = Sort::of(field).unfilled();
    match why {
        Missing::NotADependency { node: other } if language == Language::Question => {
            let message = format!(
                "The question of the router `{node}` names the node `{other}`; it can name inputs only."
            );
            Found::new(code, message)
                .fix("Leave it out: the values of what a router depends on are told to the model by themselves.")
        }
        Missing::NotADependency { node: other } if other == node => {
            let message =
                format!("`{node}` names its own value, which is not there before it has run.");
            Found::new(code, message).fix("Leave it out.")
        }
        Missing::NotADependency { node: other } => {
            let message =
                format!("`{node}` names the value of `{other}`, which it does not depend on.");
            Found::new(code, message).fix(format!("Add `{other}` to the `depends_on` of `{node}`."))
        }
        Missing::Whole { name } => {
            let message = format!("`{written}` in `{field}` of `{node}` names no value.");
            Found::new(code, message).fix(format!("Name one of them, such as `{{{name}.x}}`."))
        }
        Missing::Unknown { name, like } => {
            let message = format!("`{node}` names `{name}`, and there is nothing of that name.");
            like_it(Found::new(code, message), like)
        }
    }
}

fn in_expression(node: &Arc<str>, field: &str, written: &str, why: &Missing) -> Found {
    let code = Code::ExpressionName;
    match why {
        Missing::Whole { name } => {
            let message =
                format!("`{name}` in `{field}` of `{node}` names all of them, which has no value.");
            Found::new(code, message).fix(format!("Name one of them, such as `{name}.x`."))
        }
        Missing::NotADependency { node: name } | Missing::Unknown { name, like: None } => {
            let message = format!(
                "`{written}` in `{field}` of `{node}` has no value: nothing is called `{name}`."
            );
            Found::new(code, message)
        }
        Missing::Unknown { name, like } => {
            let message = format!(
                "`{written}` in `{field}` of `{node}` has no value: nothing is called `{name}`."
            );
            like_it(Found::new(code, message), like)
        }
    }
}

fn like_it(found: Found, like: &Option<Arc<str>>) -> Found {
    match like {
        Some(like) => found.fix(format!("Did you mean `{like}`?")),
        None => found,
    }
}

fn not_rendered(node: &str, field: &str, name: &str) -> Found {
    let message = format!("`{{{name}}}` in `{field}` of `{node}` is not filled in.");
    Found::new(Code::NotRendered, message)
}

fn literal(node: &Arc<str>, field: &str, sort: Sort, written: &str) -> Found {
    const LONGEST: usize = 40;
    let mut short: String = written.chars().take(LONGEST).collect();
    if short.len() < written.len() {
        short.push('…');
    }
    let message = format!("`{short}` in `{field}` of `{node}` is no placeholder.");
    match sort {
        Sort::Argument => Found::new(Code::ToolArgsTemplate, message)
            .detail("The tool would not be called with it.")
            .fix("Name a value, or double the braces if they are meant as text: `{{` and `}}`."),
        Sort::Prompt | Sort::Result => {
            Found::new(Code::TemplateBraces, message).detail("It stays as it is written.")
        }
    }
}

fn secret(node: &Arc<str>, field: &str, sort: Sort, name: &str, allowed: bool) -> Found {
    if allowed {
        let message = format!("`{node}` names the secret `{name}` and does not declare it.");
        return Found::new(Code::UndeclaredSecret, message)
            .detail(format!("The tool is given `${{{name}}}` as it is written."))
            .fix(format!(
                "Add `{name}` to the `secrets` of `{node}`; if the text itself is meant, write `$${{{name}}}`."
            ));
    }
    let message =
        format!("`${{{name}}}` stands in `{field}` of `{node}`, where no secret is put in.");
    match sort {
        Sort::Prompt => Found::new(Code::SecretInPrompt, message),
        Sort::Argument | Sort::Result => Found::new(Code::UndeclaredSecret, message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_knows_the_key_it_stands_in() {
        let node = Place::top().key("nodes").index(3);
        assert_eq!(&*field(&node.key("when")), "when");
        let inner = node.key("body").index(0).key("tool_args").key("url");
        assert_eq!(&*field(&inner), "tool_args");
        assert_eq!(&*field(&node.key("cases").index(0).key("when")), "cases");
    }
}
