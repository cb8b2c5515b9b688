//! The names that spans and attributes go by.

/// The version of the OpenTelemetry semantic conventions whose names for generative AI are used: the last one before they
/// moved to a repository of their own, which has changed some of them since.
pub const SEMANTIC_CONVENTIONS: &str = "1.41.0";

/// Where the schema of that version is.
pub(super) const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.41.0";

/// What an operation is.
pub(super) const OPERATION: &str = "gen_ai.operation.name";
/// The provider of a model.
pub(super) const PROVIDER: &str = "gen_ai.provider.name";
/// The model that was asked for.
pub(super) const REQUEST_MODEL: &str = "gen_ai.request.model";
/// How much randomness was asked for.
pub(super) const TEMPERATURE: &str = "gen_ai.request.temperature";
/// From which share of probability.
pub(super) const TOP_P: &str = "gen_ai.request.top_p";
/// The most tokens of an answer.
pub(super) const MAX_TOKENS: &str = "gen_ai.request.max_tokens";
/// Why an answer ended.
pub(super) const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
/// Tokens that went in.
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// Tokens that came out.
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
/// Tokens that were read from the provider's cache.
pub(super) const CACHED_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
/// The conversation.
pub(super) const CONVERSATION: &str = "gen_ai.conversation.id";
/// The workflow.
pub(super) const WORKFLOW: &str = "gen_ai.workflow.name";
/// An agent's name.
pub(super) const AGENT: &str = "gen_ai.agent.name";
/// A tool's name.
pub(super) const TOOL: &str = "gen_ai.tool.name";
/// The class of an error.
pub(super) const ERROR_TYPE: &str = "error.type";

/// Operations.
pub(super) const INVOKE_WORKFLOW: &str = "invoke_workflow";
pub(super) const INVOKE_AGENT: &str = "invoke_agent";
pub(super) const EXECUTE_TOOL: &str = "execute_tool";
pub(super) const CHAT: &str = "chat";

// What no convention names.
/// The run.
pub(super) const RUN: &str = "easel.run.id";
/// What started it.
pub(super) const TRIGGER: &str = "easel.run.trigger";
/// Where it stands at the end of the turn.
pub(super) const STATE: &str = "easel.run.state";
/// The version of the agent.
pub(super) const VERSION: &str = "easel.agent.version";
/// A node's id in the file.
pub(super) const NODE: &str = "easel.node.id";
/// A node's component.
pub(super) const COMPONENT: &str = "easel.node.component";
/// The passes around a node.
pub(super) const SCOPE: &str = "easel.node.scope";
/// How many attempts it took.
pub(super) const ATTEMPTS: &str = "easel.node.attempts";
/// The agents that led to a call of a tool.
pub(super) const PATH: &str = "easel.tool.path";
