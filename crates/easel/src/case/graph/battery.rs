//! Batteries: lists of rows that are worked out by themselves.

use easel_runtime::Value;
use easel_runtime::core::argument::ArgumentTemplate;
use easel_runtime::core::bind::{Inputs, ReadId, Resolved};
use easel_runtime::core::expression;
use easel_runtime::core::format::{self, Secrets};
use easel_runtime::core::reference::graph::{Binding, Chain};
use easel_runtime::graphs::document::Document;
use easel_runtime::graphs::source::Format;
use easel_runtime::secrets::{Masker, Secret};
use serde_json::{Value as Json, json};

use super::Case;

/// The rows of a battery; `None` for a case that is none.
pub fn run(case: &Case) -> Option<Vec<Json>> {
    let row: fn(&Case, &Json) -> Json = match &*case.inputs.mode {
        "expressions" => expression_row,
        "templates" => template_row,
        "inputs_battery" => inputs_row,
        "secrets_battery" => secrets_row,
        _ => return None,
    };
    Some(
        case.inputs
            .cases
            .iter()
            .map(|given| row(case, given))
            .collect(),
    )
}

/// The state that a row names its values in: the row's own, else the case's.
fn state(row: &Json, key: &str) -> Value {
    Value::from(row.get(key).unwrap_or(&Json::Null))
}

fn expression_row(_: &Case, row: &Json) -> Json {
    let text = row
        .get("expression")
        .or(row.get("expr"))
        .and_then(Json::as_str)
        .unwrap_or_default();
    let parsed = match expression::parse(text) {
        Ok(parsed) => parsed,
        Err(error) => return json!({"error": error.to_string()}),
    };
    let (inputs, bind) = scope(row);
    let expression = parsed.bind(bind);
    match expression.evaluate(&inputs) {
        Ok(value) => json!({"value": value.to_json()}),
        Err(error) => json!({"error": error.to_string()}),
    }
}

fn template_row(_: &Case, row: &Json) -> Json {
    let text = row
        .get("template")
        .or(row.get("text"))
        .and_then(Json::as_str)
        .unwrap_or_default();
    let (inputs, bind) = scope(row);
    let rendered = format::parse(text, Secrets::None)
        .bind(bind)
        .render(&inputs);
    json!({"rendered": rendered.text, "unresolved": rendered.unresolved})
}

/// Values by their first name, with what names them.
fn scope(row: &Json) -> (Inputs, impl FnMut(&Chain) -> Binding) {
    let scope = state(row, "scope");
    let members = scope.as_object().cloned().unwrap_or_default();
    let names: Vec<_> = members.keys().cloned().collect();
    let values = members.into_values().map(Resolved::Value);
    let inputs = Inputs(values.collect());
    let bind = move |chain: &Chain| match names.iter().position(|name| *name == chain.root) {
        Some(at) => Binding::Read {
            read: ReadId(at as u32),
            used: 0,
        },
        None => Binding::Unknown("there is no such name".into()),
    };
    (inputs, bind)
}

fn inputs_row(case: &Case, given: &Json) -> Json {
    let graph = case.files.iter().find(|(name, _)| name == "graph.yaml");
    let text = graph.map(|(_, text)| &**text).unwrap_or_default();
    match Document::read(text, Format::Yaml) {
        Err(error) => json!({"given": given, "error": error.to_string()}),
        Ok(document) => match document.admit(Value::from(given)) {
            Ok(admitted) => {
                json!({"given": given, "normalised": marked(&Value::from(admitted.values))})
            }
            Err(errors) => {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                json!({"given": given, "error": errors.join("; ")})
            }
        },
    }
}

/// A value as a trace writes it.
fn marked(value: &Value) -> Json {
    value.to_json()
}

fn secrets_row(case: &Case, row: &Json) -> Json {
    let own = row.get("secrets").and_then(Json::as_object);
    let all: Vec<(String, &str)> = match own {
        Some(own) => own
            .iter()
            .filter_map(|(k, v)| Some((k.clone(), v.as_str()?)))
            .collect(),
        None => {
            let stored = case.inputs.secrets.iter();
            stored
                .filter_map(|(k, v)| Some((k.clone(), v.as_str()?)))
                .collect()
        }
    };
    if let Some(text) = row.get("text") {
        let declared = row
            .get("declared")
            .and_then(Json::as_array)
            .into_iter()
            .flatten();
        let declared: Vec<_> = declared
            .filter_map(|name| Some(name.as_str()?.into()))
            .collect();
        let unknown = &mut |_: &easel_runtime::core::reference::Path, _: &Chain| {
            Binding::Unknown("a battery has no values".into())
        };
        let text = Value::from(text);
        let (template, _) = ArgumentTemplate::compile(&text, Secrets::Declared(&declared), unknown);
        let shown = match template.render(&Inputs::default()) {
            Ok(argument) => argument,
            // What cannot be filled stays as it is written, as in the old engine's own pass.
            Err(_) => return json!({"expanded": text.to_json()}),
        };
        let mut expanded = shown.shown().to_string();
        for name in shown.secrets() {
            if let Some((_, value)) = all.iter().find(|(known, _)| **known == **name) {
                expanded = expanded.replacen(&format!("${{{name}}}"), value, 1);
            }
        }
        return json!({"expanded": expanded});
    }
    let values: Vec<Secret> = all.iter().map(|(_, value)| Secret::new(*value)).collect();
    let Ok(masker) = Masker::new(&values) else {
        return json!({"error": "too many secrets"});
    };
    let value = state(
        row,
        if row.get("tuple").is_some() {
            "tuple"
        } else {
            "value"
        },
    );
    json!({"redacted": masker.mask_value(&value, &mut Vec::new()).to_json()})
}
