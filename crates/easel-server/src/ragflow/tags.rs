//! Words to find agents by.

use std::sync::Arc;

use axum::extract::State;
use easel_store::{AgentFilter, AgentPatch};
use serde_json::json;

use super::access::agent;
use super::envelope::{At, Body, MOST, Problem, Query, Reply, Value, ok};
use crate::App;
use crate::auth::{Caller, Scope};

/// How long all tags of an agent may be together.
const LONGEST: usize = 512;

/// `GET /agents/tags`: each tag with the number of agents that have it, the most frequent first.
pub(super) async fn counts(State(app): State<Arc<App>>, caller: Caller, query: Query) -> Reply {
    caller.may(Scope::Read)?;
    let filter = AgentFilter {
        visible_to: Some(caller.owner.to_string()),
        category: query.text("canvas_category").map(str::to_owned),
        ..AgentFilter::default()
    };
    let counts = app.host.store().agent_tags(&filter).await?;
    let counts = counts
        .iter()
        .map(|count| json!({"tag": count.tag, "count": count.agents}));
    ok(counts.collect::<Vec<_>>())
}

/// `PUT /agents/{id}/tags`
pub(super) async fn set(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    Body(body): Body,
) -> Reply {
    let agent = agent(&app, &caller, Scope::Write, &id).await?;
    let tags = given(body.get("tags"))?;
    let tags = tags.ok_or_else(|| Problem::argument("No tags in request."))?;
    let patch = AgentPatch {
        tags: Some(tags),
        ..AgentPatch::default()
    };
    app.host.store().update_agent(&agent.id, patch).await?;
    ok(true)
}

/// Tags as clients send them: a list, or one text with commas between. Each once.
pub(super) fn given(tags: Option<&Value>) -> Result<Option<Vec<Arc<str>>>, Problem> {
    let parts: Vec<&str> = match tags {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.split(',').collect(),
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        Some(_) => return Err(Problem::argument("`tags` must be a list of texts.")),
    };
    let mut tags: Vec<Arc<str>> = Vec::new();
    for part in parts {
        // A comma separates tags wherever they are kept as one text.
        let tag: Arc<str> = part.replace([',', '\0'], " ").trim().into();
        if !tag.is_empty() && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    if tags.len() > MOST as usize || joined(&tags).len() > LONGEST {
        return Err(Problem::argument(format!(
            "The tags are longer than {LONGEST} bytes together, or more than {MOST}."
        )));
    }
    Ok(Some(tags))
}

/// Tags as one text.
pub(super) fn joined(tags: &[Arc<str>]) -> String {
    tags.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_come_as_a_list_or_as_one_text() {
        let of = |tags: Value| given(Some(&tags)).unwrap().unwrap().join("|");
        assert_eq!(of(json!("a, b,,a")), "a|b");
        assert_eq!(of(json!(["x,y", " z "])), "x y|z");
        assert!(given(Some(&json!(7))).is_err());
        assert!(given(Some(&json!("x".repeat(600)))).is_err());
        assert_eq!(given(None).unwrap(), None);
    }
}
