//! Texts that stand for another type, read as it.
//!
//! A rendered template is text, and models quote numbers now and then. A text is read as the type its parameter
//! declares where that is beyond doubt; anything else stays as it is, for the schema to judge. So does `null`, but for an
//! argument that may be left out and cannot be null: models write it for what they do not want to set.

use easel_core::{Object, Value};
use serde_json::Value as Json;

/// The arguments, with texts read as the types that `schema` declares for them.
pub(super) fn read(schema: &Value, mut arguments: Object) -> Object {
    let properties = schema.get("properties");
    arguments.retain(|name, value| !(value.is_null() && is_unset_by_null(schema, name)));
    for (name, value) in &mut arguments {
        let declared = properties
            .and_then(|p| p.get(name))
            .and_then(|p| p.get("type"));
        if let (Some(Value::String(declared)), Value::String(text)) = (declared, &*value)
            && let Some(read) = read_as(declared, text.trim())
        {
            *value = read;
        }
    }
    arguments
}

/// Whether `null` can only mean that an argument is not set.
fn is_unset_by_null(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    let mut required = required.unwrap_or_default().iter();
    let declared = schema.get("properties").and_then(|p| p.get(name));
    let declared = declared.and_then(|p| p.get("type")).and_then(Value::as_str);
    declared.is_some_and(|declared| declared != "null")
        && !required.any(|wanted| wanted.as_str() == Some(name))
}

fn read_as(declared: &str, text: &str) -> Option<Value> {
    match declared {
        "integer" | "number" => {
            let number = serde_json::from_str::<Json>(text)
                .ok()
                .filter(Json::is_number)?;
            (declared == "number" || number.is_i64() || number.is_u64()).then(|| number.into())
        }
        "boolean" => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "y" | "t" | "1" => Some(true.into()),
            "false" | "no" | "off" | "n" | "f" | "0" => Some(false.into()),
            _ => None,
        },
        "array" => serde_json::from_str::<Json>(text)
            .ok()
            .filter(Json::is_array)
            .map(Value::from),
        "object" => serde_json::from_str::<Json>(text)
            .ok()
            .filter(Json::is_object)
            .map(Value::from),
        _ => None,
    }
}
