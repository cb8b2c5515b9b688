//! Nodes, and the small mappings inside them.

use super::members::{Members, stated};
use crate::document::{Case, InputMode, Mode, Node, OutputSchema, Policy, Route, Spanned, Text};
use crate::field::{self, Holds};
use crate::finding::{Code, Stage};
use crate::kind::Kind;
use crate::marked::{Data, Marked};
use crate::place::Place;

/// A list of nodes: `nodes` at the top, `body` in a container.
pub(super) fn list(members: &mut Members<'_>, name: &str, value: &Marked) -> Vec<Node> {
    let place = members.place.key(name);
    let Some(items) = value.as_list() else {
        members.wrong_type(name, place, value, Holds::Nodes);
        return Vec::new();
    };
    let mut nodes = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let place = place.index(at);
        match item.as_map() {
            Some(map) => {
                let mut members = members.inside(map, item.at, place);
                nodes.push(node(&mut members));
            }
            None => {
                let cause = format!(
                    "A node is {}, where a mapping with an `id` belongs.",
                    item.described()
                );
                let fix = "Write it as {id: a_name, kind: base, instructions: \"…\"}.";
                members.report(
                    Code::Type,
                    Stage::Load,
                    place,
                    item.at,
                    Some(name),
                    cause,
                    fix,
                );
            }
        }
    }
    nodes
}

fn node(members: &mut Members<'_>) -> Node {
    members.node = None;
    let id = members.required_text(
        "id",
        "A node has no `id`.",
        "Write id: and a word for it, unique on its level.",
    );
    members.node = id.as_ref().map(|id| id.value.clone());
    let kind = kind(members);
    keys(members, kind.value);
    let body = match members.get("body") {
        Some(body) => list(members, "body", body),
        None => Vec::new(),
    };
    Node {
        place: members.place.clone(),
        at: members.at,
        id: id.unwrap_or_else(|| Spanned::new("".into())),
        kind,
        name: members.text("name", Holds::Text),
        description: members.text("description", Holds::Text),
        instructions: members.text("instructions", Holds::Template),
        purpose: members.text("purpose", Holds::Template),
        goal: members.text("goal", Holds::Template),
        expected_result: members.text("expected_result", Holds::Template),
        disabled: members.flag("disabled", false),
        depends_on: members.texts("depends_on", Holds::Ids),
        when: members.text("when", Holds::Expression),
        writes: members.text("writes", Holds::Text),
        on_error: members.text("on_error", Holds::Id),
        tools: members.texts("tools", Holds::Names),
        tool_args: members.object("tool_args", Holds::Arguments),
        tool_settings: members.object("tool_settings", Holds::Settings),
        secrets: members.texts("secrets", Holds::Names),
        mode: mode(members),
        output_schema: output_schema(members),
        provider: members.text("provider", Holds::Text),
        model: members.text("model", Holds::Text),
        policy: policy(members, kind.value),
        routes: routes(members),
        cases: cases(members),
        default: members.text("default", Holds::Id),
        repair: members.flag("repair", true),
        body,
        body_outputs: members.texts("body_outputs", Holds::Ids),
        max_iterations: members.count("max_iterations", 1),
        until: members.text("until", Holds::Text),
        accumulate: accumulate(members),
        over: members.text("over", Holds::Expression),
        item_var: item_var(members),
        concurrency: members.count("concurrency", 0).unwrap_or(Spanned::new(1)),
        options: members.texts("options", Holds::Names),
        input_mode: input_mode(members),
        value: members.text("value", Holds::Template),
        callable: members.text("callable", Holds::Text),
        export: members.flag("export", false),
        export_path: members.text("export_path", Holds::Text),
        rag: members.get("rag").map(|_| members.flag("rag", false)),
    }
}

fn kind(members: &mut Members<'_>) -> Spanned<Kind> {
    let Some(word) = members.text("kind", Holds::Text) else {
        return Spanned::new(Kind::Base);
    };
    if let Some(kind) = Kind::of_name(word.trim()) {
        return stated(kind, word.at);
    }
    let names = Kind::ALL.map(Kind::name);
    let cause = format!("There is no kind `{}`.", word.trim());
    let fix = match easel_catalog::nearest(&word, names.into_iter()) {
        Some(meant) => format!("Did you mean `{meant}`?"),
        None => format!("Write one of `{}`.", names.join("`, `")),
    };
    let place = members.place.key("kind");
    let subject = Some(word.trim());
    members.report(
        Code::UnknownKind,
        Stage::Load,
        place,
        word.at,
        subject,
        cause,
        fix,
    );
    stated(Kind::Base, word.at)
}

