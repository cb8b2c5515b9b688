//! Files that tools made, as links.

use std::sync::Arc;

use easel_core::{Object, Value};
use easel_tools::code::Artifact;

/// A file as a link: its content stands in the address.
pub(crate) fn link(file: &Artifact) -> Value {
    let members = [
        ("name", Value::from(&*file.name)),
        (
            "url",
            Value::from(format!(
                "data:{};base64,{}",
                file.mime_type, file.content_b64
            )),
        ),
        ("mime_type", Value::from(&*file.mime_type)),
        ("size", Value::from(file.size)),
    ];
    Value::from(Object::from_iter(
        members.map(|(name, value)| (Arc::from(name), value)),
    ))
}
