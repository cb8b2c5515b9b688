//! Agents to begin with.

use serde_json::json;

use super::envelope::{Reply, Value, ok};
use crate::auth::{Caller, Scope};
use crate::templates::templates;

/// `GET /agents/templates`
pub(super) async fn list(caller: Caller) -> Reply {
    caller.may(Scope::Read)?;
    let all: Vec<Value> = templates().iter().map(|template| json!(template)).collect();
    ok(all)
}