/// Reports keys that nothing reads, or nothing in a node of this kind.
fn keys(members: &mut Members<'_>, kind: Kind) {
    for entry in members.map {
        let name = &entry.key.name;
        let place = members.place.key(name);
        let (at, subject) = (entry.key.at, Some(&**name));
        if &**name == "break_when" {
            let cause =
                "`break_when` is no longer read, so this loop would run to its ceiling.".to_owned();
            let fix = "Write until: with the name of a function of the sidecar, or a sentence that a model judges.";
            members.report(
                Code::BreakWhen,
                Stage::Check,
                place,
                at,
                subject,
                cause,
                fix,
            );
            continue;
        }
        let Some(field) = field::find(field::NODE, name) else {
            members.unknown_key(entry, field::NODE);
            continue;
        };
        // A kind that is wrong itself says nothing about keys.
        let misspelt = kind == Kind::Base
            && members
                .get("kind")
                .is_some_and(|word| word.as_text().is_none_or(|word| word.trim() != "base"));
        if field.is_read_by(kind) || entry.value.is_null() || misspelt || is_router_key(name) {
            continue;
        }
        let cause = format!("A `{}` node does not read `{name}`.", kind.name());
        let fix = match field.read_by {
            [] => "Leave it out: nothing reads it.".to_owned(),
            kinds => {
                let names: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
                format!(
                    "Leave it out, or make this one of `{}`.",
                    names.join("`, `")
                )
            }
        };
        members.report(Code::InertKey, Stage::Check, place, at, subject, cause, fix);
    }
}

/// Whether only routers have the key; [`structure`](crate::structure) says where it must not stand.
pub(crate) fn is_router_key(name: &str) -> bool {
    matches!(name, "routes" | "cases" | "default")
}

fn mode(members: &mut Members<'_>) -> Spanned<Mode> {
    let Some(word) = members.text("mode", Holds::Text) else {
        return Spanned::new(Mode::Auto);
    };
    let mode = match &*word.value {
        "auto" => Mode::Auto,
        "text" => Mode::Text,
        "structured" => Mode::Structured,
        "json" => Mode::Json,
        "tool" => Mode::Tool,
        _ => {
            let words = ["auto", "text", "structured", "json", "tool"];
            members.wrong_choice("mode", word.at, &word, &words);
            Mode::Auto
        }
    };
    stated(mode, word.at)
}

fn input_mode(members: &mut Members<'_>) -> Spanned<InputMode> {
    let Some(word) = members.text("input_mode", Holds::Text) else {
        return Spanned::new(InputMode::Text);
    };
    let mode = match &*word.value {
        "text" => InputMode::Text,
        "dict" => InputMode::Dict,
        _ => {
            let words = ["text", "dict"];
            let before = members.findings.len();
            members.wrong_choice("input_mode", word.at, &word, &words);
            // The old engine took any word, and so do we.
            for finding in members.findings.iter_mut().skip(before) {
                finding.stage = Stage::Check;
                finding.severity = crate::finding::Severity::Warning;
            }
            InputMode::Other(word.value.clone())
        }
    };
    stated(mode, word.at)
}

fn output_schema(members: &mut Members<'_>) -> Option<Spanned<OutputSchema>> {
    let value = members.get("output_schema")?;
    match &value.data {
        Data::Text(path) => Some(stated(OutputSchema::Class(path.clone()), value.at)),
        Data::Map(map) => Some(stated(OutputSchema::Schema(map.to_object()), value.at)),
        _ => {
            let place = members.place.key("output_schema");
            members.wrong_type("output_schema", place, value, Holds::Schema);
            None
        }
    }
}

/// `true` is the usual name, `false` none.
fn accumulate(members: &mut Members<'_>) -> Option<Text> {
    let value = members.get("accumulate")?;
    match &value.data {
        Data::Bool(true) => Some(stated("accumulated".into(), value.at)),
        Data::Bool(false) => None,
        _ => members.text("accumulate", Holds::NameOrTrue),
    }
}

