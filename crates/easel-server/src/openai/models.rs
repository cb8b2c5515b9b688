//! Agents as models.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use easel_store::{AgentFilter, AgentOrder, AgentRecord, Dialect, PageNumber, Store};
use serde_json::{Value, json};

use super::error::ApiError;
use crate::App;
use crate::auth::{Caller, Refused, Scope};

/// The most models that are listed.
const MOST: u32 = 1_000;

/// An agent in the version that the outside gets.
#[derive(Debug)]
pub(crate) struct Model {
    pub agent: AgentRecord,
    /// The id of the version; blank for a graph that was never released.
    pub version: Arc<str>,
    pub version_title: Arc<str>,
    /// The hash of the document.
    pub document: Arc<str>,
}

impl Model {
    /// The model of an agent: its released version, or the draft of a graph, which needs no release to be called.
    async fn of(agent: AgentRecord, store: &Store) -> Result<Option<Model>, ApiError> {
        Ok(match store.released_version(&agent.id).await? {
            Some(version) => Some(Model {
                agent,
                version: version.id,
                version_title: version.title,
                document: version.document,
            }),
            None if agent.dialect == Dialect::Graph => Some(Model::draft(agent)),
            None => None,
        })
    }

    /// The draft of an agent.
    pub fn draft(agent: AgentRecord) -> Model {
        Model {
            version: "".into(),
            version_title: "".into(),
            document: agent.document.clone(),
            agent,
        }
    }

    /// The model that a caller names: by the id of the agent, by the name of a graph, or by a title.
    pub async fn named(name: &str, caller: &Caller, store: &Store) -> Result<Model, ApiError> {
        let unknown = || ApiError::no_model(name);
        // No name has it, and not every database takes it.
        if name.contains('\0') {
            return Err(unknown());
        }
        let agent = match store.agent_for(&caller.owner, name).await? {
            Some(agent) => agent,
            None => titled(name, caller, store).await?.ok_or_else(unknown)?,
        };
        Model::of(agent, store).await?.ok_or_else(unknown)
    }

    fn json(agent: &AgentRecord) -> Value {
        json!({
            "id": &*agent.id,
            "object": "model",
            "created": agent.created / 1000,
            "owned_by": &*agent.owner,
            "name": &*agent.title,
            "description": &*agent.description,
        })
    }
}

/// The one agent with that name or title; two of the same title are none, as nobody could say which is meant.
async fn titled(
    name: &str,
    caller: &Caller,
    store: &Store,
) -> Result<Option<AgentRecord>, ApiError> {
    if name.is_empty() {
        return Ok(None);
    }
    let visible = AgentFilter {
        visible_to: Some(caller.owner.to_string()),
        ..AgentFilter::default()
    };
    let named = AgentFilter {
        name: Some(name.to_owned()),
        ..visible.clone()
    };
    let titled = AgentFilter {
        title: Some(name.to_owned()),
        ..visible
    };
    for filter in [named, titled] {
        let mut found = store.agents(&filter).await?.items;
        if found.len() == 1 {
            return Ok(found.pop());
        }
    }
    Ok(None)
}

/// Every agent that the caller may use as a model.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    caller: Result<Caller, Refused>,
) -> Result<Json<Value>, ApiError> {
    let caller = caller?;
    caller.may(Scope::Read)?;
    let filter = |released, dialect| AgentFilter {
        visible_to: Some(caller.owner.to_string()),
        released,
        dialect,
        order: AgentOrder::default(),
        page: PageNumber {
            page: 1,
            size: MOST,
        },
        ..AgentFilter::default()
    };
    let store = app.host.store();
    let mut agents = store.agents(&filter(true, None)).await?.items;
    let graphs = store.agents(&filter(false, Some(Dialect::Graph))).await?;
    for graph in graphs.items {
        if agents.iter().all(|agent| agent.id != graph.id) {
            agents.push(graph);
        }
    }
    let data: Vec<Value> = agents.iter().map(Model::json).collect();
    Ok(Json(json!({"object": "list", "data": data})))
}

/// One model.
pub(super) async fn retrieve(
    State(app): State<Arc<App>>,
    Path(model): Path<String>,
    caller: Result<Caller, Refused>,
) -> Result<Json<Value>, ApiError> {
    let caller = caller?;
    caller.may(Scope::Read)?;
    let model = Model::named(&model, &caller, app.host.store()).await?;
    Ok(Json(Model::json(&model.agent)))
}
