//! Texts that stand for another type, read as it.
//!
//! A rendered template is text, and models quote numbers now and then. A text is read as the type its parameter
//! declares where that is beyond doubt; anything else stays as it is, for the schema to judge.

use easel_core::{Object, Value};
use serde_json::Value as Json;

/// The arguments, with texts read as the types that `schema` declares for them.
pub(super) fn read(schema: &Value, mut arguments: Object) -> Object {
    let properties = schema.get("properties");
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
