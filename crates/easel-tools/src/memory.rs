//! Long-term memory of conversations.

use easel_core::Object;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::error::ToolError;

/// Keeps what was said and finds it again.
pub trait MemoryStore: Send + Sync {
    /// Stores one exchange in each of the memories.
    fn save(&self, request: MemorySave) -> BoxFuture<'_, Result<(), ToolError>>;

    /// The messages that fit a query, best first. No message is no error.
    fn search(&self, request: MemoryQuery) -> BoxFuture<'_, Result<Vec<Object>, ToolError>>;
}

/// One exchange to be remembered (`spec/canvas-components §2.3`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemorySave {
    /// The memories it goes to.
    pub memory_ids: Vec<String>,
    /// The exchange.
    pub message: MemoryMessage,
}

/// What was said by whom.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryMessage {
    /// The user.
    pub user_id: String,
    /// The agent that answered.
    pub agent_id: String,
    /// The conversation.
    pub session_id: String,
    /// What the user said.
    pub user_input: String,
    /// What the agent answered.
    pub agent_response: String,
}

/// A search in memories (`spec/canvas-components §6.1`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryQuery {
    /// The memories to search.
    pub memory_ids: Vec<String>,
    /// Only what this user said, if given.
    #[serde(default)]
    pub user_id: Option<String>,
    /// What to look for.
    pub query: String,
    /// Messages returned at most.
    pub top_n: u32,
    /// Messages below this similarity (0 to 1) are left out.
    pub similarity_threshold: f64,
    /// Weight of matching words, 0 to 1; vectors weigh the rest.
    pub keywords_similarity_weight: f64,
}