/// Under either spelling; `as` wins.
fn item_var(members: &mut Members<'_>) -> Text {
    let name = members.text("as", Holds::Text);
    let name = name.or(members.text("item_var", Holds::Text));
    name.unwrap_or_else(|| Spanned::new("item".into()))
}

fn policy(members: &mut Members<'_>, kind: Kind) -> Policy {
    let Some(value) = members.get("policy") else {
        return Policy::default();
    };
    let place = members.place.key("policy");
    let Some(map) = value.as_map() else {
        members.wrong_type("policy", place, value, Holds::Policy);
        return Policy::default();
    };
    let mut members = members.inside(map, value.at, place);
    for entry in map {
        let name = &*entry.key.name;
        if let Some(field) = field::find(field::POLICY, name) {
            if !field.is_read_by(kind) && !entry.value.is_null() {
                let place = members.place.key(name);
                let cause = format!("A `{kind}` node asks no model, so nothing reads `{name}`.");
                let fix = "Leave it out.";
                let (at, subject) = (entry.key.at, Some(name));
                members.report(Code::InertKey, Stage::Check, place, at, subject, cause, fix);
            }
            continue;
        }
        if field::INERT_POLICY.contains(&name) {
            let place = members.place.key(name);
            let cause = format!("Nothing reads `{name}` in a policy.");
            let fix = "Leave it out.";
            members.report(
                Code::InertKey,
                Stage::Check,
                place,
                entry.key.at,
                Some(name),
                cause,
                fix,
            );
        } else {
            members.unknown_key(entry, field::POLICY);
        }
    }
    Policy {
        at: value.at,
        retries: members.count("retries", 0),
        delay_s: members.number("delay_s"),
        timeout_s: members.number("timeout_s"),
        temperature: members.number("temperature"),
        max_new_tokens: members.count("max_new_tokens", 1),
    }
}

fn routes(members: &mut Members<'_>) -> Vec<Route> {
    let Some(value) = members.get("routes") else {
        return Vec::new();
    };
    let place = members.place.key("routes");
    let Some(map) = value.as_map() else {
        members.wrong_type("routes", place, value, Holds::Routes);
        return Vec::new();
    };
    let mut routes = Vec::with_capacity(map.len());
    for entry in map {
        if !members.text_key("routes", entry) {
            continue;
        }
        match entry.value.as_text() {
            Some(to) => routes.push(Route {
                label: stated(entry.key.name.clone(), entry.key.at),
                to: stated(to.clone(), entry.value.at),
            }),
            None => {
                let place = place.key(&entry.key.name);
                members.wrong_type("routes", place, &entry.value, Holds::Id);
            }
        }
    }
    routes
}

fn cases(members: &mut Members<'_>) -> Vec<Case> {
    let Some(value) = members.get("cases") else {
        return Vec::new();
    };
    let place = members.place.key("cases");
    let Some(items) = value.as_list() else {
        members.wrong_type("cases", place, value, Holds::Cases);
        return Vec::new();
    };
    let mut cases = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        cases.extend(case(members, item, place.index(at)));
    }
    cases
}

fn case(members: &mut Members<'_>, item: &Marked, place: Place) -> Option<Case> {
    let Some(map) = item.as_map() else {
        let cause = format!(
            "A case is {}, where a mapping with `to` belongs.",
            item.described()
        );
        let fix = "Write it as {when: \"inputs.n > 3\", to: many}.";
        members.report(
            Code::Type,
            Stage::Load,
            place,
            item.at,
            Some("cases"),
            cause,
            fix,
        );
        return None;
    };
    let mut members = members.inside(map, item.at, place);
    members.unknown_keys(field::CASE);
    let when = members.text("when", Holds::Expression);
    let label = members.text("label", Holds::Text);
    let to = members.required_text(
        "to",
        "A case leads nowhere.",
        "Write to: and the id of a node.",
    )?;
    Some(Case {
        place: members.place.clone(),
        when,
        to,
        label,
    })
}

#[cfg(test)]
mod tests {

    #[test]
    fn a_number_of_iterations_may_be_written_as_text() {
        let text = b"name: g\nnodes: [{id: l, kind: loop, max_iterations: '3', body: [{id: b}]}]";
        let document = crate::document::Document::read(text, crate::source::Format::Yaml).unwrap();
        let ceiling = document.nodes[0]
            .max_iterations
            .map(|ceiling| ceiling.value);
        assert_eq!(ceiling, Some(3));
    }
}
