//! A conversation as clients read it: what was said, and its canvas with its state written into it.

use std::collections::HashMap;
use std::sync::Arc;

use easel_runtime::canvas::export::SessionState;
use easel_runtime::canvas::state::HistoryEntry;
use easel_runtime::core::workflow::NodeId;
use easel_runtime::{Conversation, Object, Said, Value as Content, Workflow};
use easel_store::SessionRecord;
use indexmap::IndexMap;
use serde_json::json;

use super::envelope::{Members, Problem, Value, put_times};
use super::kept::Kept;
use super::message_id;
use crate::host::Host;

/// What a row has beside the essential.
#[derive(Clone, Copy)]
pub(super) struct Detail {
    /// The canvas, with the state of the conversation.
    pub dsl: bool,
    /// In the canvas also what the nodes of the last run put out, which has to be read back from its journal.
    pub outputs: bool,
}

/// The row of a conversation.
pub(super) async fn row(
    host: &Host,
    session: &SessionRecord,
    detail: Detail,
) -> Result<Members, Problem> {
    let kept = host.store().conversation(&session.id).await?;
    let (conversation, said) = kept.unwrap_or_default();
    let references: Vec<Value> = references(&said).map(|found| found.to_json()).collect();
    let user = if session.user.is_empty() {
        &session.owner
    } else {
        &session.user
    };
    let row = json!({
        "id": session.id,
        "name": session.name,
        "agent_id": session.agent,
        "dialog_id": session.agent,
        "user_id": user,
        "exp_user_id": session.user,
        "message": messages(session, &said),
        "reference": references,
        "source": session.source,
        "version_title": session.version_title,
        "round": session.round,
        "errors": session.errors,
        "tokens": 0,
        "duration": 0,
        "thumb_up": 0,
    });
    let mut row = match row {
        Value::Object(row) => row,
        _ => Members::new(),
    };
    put_times(&mut row, session.created, session.updated);
    if detail.dsl {
        let dsl = dsl(host, session, conversation, &said, detail.outputs).await?;
        row.insert("dsl".to_owned(), dsl);
    }
    Ok(row)
}

/// What each answer can cite, one entry an answer; an answer without sources has an empty one.
fn references(said: &[Said]) -> impl Iterator<Item = Content> {
    let answers = said.iter().filter(|said| *said.entry.role != *"user");
    answers.map(|said| said.reference.clone().unwrap_or_else(Content::empty_object))
}

/// All that was said, what the agent says before anybody has asked first.
fn messages(session: &SessionRecord, said: &[Said]) -> Vec<Value> {
    let mut messages = Vec::with_capacity(said.len() + 1);
    if !session.prologue.is_empty() {
        messages.push(json!({"role": "assistant", "content": session.prologue}));
    }
    let mut turns: HashMap<&str, usize> = HashMap::new();
    for said in said {
        let is_user = *said.entry.role == *"user";
        let turn = turns.entry(&said.run).or_default();
        *turn += usize::from(is_user);
        let mut message = json!({
            "role": said.entry.role,
            "content": said.entry.text(),
            "id": message_id::of(&said.run, turn.saturating_sub(1)),
            "created_at": said.at.0 as f64 / 1000.0,
        });
        if !said.files.is_empty() {
            message["files"] = said
                .files
                .iter()
                .map(Content::to_json)
                .collect::<Vec<_>>()
                .into();
        }
        if let Some(reference) = &said.reference {
            message["reference"] = chunks(&reference.to_json()).into();
        }
        messages.push(message);
    }
    messages
}

