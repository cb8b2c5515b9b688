//! What people fill in: the values of form and Begin fields (spec/canvas-components §2.2).

use std::sync::Arc;

use easel_catalog::common::FILES_PORT;
use easel_core::event::{Completion, Fault, Ports};
use easel_core::{Object, Value};
use easel_tools::ToolError;
use easel_tools::files::{FileDescriptor, FileRequest};

use crate::behaviour::{Call, Run};

/// What a field's value is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Filled {
    /// A value.
    Value(Value),
    /// Files, whose content has yet to be read.
    Files(Vec<Value>),
}

impl Filled {
    /// Understands what was given for a field: a bare value, or `{type, value}`. A type that is not given is the
    /// declared one.
    pub(crate) fn of(given: &Value, declaration: Option<&Object>) -> Filled {
        let declared = declaration.and_then(|declaration| declaration.get("type"));
        let declared = declared.and_then(Value::as_str).unwrap_or_default();
        let (value, kind) = match given {
            Value::Object(members) if wraps(members, declared) => {
                let kind = members.get("type").and_then(Value::as_str);
                (members.get("value").unwrap_or(&Value::Null), kind)
            }
            bare => (bare, None),
        };
        let kind = kind.unwrap_or(declared).to_lowercase();
        match value {
            Value::Array(files) if kind.contains("file") => Filled::Files(files.as_ref().clone()),
            Value::Object(_) if kind.contains("file") => Filled::Files(vec![value.clone()]),
            Value::String(text) if kind.contains("file") && text.trim().is_empty() => {
                Filled::Value(Value::Null)
            }
            Value::String(text) if kind == "object" && !text.trim().is_empty() => {
                Filled::Value(serde_json::from_str(text).unwrap_or_else(|_| value.clone()))
            }
            value if kind == "options" => Filled::Value(chosen(value)),
            value => Filled::Value(value.clone()),
        }
    }
}

/// True for `{type, value, …}` around a value; an object may be a value itself, and an uploaded file has a type too.
fn wraps(members: &Object, declared: &str) -> bool {
    let ours = |name: &Arc<str>| {
        matches!(
            &**name,
            "type" | "value" | "optional" | "name" | "key" | "options"
        )
    };
    let has_value = members.contains_key("value");
    let only_ours = members.keys().all(ours) && (has_value || members.contains_key("type"));
    only_ours || (has_value && !declared.eq_ignore_ascii_case("object"))
}

