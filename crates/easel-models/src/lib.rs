//! One door to language models.
//!
//! Everything above this crate speaks to a model through one trait, [`ChatModel`]: it takes a [`ChatRequest`] and
//! answers with a stream of [`ModelEvent`]s. A caller that wants the whole answer passes that stream to [`collect`].
//! **Dropping the stream cancels the request**; nothing goes on behind the caller's back.
//!
//! ```text
//! let mut events = model.chat(request);
//! while let Some(event) = events.next().await {
//!     match event? {
//!         ModelEvent::Text(delta) => show(delta),
//!         other => reply.push(other),
//!     }
//! }
//! ```
//!
//! A [`Registry`] finds the model that an id in a workflow means, as [`config`] says. Providers are spoken to over HTTP
//! (feature `http`). A [`Scripted`] model answers by rules and is always there; it is how workflows are tested.

mod chat;
pub mod config;
mod error;
#[cfg(feature = "http")]
mod http;
mod registry;
mod reply;
pub mod scripted;
pub mod tokens;

pub use chat::{
    Caller, ChatModel, ChatRequest, ChatStream, Content, Credential, ImageUrl, Message, ModelInfo,
    Part, ResponseFormat, Role, Sampling, Thinking, ToolCall, ToolSpec,
};
pub use error::{ModelError, Stage};
#[cfg(feature = "http")]
pub use http::HttpModel;
#[cfg(all(fuzzing, feature = "http"))]
#[doc(hidden)]
pub use http::fuzzing;
pub use registry::{ConfigError, Registry};
pub use reply::{ChatReply, Collector, FinishReason, ModelEvent, ToolCallDelta, Usage, collect};
pub use scripted::Scripted;
