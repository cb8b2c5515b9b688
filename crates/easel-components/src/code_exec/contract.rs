//! The one output that a code node declares, and whether a value fits its type.

use std::sync::Arc;

use easel_core::{Number, Value};

/// Ports that every code node has and none declares.
const RESERVED: [&str; 9] = [
    "content",
    "actual_type",
    "attachments",
    "raw_result",
    "_ERROR",
    "_ARTIFACTS",
    "_ATTACHMENT_CONTENT",
    "_created_time",
    "_elapsed_time",
];

/// What a script has to return.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Contract {
    /// A value of that type goes to that port.
    Output {
        /// The port.
        name: Arc<str>,
        /// The type as it is written; blank is any.
        kind: Arc<str>,
    },
    /// The declaration cannot be met: why, and what to do.
    Broken(String),
}

impl Contract {
    /// Any value, to the port `result`.
    pub(super) fn any() -> Contract {
        Contract::Output {
            name: "result".into(),
            kind: "Any".into(),
        }
    }

    /// Reads the declared outputs. Without any it is [`Contract::any`].
    pub(super) fn read(outputs: Option<&Value>) -> Contract {
        let Some(outputs) = outputs.and_then(Value::as_object).filter(|o| !o.is_empty()) else {
            return Contract::any();
        };
        let own: Vec<_> = outputs
            .iter()
            .filter(|(name, _)| !RESERVED.contains(&&***name))
            .collect();
        match own.as_slice() {
            [(name, _)] if name.trim().is_empty() || name.contains('.') => {
                Contract::Broken(format!(
                    "its output is called \"{name}\", and such a name cannot be referred to. Give it one without dots"
                ))
            }
            [(name, declared)] => {
                let kind = declared.get("type").and_then(Value::as_str);
                Contract::Output {
                    name: (*name).clone(),
                    kind: kind.unwrap_or_default().trim().into(),
                }
            }
            several => Contract::Broken(format!(
                "it declares {} outputs of its own. Declare exactly one; whatever the script returns goes there",
                several.len()
            )),
        }
    }

    /// The port that takes the value. Errors: the value does not fit.
    pub(super) fn check(&self, value: &Value) -> Result<Arc<str>, String> {
        match self {
            Contract::Broken(problem) => Err(problem.clone()),
            Contract::Output { name, kind } if fits(value, kind) => Ok(name.clone()),
            Contract::Output { name, kind } => Err(format!(
                "its output {name} is declared as {kind}, but the script returned {}. Return a {kind}, or declare the \
                 output as what is returned",
                name_of_type(value)
            )),
        }
    }
}

/// Whether a value is of a type as canvases write it, in any case. Nothing is converted.
fn fits(value: &Value, kind: &str) -> bool {
    let kind = kind.trim().to_lowercase();
    if let Some(of) = kind
        .strip_prefix("array<")
        .and_then(|rest| rest.strip_suffix('>'))
    {
        return value
            .as_array()
            .is_some_and(|items| items.iter().all(|item| fits(item, of)));
    }
    match (&*kind, value) {
        ("" | "any", _) => true,
        ("string", Value::String(_))
        | ("number", Value::Number(_))
        | ("boolean", Value::Bool(_))
        | ("object", Value::Object(_))
        | ("null", Value::Null)
        | ("array", Value::Array(_)) => true,
        ("integer", Value::Number(number)) => !matches!(number, Number::Float(_)),
        _ => false,
    }
}

/// The type of a value as canvases write it.
pub(super) fn name_of_type(value: &Value) -> String {
    match value {
        Value::Null => "Null".into(),
        Value::Bool(_) => "Boolean".into(),
        Value::Number(_) => "Number".into(),
        Value::String(_) => "String".into(),
        Value::Object(_) => "Object".into(),
        Value::Array(items) => {
            let mut kinds = items.iter().map(name_of_type);
            let first = kinds.next();
            match first.filter(|first| kinds.all(|kind| kind == *first)) {
                Some(kind) => format!("Array<{kind}>"),
                None => "Array<Any>".into(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(outputs: serde_json::Value, value: serde_json::Value) -> Result<String, String> {
        let contract = Contract::read(Some(&outputs.into()));
        contract.check(&value.into()).map(|name| name.to_string())
    }

    #[test]
    fn a_value_goes_to_the_declared_output_if_it_fits() {
        assert_eq!(
            check(json!({"total": {"type": "Number"}}), json!(3)),
            Ok("total".into())
        );
        assert_eq!(
            check(
                json!({"t": {"type": "array<String>"}, "content": {}}),
                json!(["a"])
            ),
            Ok("t".into())
        );
        assert_eq!(
            check(json!({"t": {"type": ""}}), json!(null)),
            Ok("t".into())
        );
        assert_eq!(check(json!({}), json!({"a": 1})), Ok("result".into()));
        let unfit = check(json!({"t": {"type": "Array<Number>"}}), json!([1, "a"])).unwrap_err();
        assert!(
            unfit.contains("declared as Array<Number>, but the script returned Array<Any>"),
            "{unfit}"
        );
        assert!(check(json!({"t": {"type": "Number"}}), json!(true)).is_err());
    }

    #[test]
    fn exactly_one_output_is_declared() {
        let two = check(json!({"a": {}, "b": {}}), json!(1)).unwrap_err();
        assert!(two.contains("2 outputs"), "{two}");
        assert!(
            check(json!({"a.b": {}}), json!(1))
                .unwrap_err()
                .contains("dots")
        );
        assert!(
            check(json!({"content": {}}), json!(1))
                .unwrap_err()
                .contains("0 outputs")
        );
    }

    #[test]
    fn types_are_named_as_canvases_do() {
        assert_eq!(name_of_type(&json!([1, 2.5]).into()), "Array<Number>");
        assert_eq!(name_of_type(&json!([]).into()), "Array<Any>");
        assert_eq!(
            name_of_type(&json!([["a"], ["b"]]).into()),
            "Array<Array<String>>"
        );
    }
}
