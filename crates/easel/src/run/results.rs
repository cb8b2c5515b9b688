//! What a run of a graph comes to, as text.

use easel_runtime::graphs::kind::Kind;
use easel_runtime::{GraphFile, Object, Session, Value};

use super::document;

/// The results of the last run: of one that is text the text, of anything else JSON, of several an object by node; of a
/// pipeline what its last step handed on. `None` for any other canvas, which speaks by its messages, and for a run without a
/// result.
pub fn text(session: &Session) -> Option<String> {
    if session.workflow().is_pipeline() {
        return document::outcome(session);
    }
    let graph = session.workflow().graph()?;
    let shown: Object = session
        .results()
        .iter()
        .map(|(id, value)| (id.clone(), said(graph, id, value)))
        .collect();
    let value = match shown.len() {
        0 => return None,
        1 => shown.into_iter().map(|(_, value)| value).next()?,
        _ => Value::from(shown),
    };
    Some(match &value {
        Value::Null => return None,
        Value::String(text) => text.to_string(),
        other => format!("{:#}", other.to_json()),
    })
}

/// What a node says: of an output node with a template, the template's text without the values that came with it.
fn said(graph: &GraphFile, id: &str, value: &Value) -> Value {
    let mut nodes = graph.document().nodes.iter();
    let says =
        nodes.any(|node| **node.id == *id && *node.kind == Kind::Output && node.value.is_some());
    match value.get(id) {
        Some(text) if says => text.clone(),
        _ => value.clone(),
    }
}
