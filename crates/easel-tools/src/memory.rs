//! Long-term memory of conversations.

use easel_core::Object;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::error::ToolError;

/// Keeps what was said and finds it again.
///
/// Whatever is kept is kept for one [`Whose`], and nobody else ever finds it.
pub trait MemoryStore: Send + Sync {
    /// Stores one exchange in each of the memories. The same exchange, by its key, is stored once.
    fn save(&self, request: MemorySave) -> BoxFuture<'_, Result<(), ToolError>>;

    /// The messages that fit a query, best first. No message is no error.
    fn search(&self, request: MemoryQuery) -> BoxFuture<'_, Result<Vec<Object>, ToolError>>;
}

/// Whose memory is meant: that of a user with an agent, within what an owner has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Whose {
    /// Who owns the run.
    pub owner: String,
    /// The agent that answers.
    pub agent_id: String,
    /// The user. Blank: nobody knows who it is, and only the conversation itself may remember.
    pub user_id: String,
    /// The conversation.
    pub session_id: String,
}

/// One exchange to be remembered (`spec/canvas-components §2.3`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemorySave {
    /// The memories it goes to.
    pub memory_ids: Vec<String>,
    /// Whose they are.
    pub whose: Whose,
    /// By what it is known again, the same for every attempt.
    pub key: String,
    /// The exchange.
    pub message: MemoryMessage,
}

/// What was said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryMessage {
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
    /// Whose they are.
    #[serde(default)]
    pub whose: Whose,
    /// What to look for.
    pub query: String,
    /// Messages returned at most.
    pub top_n: u32,
    /// Messages below this similarity (0 to 1) are left out.
    pub similarity_threshold: f64,
    /// Weight of matching words, 0 to 1; vectors weigh the rest.
    pub keywords_similarity_weight: f64,
}