/// The plain value of a choice. Some clients send the whole option, with its label.
fn chosen(value: &Value) -> Value {
    match value {
        Value::Object(option) => option
            .get("value")
            .cloned()
            .unwrap_or_else(|| value.clone()),
        Value::Array(options) => options.iter().map(chosen).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}

/// The port with the files as they were uploaded: each field's descriptors, as a list.
fn uploaded(fields: &[(Arc<str>, Filled)]) -> Option<Object> {
    let of_field = |(key, filled): &(Arc<str>, Filled)| match filled {
        Filled::Files(files) => {
            let files = files.iter().filter(|file| file.as_object().is_some());
            let files: Vec<Value> = files.cloned().collect();
            (!files.is_empty()).then(|| (key.clone(), files.into()))
        }
        Filled::Value(_) => None,
    };
    let uploaded: Object = fields.iter().filter_map(of_field).collect();
    (!uploaded.is_empty()).then_some(uploaded)
}

/// Completes with these fields as ports, once their files are read.
pub(crate) fn fill(call: Call, mut ports: Ports, fields: Vec<(Arc<str>, Filled)>) -> Run {
    let waits = fields
        .iter()
        .any(|(_, filled)| matches!(filled, Filled::Files(_)));
    if !waits {
        for (key, filled) in fields {
            if let Filled::Value(value) = filled {
                ports.set(key, value);
            }
        }
        return Run::Done(Ok(completion(ports)));
    }
    Run::later(async move {
        if let Some(uploaded) = uploaded(&fields) {
            ports.set(FILES_PORT, uploaded);
        }
        for (key, filled) in fields {
            let value = match filled {
                Filled::Value(value) => value,
                Filled::Files(files) => read_files(&call, &key, files).await?,
            };
            ports.set(key, value);
        }
        Ok(completion(ports))
    })
}

fn completion(ports: Ports) -> Completion {
    Completion {
        ports,
        ..Completion::default()
    }
}

/// Reads files, in their order, to a list of texts and data URIs. What is text already stays.
async fn read_files(call: &Call, field: &str, files: Vec<Value>) -> Result<Value, Fault> {
    let node = call.node();
    let layout = node
        .draft
        .params
        .get("layout_recognize")
        .and_then(Value::as_str);
    let layout = layout.map(str::trim).filter(|layout| !layout.is_empty());
    let mut contents = Vec::with_capacity(files.len());
    for file in files {
        if let Value::String(_) = file {
            contents.push(file);
            continue;
        }
        let failed = |error: ToolError| {
            let name = &node.draft.name;
            let message = format!("\"{name}\" could not take in the field {field}: {error}.");
            Fault::new(error.code(), message)
        };
        let request = FileRequest {
            file: FileDescriptor::from_value(&file).map_err(failed)?,
            layout: layout.map(str::to_owned),
        };
        let content = call
            .run
            .services
            .world
            .files
            .read(request)
            .await
            .map_err(failed)?;
        contents.push(Value::from(content.rendered()));
    }
    Ok(contents.into())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::testing::object;

    fn filled(given: Json, kind: &str) -> Filled {
        Filled::of(&Value::from(given), Some(&object(json!({"type": kind}))))
    }

    fn value(given: Json, kind: &str) -> Json {
        match filled(given, kind) {
            Filled::Value(value) => value.to_json(),
            Filled::Files(files) => panic!("{files:?} are no value"),
        }
    }

    #[test]
    fn a_value_comes_bare_or_with_its_type() {
        assert_eq!(value(json!("v"), "line"), json!("v"));
        assert_eq!(value(json!({"value": "v"}), "line"), json!("v"));
        assert_eq!(value(json!({"type": "line", "value": 0}), "line"), json!(0));
        assert_eq!(value(json!({"type": "line"}), "line"), Json::Null);
        assert_eq!(
            value(json!({"a": 1}), "object"),
            json!({"a": 1}),
            "an object that wraps nothing is the value"
        );
        let circle = json!({"type": "circle", "r": 2});
        assert_eq!(value(circle.clone(), "object"), circle);
        let measure = json!({"value": 3, "unit": "m"});
        assert_eq!(value(measure.clone(), "object"), measure);
        assert_eq!(value(measure, "line"), json!(3));
    }

    #[test]
    fn types_are_not_enforced() {
        assert_eq!(value(json!("12"), "integer"), json!("12"));
        assert_eq!(value(json!("yes"), "boolean"), json!("yes"));
    }

    #[test]
    fn json_text_of_an_object_is_parsed() {
        assert_eq!(value(json!("{\"k\": [1]}"), "object"), json!({"k": [1]}));
        assert_eq!(
            value(json!({"type": "object", "value": "[1]"}), "line"),
            json!([1])
        );
        assert_eq!(value(json!("{nope"), "object"), json!("{nope"));
        assert_eq!(value(json!(""), "object"), json!(""));
    }

    #[test]
    fn a_choice_is_its_plain_value() {
        assert_eq!(value(json!("b"), "options"), json!("b"));
        assert_eq!(
            value(json!({"label": "B", "value": "b"}), "options"),
            json!("b")
        );
        let several = json!({"type": "options", "value": [{"label": "B", "value": "b"}, "c"]});
        assert_eq!(value(several, "options"), json!(["b", "c"]));
    }

    #[test]
    fn files_are_to_be_read_and_no_file_is_nothing() {
        let file = json!({"id": "f1", "name": "a.txt", "type": "txt"});
        let files = Filled::Files(vec![Value::from(file.clone())]);
        assert_eq!(filled(file.clone(), "file"), files);
        assert_eq!(
            filled(json!({"type": "file", "value": file.clone()}), "line"),
            files
        );
        assert_eq!(filled(json!([file]), "file"), files);
        assert_eq!(
            value(
                json!({"type": "file", "optional": true, "value": null}),
                "file"
            ),
            Json::Null
        );
        assert_eq!(value(json!(""), "file"), Json::Null);
    }
}