/// The passages in a reference, each with the names that clients read whatever it was stored by.
fn chunks(reference: &Value) -> Vec<Value> {
    let chunks: Vec<(Option<&str>, &Value)> = match reference.get("chunks") {
        Some(Value::Object(chunks)) => chunks
            .iter()
            .map(|(id, chunk)| (Some(id.as_str()), chunk))
            .collect(),
        Some(Value::Array(chunks)) => chunks.iter().map(|chunk| (None, chunk)).collect(),
        _ => Vec::new(),
    };
    let normal = |(citation, chunk): (Option<&str>, &Value)| {
        let first = |names: [&str; 2]| {
            let found = names
                .iter()
                .find_map(|name| chunk.get(name).filter(|v| !v.is_null()));
            found.cloned().unwrap_or_default()
        };
        let mut normal = json!({
            "id": first(["chunk_id", "id"]),
            "content": first(["content_with_weight", "content"]),
            "document_id": first(["doc_id", "document_id"]),
            "document_name": first(["docnm_kwd", "document_name"]),
            "dataset_id": first(["kb_id", "dataset_id"]),
            "image_id": first(["image_id", "img_id"]),
            "positions": first(["positions", "position_int"]),
        });
        if let Some(citation) = citation {
            normal["citation_id"] = citation.into();
        }
        normal
    };
    chunks.into_iter().map(normal).collect()
}

/// The canvas that the conversation goes by, with its state in the form in which RAGFlow stores one.
async fn dsl(
    host: &Host,
    session: &SessionRecord,
    conversation: Conversation,
    said: &[Said],
    outputs: bool,
) -> Result<Value, Problem> {
    // One document that cannot be read must not hide all conversations.
    let Ok(workflow) = host.workflow(&session.document).await else {
        return Ok(Value::Null);
    };
    let Some(canvas) = workflow.canvas() else {
        return Ok(Value::Null);
    };
    let (path, outputs) = match (outputs, said.last()) {
        (true, Some(last)) => left_by(host, &last.run).await,
        _ => Default::default(),
    };
    let lines = said
        .iter()
        .map(|said| format!("{}: {}", said.entry.role, said.entry.text()));
    let lines: Vec<Content> = lines.map(Content::from).collect();
    let mut globals = canvas.fresh_globals();
    globals.extend(conversation.variables);
    globals.insert("sys.history".into(), lines.into());
    let history = said.iter().filter(|said| !said.entry.interim);
    let history = history.map(|said| HistoryEntry {
        role: said.entry.role.clone(),
        payload: said.entry.content.clone(),
    });
    let memory = conversation.memory.iter().filter_map(triple);
    let state = SessionState {
        globals: Some(globals),
        history: Some(history.collect()),
        path: Some(path),
        retrieval: Some(
            said.iter()
                .filter_map(|said| said.reference.clone())
                .collect(),
        ),
        memory: Some(memory.collect()),
        outputs,
    };
    let mut document = canvas.with_session(state).canvas().to_json();
    Kept::of(&session.document, &workflow).withhold(&mut document);
    Ok(document)
}

fn triple(entry: &Content) -> Option<[Content; 3]> {
    entry.as_array()?.get(..3)?.to_vec().try_into().ok()
}

/// The nodes of a run that put something out, in file order, and what. A run that cannot be read back left nothing.
async fn left_by(host: &Host, run: &str) -> (Vec<Arc<str>>, IndexMap<Arc<str>, Object>) {
    let Ok(Some((workflow, machine))) = host.state_at(run, None).await else {
        return Default::default();
    };
    let nodes = nodes(&workflow).filter_map(|(id, at)| {
        let ports = machine.ports(at).filter(|ports| !ports.is_empty())?;
        Some((id.clone(), ports.to_object()))
    });
    let outputs: IndexMap<_, _> = nodes.collect();
    (outputs.keys().cloned().collect(), outputs)
}

fn nodes(workflow: &Workflow) -> impl Iterator<Item = (&Arc<str>, NodeId)> {
    let nodes = workflow.compiled().nodes.iter().zip(0_u32..);
    nodes
        .filter(|(node, _)| !node.implicit)
        .map(|(node, at)| (&node.draft.id, NodeId(at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_have_one_set_of_names() {
        let stored = json!({"chunks": {"7": {"chunk_id": "c", "content_with_weight": "text", "docnm_kwd": "a.pdf"}}});
        let chunks = chunks(&stored);
        assert_eq!(chunks[0]["id"], "c");
        assert_eq!(chunks[0]["document_name"], "a.pdf");
        assert_eq!(chunks[0]["citation_id"], "7");
        assert_eq!(chunks[0]["image_id"], Value::Null);
        let listed = json!({"chunks": [{"id": "c"}]});
        assert!(super::chunks(&listed)[0].get("citation_id").is_none());
    }
}
